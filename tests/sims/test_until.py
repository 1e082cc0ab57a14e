"""Runs that end at a time which their user sets."""

from __future__ import annotations

from math import nan

import pytest
from attrs import evolve

from actors.events import End, ScenarioStarted
from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.metrics.report import Report
from sims.world import run
from tests.sims.anything import TABLES
from tests.sims.kinds import FILES, SCENARIOS, records_of, scenario_of
from tests.sims.oneworld import records_of as played

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.mark.parametrize("name", FILES)
def test_a_run_until_a_time_is_the_beginning_of_the_whole_run(name: str) -> None:
    """All of it, where that time is never reached."""
    whole = records_of(name)
    middle = whole[len(whole) // 2].t
    for until in (middle, 1e12):
        records: list[Record] = []
        ending = run(scenario_of(name), [records.append], SCENARIOS, until=until)
        if until == middle:
            assert (ending.end, ending.time) == (End.CAPPED, until)
            records.pop()
        assert isinstance(records[0].event, ScenarioStarted)
        assert records[0].event.until == until  # what the whole run's log does not say
        records[0] = evolve(records[0], event=evolve(records[0].event, until=None))
        assert records == [it for it in whole if it.t <= until]


@pytest.mark.parametrize(
    ("name", "until", "problem"),
    [
        ("batch-rigid", -1, "-1 is no time; accepted: a number, 0 or above"),
        ("batch-rigid", nan, "nan is no time; accepted: a number, 0 or above"),
        ("figure1", 2.5, "2.5 is within a slot; accepted: a whole number"),
    ],
)
def test_what_is_no_time_is_refused(name: str, until: float, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        run(scenario_of(name), folder=SCENARIOS, until=until)
    assert str(refused.value) == f"command line: --until: {problem}"


@pytest.mark.filterwarnings("ignore:.*no buddy", "ignore:.*has no effect")
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("until", [0, 1, 7, 20, 60])
def test_what_is_cut_off_breaks_no_law_and_its_ledger_adds_up(kind: str, until: float) -> None:
    for seed in range(3):
        records = played(TABLES[kind](seed), until=until)
        assert [str(violation) for violation in audit(records)] == []
        ledger = Report.of(records).ledger
        assert sum(ledger.total.values()) == ledger.capacity
