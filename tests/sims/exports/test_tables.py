from __future__ import annotations

from pathlib import Path

import attrs
import orjson
import pytest

from actors.events import JobCompleted, JobSubmitted, Outcome, RunEnded, ScenarioStarted
from actors.runtime import Record
from sims.cli import main
from sims.errors import InputError
from sims.exports import tables
from sims.exports.tables import Frame, write_all, write_rows
from sims.history.summary import Summary
from sims.result import Result
from sims.scenario.loader import read as scenario_of
from sims.world import run
from tests.parts import parted
from tests.sims.cli.commands import without
from tests.sims.kinds import EVERY, records_of, written

pl = pytest.importorskip("polars", reason="the extra `results` is not installed")

every_kind = pytest.mark.parametrize("name", EVERY)


def read(path: Path) -> pl.DataFrame:
    """A table back."""
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)


@every_kind
def test_the_table_of_events_has_all_that_the_log_has(name: str, tmp_path: Path) -> None:
    records = records_of(name)
    assert write_rows(records, tmp_path / "events.parquet", Frame.EVENTS) == len(records)
    table = read(tmp_path / "events.parquet")
    assert table["seq"].to_list() == list(range(len(records)))
    assert table["t"].to_list() == [record.t for record in records]
    assert table["cause"].to_list() == [record.cause for record in records]
    assert table["event"].to_list() == [type(record.event).__name__ for record in records]
    for text, line in zip(
        table["fields"], written(name, tmp_path).read_bytes().splitlines(), strict=True
    ):
        log = orjson.loads(line)
        shared = {key: log.pop(key, None) for key in ("seq", "t", "cause", "event")}
        assert shared
        assert orjson.loads(text) == log


@every_kind
def test_the_table_of_jobs_agrees_with_the_summary(name: str, tmp_path: Path) -> None:
    records, summary = records_of(name), Summary()
    for record in records:
        summary(record)
    write_rows(records, tmp_path / "jobs.parquet", Frame.JOBS)
    table = read(tmp_path / "jobs.parquet").sort("submitted")
    assert sorted(table["flowtime"].to_list()) == pytest.approx(sorted(summary.flowtimes))
    assert table["completed"].all()
    assert table["ended"].max() == pytest.approx(summary.makespan)
    for outcome in Outcome:
        assert table[f"runs_{outcome.value}"].sum() == summary.outcomes[outcome]
    assert (table["waited"] >= 0).all()


def test_csv_and_parquet_hold_the_same(tmp_path: Path) -> None:
    for suffix in (".csv", ".parquet"):
        write_rows(records_of("attempts"), tmp_path / f"jobs{suffix}", Frame.JOBS)
    # A column without a value has no type in CSV but the one that it is read as.
    plain = pl.read_csv(tmp_path / "jobs.csv", schema=pl.Schema(tables.JOBS))
    assert plain.equals(read(tmp_path / "jobs.parquet"))


def test_rows_are_written_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH", 100)
    records = records_of("volatile20")
    write_rows(records, tmp_path / "events.csv", Frame.EVENTS)
    assert len(read(tmp_path / "events.csv")) == len(records)


def test_jobs_that_a_cut_log_leaves_open_have_no_end(tmp_path: Path) -> None:
    records = records_of("batch-easy")
    cut = next(k for k, record in enumerate(records) if isinstance(record.event, JobCompleted))
    write_rows(records[: cut + 1], tmp_path / "jobs.csv", Frame.JOBS)
    table = read(tmp_path / "jobs.csv")
    assert table["completed"].sum() == 1
    assert table["ended"].null_count() == len(table) - 1
    assert table["flowtime"].null_count() == len(table) - 1


def test_copies_that_end_after_their_job_count_as_its_runs(tmp_path: Path) -> None:
    records = records_of("redundant")
    first = next(it.event.job for it in records if isinstance(it.event, JobSubmitted))
    ended = sum(isinstance(it.event, RunEnded) and it.event.job == first for it in parted(records))
    write_rows(records, tmp_path / "jobs.parquet", Frame.JOBS)
    table = read(tmp_path / "jobs.parquet")
    assert table.filter(pl.col("job") == first)["runs"].to_list() == [ended]


