"""Inputs rebuilt from public reports give the answers that stand beside them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.events import JobCompleted, JobsLeftOut, LogReplayed
from actors.runtime import Record
from sims.cli import main
from sims.errors import InputError
from sims.readers import JobLog, LoggedJob
from sims.readers.failures import read_failures
from sims.readers.job_logs import read_swf
from sims.readers.plausibility import doubts
from sims.readers.traces import read_fta_events, read_intervals, read_simgrid_profile
from sims.scenario.loader import load
from sims.world import run
from tests.sims.kinds import DATA

REPORTS = DATA / "reports"


def of_report(name: str, *overrides: str) -> list[Record]:
    """The run of a report's scenario."""
    records: list[Record] = []
    run(load(REPORTS / f"{name}.toml", overrides), [records.append], REPORTS)
    return records


@pytest.mark.parametrize(
    ("name", "makespan"),
    [("swf-dag", 4200), ("swf-think", 250), ("swf-epoch", 116_977), ("swf-mid", 150)],
)
def test_a_log_counts_its_times_from_the_first_submission(name: str, makespan: float) -> None:
    """swf-mid: jobs of 4, 6 and 6 processors of 8 follow each other, 50 s each, from 0 on, and one
    of 4 is submitted at 100."""
    ends = [it.t for it in of_report(name) if isinstance(it.event, JobCompleted)]
    assert max(ends) == makespan


def test_times_since_1970_are_dates() -> None:
    [began] = [it.event for it in of_report("swf-epoch") if isinstance(it.event, LogReplayed)]
    assert began.begins == 1_356_996_147


def test_a_logs_own_zero_is_kept_where_it_is_asked_for() -> None:
    records = of_report("swf-dag", "job.swf.origin=log")
    assert max(it.t for it in records if isinstance(it.event, JobCompleted)) == 4220


def test_a_job_wider_than_the_machine_that_is_named_below_the_first_job_is_left_out() -> None:
    [left] = [it.event for it in of_report("swf-mid") if isinstance(it.event, JobsLeftOut)]
    assert left == JobsLeftOut("needs more than the platform's 8 workers", 1)


def test_a_trace_may_have_a_header_without_a_mark() -> None:
    events = read_fta_events(REPORTS / "lanl-header.tab")
    assert [(it.start, it.available) for it in events] == [
        (1010224800, False),
        (1010239200, True),
    ]


def test_a_node_may_have_no_name_between_two_tabs() -> None:
    [event] = read_fta_events(REPORTS / "lanl-noname.tab")
    assert (event.node.node, event.start, event.stop) == (1, 1010224800, 1010239200)
    assert read_failures(REPORTS / "lanl-noname.tab", 20, None).failures == 1


def test_a_line_of_a_trace_that_cannot_be_read_is_left_out_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "trace.tab"
    lines = [f"{k} 0 1 20 n1 0 {1000 + 10 * k} {1005 + 10 * k} x" for k in range(12)]
    path.write_text("\n".join((*lines, "torn")))
    with pytest.warns(UserWarning, match="1 line left out: cannot be read .first: line 13."):
        assert len(read_fta_events(path)) == 12
    path.write_text("\n".join((*lines, "torn", "torn")))
    with pytest.raises(InputError, match=r"line 13: 1 column .2 of 14 lines"):
        read_fta_events(path)


LANL = {
    "its own": (
        "System,machine type,nodes,nodenum,nodenumz,purpose,Prob Started (mm/dd/yy hh:mm),"
        "Prob Fixed (mm/dd/yy hh:mm),Down Time,Facilities,Hardware,Same Event",
        '2,cluster,49,5,4,"graphics, fe",6/21/2005 10:54,6/21/2005 11:00,6,,Board,No',
    ),
    "cleaned": (
        "system,node,started,fixed,down_minutes,cause,detail,same_event",
        "2,4,2005-06-21T10:54,2005-06-21T11:00,6,Hardware,Board,No",
    ),
}


@pytest.mark.parametrize("form", LANL)
def test_los_alamos_own_csv_is_read_as_failures(form: str, tmp_path: Path) -> None:
    """10:54 on June 21, 2005 is 1,119,351,240 s after 1970 began."""
    path = tmp_path / "failures.csv"
    path.write_text("\n".join(LANL[form]))
    [event] = read_fta_events(path)
    assert (event.node.platform, event.node.node, event.available) == (2, 4, False)
    assert (event.start, event.stop) == (1_119_351_240, 1_119_351_600)


