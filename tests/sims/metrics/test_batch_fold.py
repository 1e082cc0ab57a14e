"""Numbers of batch runs, folded from events."""

import pytest

from actors.batch.events import AttemptSized, JobKilled, JobsLeftOut
from actors.events import JobCompleted, JobSubmitted, Outcome, RunEnded, RunStarted
from actors.runtime import Event, Record
from sims.metrics.batch import BatchFold, BatchLedger

STORY: list[tuple[float, Event]] = [
    (0, JobsLeftOut("too wide", 2)),
    (0, JobSubmitted("a")),
    (1, JobSubmitted("b")),
    (2, RunStarted("a", 0, "0-1")),
    (2, AttemptSized("a", 0, 2, 5, 1)),
    (8, RunEnded("a", 0, Outcome.FAILED)),
    (8, RunStarted("a", 1, "0-1")),
    (8, AttemptSized("a", 1, 2, 5, 1)),
    (9, RunStarted("b", 0, "2")),
    (9, AttemptSized("b", 0, 1, 50, 0)),
    (12, RunEnded("b", 0, Outcome.WITHDRAWN)),
    (12, JobKilled("b")),
    (14, RunEnded("a", 1, Outcome.COMPLETED)),
    (14, JobCompleted("a")),
]


def test_every_processor_second_has_one_use_and_every_job_its_times() -> None:
    fold = BatchFold(4)
    for seq, (time, event) in enumerate(STORY):
        assert type(event) in fold.wants
        fold(Record(seq, time, None, event))
    result = fold.result()
    # a: 2 x 5 lost, 2 x 5 useful, twice 2 x 1 verified; b: 1 x 3 lost.
    assert result.ledger == BatchLedger(useful=10, lost=13, verification=4, idle=29)
    assert result.utilisation == pytest.approx(27 / 56)
    assert (result.jobs, result.completed, result.killed, result.left_out) == (2, 1, 1, 2)
    assert (result.attempts, result.failures) == (3, 1)
    assert result.mean_flowtime == 14
    assert result.mean_wait == pytest.approx((2 + 8) / 2)
    assert result.mean_stretch == pytest.approx(14 / 6)


def test_a_run_of_which_nothing_is_known_has_no_numbers() -> None:
    result = BatchFold(4).result()
    assert (result.makespan, result.jobs, result.utilisation) == (0, 0, 0)
