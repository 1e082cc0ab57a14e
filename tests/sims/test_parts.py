"""What one line of a log tells of many events."""

from __future__ import annotations

import pytest
from attrs import evolve

from actors.events import CopiesPlaced, CopiesSettled, Outcome, RunEnded, RunStarted
from actors.runtime import Record
from sims.audit.audit import audit
from sims.history.summary import Summary
from sims.world import run
from tests.parts import parted, parts
from tests.sims.kinds import FILES, SCENARIOS, records_of, scenario_of

PLACED = CopiesPlaced(
    *(("a", "b"), (3, 0), (2, 1), (9.0, 5.0), (4, 0, 2), 1, 0.5),
    *((1.0, 1.0, 0.0), (2, 2, None)),
)
SETTLED = CopiesSettled(("a", "b"), (3, 0), (2, 1), (2.0, 3.0, 0.5), (4, None))


def test_a_placement_is_a_run_started_per_copy_job_after_job() -> None:
    assert list(PLACED.parts()) == [
        RunStarted("a", 3, "4", 9.0, 1.0, 2, 1.0, share=0.5),
        RunStarted("a", 4, "0", 9.0, 1.0, 2, 1.0, share=0.5),
        RunStarted("b", 0, "2", 5.0, 0.0, None, 0.0, share=0.5),
    ]


def test_a_checkpoint_is_a_run_ended_per_copy_and_the_first_completes_its_job() -> None:
    assert list(SETTLED.parts()) == [
        RunEnded("a", 3, Outcome.CANCELLED, 2.0),
        RunEnded("a", 4, Outcome.COMPLETED, 3.0),
        RunEnded("b", 0, Outcome.CANCELLED, 0.5),
    ]


def test_parts_have_the_number_the_time_and_the_cause_of_their_line() -> None:
    told = Record(5, 7.0, 4, PLACED)
    assert {(it.seq, it.t, it.cause) for it in parted([told])} == {(5, 7.0, 4)}
    assert len(list(parted([told]))) == 3


def test_what_shows_one_event_is_its_own_part() -> None:
    record = records_of("figure1")[3]
    assert list(parts(record)) == [record]


@pytest.mark.parametrize(
    "column", ["jobs", "runs", "copies", "sizes", "workers", "begun", "sources"]
)
def test_columns_that_do_not_fit_together_are_refused(column: str) -> None:
    misfit = evolve(PLACED, **{column: getattr(PLACED, column)[:-1]})
    with pytest.raises(ValueError):
        parts(Record(0, 0, None, misfit))


def test_an_audit_names_the_line_whose_columns_do_not_fit() -> None:
    records = list(records_of("redundant"))
    at = next(k for k, it in enumerate(records) if isinstance(it.event, CopiesPlaced))
    event = records[at].event
    assert isinstance(event, CopiesPlaced)
    records[at] = evolve(records[at], event=evolve(event, jobs=event.jobs[:-1]))
    found = next(audit(records))
    assert (found.law.name, found.events) == ("SCHEMA", (at,))


@pytest.mark.parametrize("name", FILES)
def test_a_summary_is_the_same_with_and_without_a_log(name: str) -> None:
    silent, logged = Summary(), Summary()
    for sinks in ([silent], [logged, list[Record]().append]):
        run(scenario_of(name), sinks, SCENARIOS)
    # A run without a log does not write its scenario down.
    assert silent.started is not None and logged.started is not None
    logged.started = evolve(logged.started, text=silent.started.text, inputs=silent.started.inputs)
    assert silent == logged
    assert sum(silent.outcomes.values()) > 0