@pytest.mark.parametrize(
    ("target", "suffix"),
    [
        *(("chrome", ".json"), ("batsim", ".csv"), ("events", ".csv"), ("events", ".parquet")),
        *(("jobs", ".csv"), ("jobs", ".parquet")),
    ],
)
def test_the_command_exports_packed_logs_too_and_replaces_what_was_there(
    target: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, found = tmp_path / "new", set[bytes]()
    for packed in ("", ".gz", ".zst"):
        log, path = written("iterative", tmp_path, f".jsonl{packed}"), folder / f"out{suffix}"
        assert main(["export", str(log), "--to", target, "-o", str(path)]) == 0
        assert str(path) in capsys.readouterr().out
        found.add(path.read_bytes())
        path.write_bytes(b"older")
    assert len(found) == 1
    assert b"older" not in found and b"" not in found
    assert list(folder.iterdir()) == [path]


def test_a_suffix_that_a_format_does_not_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, path = written("iterative", tmp_path), tmp_path / "out.csv"
    assert main(["export", str(log), "--to", "chrome", "-o", str(path)]) == 2
    assert "'.csv' is not written for chrome; accepted: .json" in capsys.readouterr().err
    assert not path.exists()


def test_without_polars_the_pip_command_is_named(tmp_path: Path) -> None:
    log = written("iterative", tmp_path)
    assert "pip install 'holdfast[results]'" in without(
        "polars", "export", log, "--to", "jobs", "-o", "jobs.csv"
    )


def test_an_empty_log_is_an_empty_table(tmp_path: Path) -> None:
    started = records_of("iterative")[0]
    assert isinstance(started.event, ScenarioStarted)
    assert write_rows([Record(0, 0, None, started.event)], tmp_path / "jobs.csv", Frame.JOBS) == 0
    assert list(read(tmp_path / "jobs.csv").columns) == list(tables.JOBS)


def test_the_table_of_jobs_shows_whose_they_are_and_what_they_waited(tmp_path: Path) -> None:
    records: list[Record] = []
    job = {"processors": 2, "time": 5, "user": "ann", "queue": "day", "priority": 2.5}
    scenario = {
        "name": "owned",
        "platform": {"workers": 2},
        "job": {"kind": "rigid", "jobs": [job, {"processors": 1, "time": 2}]},
        "policy": {"name": "R-LIST-0", "order": "FCFS"},
        "measures": {"bound": 4},
    }
    run(scenario_of(scenario, "test"), [records.append])
    write_rows(records, tmp_path / "jobs.parquet", Frame.JOBS)
    first, second = read(tmp_path / "jobs.parquet").sort("started").to_dicts()
    assert [first[it] for it in ("user", "group", "queue", "priority")] == ["ann", None, "day", 2.5]
    assert (first["bounded_slowdown"], second["user"]) == (1, None)
    assert (second["waited"], second["stretch"]) == (5, 7 / 2)
    assert second["bounded_slowdown"] == 7 / 4


def test_rows_are_a_folder_with_a_file_for_each_table_that_is_not_empty(tmp_path: Path) -> None:
    records = records_of("volatile20")
    written = write_all(records, tmp_path / "rows")
    files = {it.stem: pl.read_parquet(it) for it in (tmp_path / "rows").iterdir()}
    assert files.keys() == {
        *("jobs", "runs", "spans", "states", "transfers", "iterations", "queue")
    }
    assert sum(map(len, files.values())) == written
    assert set(files["states"]["state"]) <= {"reclaimed", "down"}


def test_rows_are_not_written_where_a_file_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("mine")
    with pytest.raises(InputError, match="cannot be written"):
        write_all(records_of("attempts"), tmp_path / "rows")
    assert (tmp_path / "rows").read_text() == "mine"


@every_kind
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_the_events_of_one_class_are_a_frame_with_their_fields_as_columns(
    name: str, library: str
) -> None:
    result = Result(lambda: iter(records_of(name)))
    for kind in {type(it.event) for it in records_of(name)}:
        table = result.rows(kind.__name__, library)
        mine = [it for it in records_of(name) if type(it.event) is kind]
        assert list(table["seq"]) == [it.seq for it in mine]
        assert list(table.columns)[:3] == ["seq", "t", "cause"]
        for field in attrs.fields_dict(kind):
            first = getattr(mine[0].event, field)
            if isinstance(first, int | float):
                assert table[field][0] == first
            elif isinstance(first, tuple):
                assert len(table[field][0]) == len(first)
