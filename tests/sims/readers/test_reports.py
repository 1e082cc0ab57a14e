"""Inputs rebuilt from public reports give the answers that stand beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.events import JobCompleted, JobsLeftOut, LogReplayed
from actors.runtime import Record
from sims.errors import InputError
from sims.readers.failures import read_failures
from sims.readers.traces import read_fta_events
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
