"""Dates in a scenario: windows of maintenance, the jobs that take part, and the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.events import JobsChanged, LogReplayed, MaintenancePlanned, RunStarted, ScenarioStarted
from sims.cli import main
from sims.errors import InputError
from sims.scenario.loader import as_set, read
from sims.session import run
from tests.sims.oneworld import Table, records_of

HEAD = "JobID|Submit|Eligible|Start|End|ElapsedRaw|AllocCPUS|State|TimelimitRaw\n"
LINES = (
    "1|2024-10-22T07:00:00|2024-10-22T07:00:00|2024-10-22T07:00:00|2024-10-22T07:30:00|1800|2",
    "2|2024-10-22T07:10:00|2024-10-22T07:10:00|2024-10-22T07:30:00|2024-10-22T08:30:00|3600|4",
)
BEGINS = 1_729_573_200
"""07:00 in Paris on that day, 05:00 in Universal Time."""
MORNING: Table = {"from": "2024-10-22 08:00", "to": "2024-10-22 09:00", "units": "0-1"}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.txt"
    path.write_text(HEAD + "".join(f"{line}|COMPLETED|60\n" for line in LINES))
    return path


def table(dump: Path, windows: list[Table], **job: Any) -> Table:
    file = {"file": str(dump), "timezone": "Europe/Paris"}
    return {
        "name": "dates",
        "platform": {"workers": 4, "maintenance": windows},
        "policy": {"name": "EASY"},
        "job": {"kind": "rigid", "sacct": file} | job,
    }


def window(scenario: Table) -> tuple[float, float | None]:
    """The one window of maintenance, as the log has it."""
    planned = [it.event for it in records_of(scenario) if isinstance(it.event, MaintenancePlanned)]
    return planned[0].start, planned[0].end


def test_a_window_of_maintenance_has_dates_in_the_logs_time_zone(dump: Path) -> None:
    records = records_of(table(dump, [MORNING]))
    assert [it.event for it in records if isinstance(it.event, LogReplayed)] == [
        LogReplayed(BEGINS, "Europe/Paris")
    ]
    assert window(table(dump, [MORNING])) == (3600, 7200)
    starts = {it.event.job: it.t for it in records if isinstance(it.event, RunStarted)}
    assert starts == {"J1": 0, "J2": 7200}  # J2 would not end before 08:00


@pytest.mark.parametrize(
    ("start", "to", "expected"),
    [
        ("2024-10-22T06:00:00+00:00", "2024-10-22T07:00Z", (3600, 7200)),
        ("2024-10-22 01:00", "2024-10-22 08:00", (0, 3600)),
        ("2024-10-22 08:00", 7200, (3600, 7200)),
        ("1 h", "2024-10-22 09:00", (3600, 7200)),
        # Clocks were set back on the 27th: five days and 24 hours of them, and one hour.
        ("2024-10-27 07:00", "2024-10-27 08:00", (5 * 86_400 + 3600, 5 * 86_400 + 7200)),
    ],
)
def test_dates_may_name_a_zone_stand_beside_times_and_begin_before_the_run(
    dump: Path, start: Any, to: Any, expected: tuple[float, float]
) -> None:
    times: list[str] = []
    scenario = table(dump, [{"from": start, "to": to, "units": "0-1"}])
    assert window(scenario) == expected, times


@pytest.mark.parametrize(
    ("start", "to", "problem"),
    [
        ("2024-10-22 09:00", "2024-10-22 08:00", "is not after"),
        ("2025-03-30 02:30", "2025-03-30 03:30", "'2025-03-30 02:30' does not exist in Europe"),
        ("2024-10-21 08:00", "2024-10-21 09:00", "is over"),
        ("2024-10-22 25:00", "2024-10-23 09:00", "a date such as"),
        ("Tuesday", "2024-10-23 09:00", "a date such as"),
    ],
)
def test_dates_out_of_order_or_that_are_none_are_refused(
    dump: Path, start: str, to: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as refused:
        records_of(table(dump, [{"from": start, "to": to, "units": "0"}]))
    assert refused.value.key.startswith("platform.maintenance")


def test_the_jobs_of_a_window_of_dates_take_part_and_the_run_begins_at_its_start(
    dump: Path,
) -> None:
    select = {"window": ["2024-10-22 07:05", "2024-10-22 08:00"]}
    records = records_of(table(dump, [MORNING], select=select))
    begun = [it.event for it in records if isinstance(it.event, LogReplayed)]
    assert begun == [LogReplayed(BEGINS + 300, "Europe/Paris")]
    assert [it.event.job for it in records if isinstance(it.event, RunStarted)] == ["J2"]
    assert window(table(dump, [MORNING], select=select)) == (3300, 6900)


@pytest.mark.parametrize(
    "job",
    [
        {"resample": {"blocks": 1, "length": 60}},
        {"scale": {"factor": 2}},
        {"sacct": None, "lublin": {"jobs": 5}},
        {"sacct": None, "jobs": [{"processors": 1, "time": 1}]},
    ],
)
def test_dates_are_refused_where_the_jobs_have_none(dump: Path, job: Table) -> None:
    scenario = table(dump, [MORNING], **job)
    scenario["job"] = {key: it for key, it in scenario["job"].items() if it is not None}
    with pytest.raises(InputError, match="a date, and"):
        records_of(scenario)


def test_a_log_in_the_standard_format_names_its_zone_in_its_head(tmp_path: Path) -> None:
    line = "1 0 0 100 1 -1 -1 1 200 -1 1 1 1 -1 1 1 -1 -1\n"
    swf = tmp_path / "log.swf"
    for zone, start in (("Europe/Paris", 3600), ("UTC", 3600 + 7200), ("Here", 3600 + 7200)):
        swf.write_text(f"; UnixStartTime: {BEGINS}\n; TimeZoneString: {zone}\n{line}")
        scenario = table(swf, [MORNING])
        scenario["job"] = {"kind": "rigid", "swf": {"file": str(swf)}}
        assert window(scenario)[0] == start
        changes = [it.event.how for it in records_of(scenario) if isinstance(it.event, JobsChanged)]
        unknown = "the log's time zone 'Here' is no IANA name: its dates count as UTC"
        assert changes == ([unknown] if zone == "Here" else [])


def test_until_may_be_a_date(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, log = tmp_path / "dates.toml", tmp_path / "log.jsonl"
    path.write_text(as_set(read(table(dump, []), "any", tmp_path)))
    command = ["run", str(path), "--log", str(log)]
    for date in ("2024-10-22 07:20", "2024-10-22T05:20:00Z", "20 min"):
        log.unlink(missing_ok=True)
        assert main([*command, "--until", date]) == 0
        first = next(iter(records_from(log)))
        assert isinstance(first, ScenarioStarted)
        assert first.until == 1200
    assert main([*command, "--until", "2024-10-22 06:00"]) == 2
    told = capsys.readouterr().err
    assert "is before the run begins" in told
    assert "2024-10-22 07:00:00+02:00 or later" in told


def test_the_log_is_found_beside_the_scenario_wherever_the_command_is_given(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = table(dump, [MORNING])
    scenario["job"]["sacct"]["file"] = dump.name
    path = tmp_path / "dates.toml"
    path.write_text(as_set(read(scenario, "any", tmp_path)))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert main(["run", str(path), "--log", "none"]) == 0
    assert main(["check", str(path)]) == 0


def records_from(log: Path) -> list[Any]:
    from sims.log import LogFile

    return [it.event for it in LogFile(log)]


@pytest.mark.parametrize(
    "at", ["2024-10-22 07:20", "2024-10-22T05:20Z", "2024-10-22 07:20+02:00", "1200"]
)
def test_queue_reads_dates_in_the_logs_time_zone(
    dump: Path, tmp_path: Path, at: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A date without a zone is in that of the jobs' log, as in a scenario; moments are printed in
    Universal Time."""
    log = tmp_path / "log.jsonl"
    run(table(dump, []), log=log)
    assert main(["queue", str(log), "--at", at]) == 0
    assert "at 2024-10-22 05:20:00, UTC" in capsys.readouterr().out


def test_a_log_of_an_unknown_time_zone_is_refused(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    run(table(dump, []), log=log)
    log.write_text(log.read_text().replace("Europe/Paris", "Europe/Nowhere"))
    assert main(["queue", str(log), "--at", "2024-10-22 07:20"]) != 0
    assert "is no time zone" in capsys.readouterr().err