# --- what is not plausible ------------------------------------------------------------------------


def rows_of(*jobs: tuple[float, float, int, float, float]) -> NDArray[np.void]:
    """Jobs as (submission, time, processors, request, wait)."""
    return JobLog.of(
        LoggedJob(f"J{k}", at, time, size, asked, wait=wait)
        for k, (at, time, size, asked, wait) in enumerate(jobs)
    ).rows


def test_runs_beyond_their_requests_are_a_sign_of_another_unit_where_they_are_many() -> None:
    short, long = (0, 50, 1, 60, 0), (0, 200, 1, 60, 0)
    assert list(doubts(rows_of(*[short] * 99, (0, 100, 1, 60, 0)), 999)) == []
    assert list(doubts(rows_of(*[short] * 99, long), 999)) == [
        "1 of 100 jobs ran longer than the time that they requested"
    ]
    assert list(doubts(rows_of(*[short] * 9, long), 999)) == [
        "1 of 10 jobs ran longer than the time that they requested: a sign of requests in minutes"
    ]


def test_more_processors_in_use_at_once_than_there_are_is_said() -> None:
    """3 + 4 are in use from 10 to 20; the last begins as the second ends."""
    rows = rows_of((0, 20, 3, 60, 0), (5, 20, 4, 60, 5), (10, 10, 5, 60, 20))
    assert list(doubts(rows, 6)) == [
        "7 processors were in use at once, and the platform has 6 workers"
    ]
    assert list(doubts(rows, 7)) == []


def test_a_first_submission_years_after_the_logs_zero_is_said_below_the_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", str(REPORTS / "swf-epoch.toml")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].startswith("  doubtful    the first submission is 15,705 d")
    assert main(["check", "--json", str(REPORTS / "swf-epoch.toml")]) == 0
    assert len(json.loads(capsys.readouterr().out)["doubtful"]) == 2


@pytest.mark.parametrize(
    ("bad", "why"),
    [("1 off now", "cannot be read"), ("3 0", "cannot be read"), ("soon 1", "cannot be read")],
)
def test_a_line_of_a_profile_that_cannot_be_read_is_left_out_with_a_warning(
    tmp_path: Path, bad: str, why: str
) -> None:
    path = tmp_path / "profile"
    lines = [f"{10 * k} {k % 2}" for k in range(12)]
    path.write_text("\n".join(lines))
    whole = read_simgrid_profile(path)
    path.write_text("\n".join((*lines, bad)))
    with pytest.warns(UserWarning, match=f"1 line left out: {why} .first: line 13."):
        assert read_simgrid_profile(path) == whole
    path.write_text("\n".join((*lines, bad, bad)))
    with pytest.raises(InputError, match=r"line 13: .* .2 of 14 lines"):
        read_simgrid_profile(path)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("a,5,5,u", "cannot be read"),
        ("a,500,off,u", "cannot be read"),
        ("a,15,25,d", "overlaps with another interval of its worker"),
    ],
)
def test_a_line_of_a_table_of_intervals_that_cannot_be_is_left_out_with_a_warning(
    tmp_path: Path, bad: str, why: str
) -> None:
    path = tmp_path / "nodes.csv"
    lines = ["worker,start,end,state", *(f"a,{10 * k},{10 * k + 9},u" for k in range(12))]
    path.write_text("\n".join(lines))
    whole = read_intervals(path)
    path.write_text("\n".join((*lines, bad)))
    with pytest.warns(UserWarning, match=f"1 line left out: {why} .first: line 14."):
        assert read_intervals(path) == whole
    path.write_text("\n".join((*lines, bad, bad)))
    with pytest.raises(InputError, match=r"line 14: .* .2 of 14 lines"):
        read_intervals(path)


def test_an_earlier_jobs_number_is_counted_in_a_short_log_too(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    rows = [f"{k} {k} -1 5 2 -1 -1 2 9 -1 1 3 4 -1 0 -1 -1 -1" for k in (1, 2, 1)]
    path.write_text("\n".join(rows))
    log = read_swf(path)
    assert [job.submitted for job in log.jobs] == [1, 2]
    assert log.left_out == {"number of an earlier job (first: line 3)": 1}
