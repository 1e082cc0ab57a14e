"""A run as an object: its numbers are the commands' own, from memory as from a log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.events import RunStarted
from actors.intervals import count_in
from sims.audit.audit import audit
from sims.errors import InputError
from sims.examples import example
from sims.exports.tables import ROWS, columns_of
from sims.log import LogFile
from sims.metrics.report import Report
from sims.plots.pictures import Picture
from sims.result import Result
from sims.session import run
from tests.sims.cli.commands import Shell

pl = pytest.importorskip("polars", reason="the extra `results` is not installed")


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """With a log."""
    return run(example("volatile20"), log=tmp_path_factory.mktemp("logs") / "run.jsonl.gz")


@pytest.fixture(scope="module")
def kept() -> Result:
    """In memory."""
    return run(example("volatile20"))


def test_numbers_are_those_of_the_command(shell: Shell, logged: Result, kept: Result) -> None:
    assert logged.log is not None
    told = shell("summary", logged.log, "--json").json()
    assert json.loads(json.dumps(logged.numbers)) == told
    assert json.loads(json.dumps(kept.numbers)) == told
    assert kept.ledger == told["ledger"]
    assert (kept.makespan, kept.unit) == (told["makespan"], "slot")
    assert Result.of_log(logged.log).numbers == kept.numbers


def test_a_number_is_found_by_its_name(kept: Result) -> None:
    assert kept["makespan"] == kept.makespan
    assert kept["ledger"] == kept.ledger
    with pytest.raises(KeyError, match=r"'makespam' is none; accepted: .*makespan"):
        _ = kept["makespam"]


def test_dir_of_a_result_shows_what_is_for_users(kept: Result) -> None:
    assert {"makespan", "jobs", "plot", "trace"} < set(dir(kept))
    assert not [name for name in dir(kept) if name.startswith("_")]


def test_a_run_that_keeps_nothing_has_its_numbers_all_the_same(kept: Result) -> None:
    bare = run(example("volatile20"), keep=False)
    assert bare.numbers == kept.numbers
    with pytest.raises(InputError, match="kept no events"):
        _ = bare.jobs


def test_the_ledger_sums_to_the_platforms_time(kept: Result) -> None:
    assert sum(kept.ledger.values()) == pytest.approx(20 * (kept.makespan or 0))


def test_frames_of_polars_and_pandas_hold_the_same() -> None:
    pd = pytest.importorskip("pandas")  # here, as each process that collects tests would import it
    result = run(example("batch-faults"))
    jobs, theirs = result.jobs, result.rows("jobs", "pandas")
    assert isinstance(jobs, pl.DataFrame)
    assert isinstance(theirs, pd.DataFrame)
    assert list(theirs.columns) == jobs.columns
    assert theirs["runs"].dtype == "Int64"
    for name in jobs.columns:
        mine = [None if value is pd.NA else value for value in theirs[name].tolist()]
        assert mine == jobs[name].to_list()
    assert len(result.events) == len(result.rows("events", "pandas")) == result.summary.events


def test_jobs_tell_all_that_is_known() -> None:
    result = run(example("batch-easy"))
    jobs = result.jobs
    assert {"processors", "estimate", "waited", "runs", "stretch", "kind", "work"} <= set(
        jobs.columns
    )
    # Rigid jobs without failures: each has one run, which does all its work.
    events = [record.event for record in result.records()]
    own = {it.job: it.work for it in events if isinstance(it, RunStarted)}
    for row in jobs.iter_rows(named=True):
        assert row["work"] == pytest.approx(row["processors"] * own[row["job"]])
        assert row["stretch"] == pytest.approx(row["flowtime"] / own[row["job"]])
    stretch = result.report.spreads["stretch"]
    assert stretch is not None
    assert jobs["stretch"].mean() == pytest.approx(stretch["mean"])


@pytest.mark.parametrize("name", ["batch-faults", "malleable10", "volatile20"])
def test_a_trace_from_memory_is_the_one_from_a_log(name: str, tmp_path: Path) -> None:
    kept, logged = run(example(name)), run(example(name), log=tmp_path / "run.jsonl")
    for job in list(kept.summary.submitted)[:4]:
        assert str(kept.trace(job)) == str(logged.trace(job))


def test_a_trace_names_jobs_to_who_asks_for_another(kept: Result) -> None:
    with pytest.raises(InputError, match=r"there is no job 'nobody'.*application"):
        kept.trace("nobody")


def test_pictures_are_drawn_to_files_or_to_be_shown(kept: Result, tmp_path: Path) -> None:
    picture = kept.plot("ledger")
    assert isinstance(picture, Picture)
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert repr(picture) == f"Picture(png=<{len(picture.png):,} bytes>)"
    path = kept.plot("queue", tmp_path / "queue.svg")
    assert (tmp_path / "queue.svg") == path
    assert path.read_text().startswith("<?xml")
    with pytest.raises(InputError, match="'pie' is none; accepted: gantt, jobs"):
        kept.plot("pie")


def test_the_audit_is_the_commands(kept: Result) -> None:
    assert kept.audit() == list(audit(iter(kept.records()))) == []


def test_a_notebook_is_shown_a_picture_and_the_numbers(kept: Result) -> None:
    shown = kept._repr_html_()
    assert 'src="data:image/png;base64,' in shown
    for word in (
        "volatile20, seed 1, Y-IE",
        "makespan",
        f"{kept.makespan:,.0f} slots",
        "reclaimed",
    ):
        assert word in shown


def test_a_notebook_shows_a_scenarios_name_as_text_and_no_formula() -> None:
    job = {"kind": "rigid", "jobs": [{"processors": 1, "time": 5}]}
    result = run({"name": "<b>$$x$$", "platform": {"workers": 1}, "job": job}, keep=True)
    shown = result._repr_html_()
    assert "&lt;b&gt;$$x$$" in shown
    # Notebooks leave formulas alone in elements of these classes (MathJax 3 and 2).
    assert shown.startswith('<div class="mathjax_ignore tex2jax_ignore">')


def test_a_result_prints_as_the_command_does(shell: Shell, kept: Result) -> None:
    said = shell("run", example("volatile20"), "--log", "none")
    assert said.out.startswith(repr(kept))


def test_what_is_no_log_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "no.jsonl"
    path.write_text("{}")
    with pytest.raises(InputError, match=r"no\.jsonl"):
        Result.of_log(path)
    assert Report().summary.events == 0
    assert LogFile(path).read == 0


def test_a_runs_facts_are_frames_with_the_columns_that_are_documented() -> None:
    result = run(example("volatile20"), {"job.iterations": 2})
    for what in ROWS:
        assert dict(result.rows(what).schema) == dict(pl.Schema(columns_of(what)))
    spans, transfers = result.rows("spans"), result.rows("transfers")
    useful = spans.filter(pl.col("use") == "useful")
    counts = [count_in(it) for it in useful["processors"]]
    spent = (useful["end"] - useful["start"]) * pl.Series(counts)
    assert spent.sum() == pytest.approx(result.ledger["useful"])
    assert transfers["how"].is_in(["ended", "suspended", "dropped"]).all()
