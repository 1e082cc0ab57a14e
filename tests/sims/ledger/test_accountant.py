"""What processor-time went to, rule by rule, on logs made by hand (rules.md, Ledger)."""

from __future__ import annotations

from typing import Any

from actors.events import (
    CheckpointTaken,
    IterationCompleted,
    JobCompleted,
    JobSubmitted,
    Outcome,
    RateChanged,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    TransferKind,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.history.rows import Use
from sims.ledger import Ledger, account
from tests.sims.ledger.accountant import Accountant

COMPUTING, VERIFYING, STAGING_IN = Stage.COMPUTING, Stage.VERIFYING, Stage.STAGING_IN
COMPLETED, LOST, CANCELLED = Outcome.COMPLETED, Outcome.LOST, Outcome.CANCELLED
UP, RECLAIMED, DOWN = WorkerState.UP, WorkerState.RECLAIMED, WorkerState.DOWN
IMAGE = TransferKind.IMAGE


def ledger(processors: int, *told: tuple[float, Event]) -> Ledger:
    """Of a log of these events, after its jobs were submitted."""
    jobs = dict.fromkeys(event.job for _, event in told if hasattr(event, "job"))
    events = (*((0, JobSubmitted(job)) for job in jobs), *told)
    records = [Record(seq, t, None, event) for seq, (t, event) in enumerate(events)]
    return account(records, processors, workers=True)


def spent(processors: int, *told: tuple[float, Event]) -> dict[str, Any]:
    """What time went to, idle time left out."""
    total = ledger(processors, *told).total
    return {use.value: time for use, time in total.items() if time and use is not Use.IDLE}


def staged(stage: Stage, done: float, run: int = 0, rate: float = 1) -> StageStarted:
    return StageStarted("a", run, stage, rate, done)


def test_a_part_that_straddles_the_state_is_split_where_that_was_reached() -> None:
    """Half of the work is done in the source's count; the follower counts otherwise."""
    assert spent(
        2,
        (0, RunStarted("a", 0, "0", 8)),
        (0, staged(COMPUTING, 0, rate=2)),
        (3, RunEnded("a", 0, LOST, 6)),
        (3, RunStarted("a", 1, "1", 4, 2, 0, 4)),
        (3, staged(COMPUTING, 2, 1)),
        (5, RunEnded("a", 1, COMPLETED, 4)),
        (5, JobCompleted("a")),
    ) == {"useful": 4, "lost": 1}


def test_each_iteration_has_a_fate_of_its_own() -> None:
    assert spent(
        1,
        (0, RunStarted("a", 0, "0", 2)),
        (0, staged(COMPUTING, 0)),
        (2, RunEnded("a", 0, COMPLETED, 2)),
        (2, IterationCompleted("a", 0)),
        (2, RunStarted("a", 1, "0", 2)),
        (2, staged(COMPUTING, 0, 1)),
        (3, RunEnded("a", 1, CANCELLED, 1)),
    ) == {"useful": 2, "redundant": 1}


def test_what_a_log_leaves_saved_or_under_way_is_lost() -> None:
    assert spent(
        1,
        (0, RunStarted("a", 0, "0", 9)),
        (0, staged(COMPUTING, 0)),
        (3, CheckpointTaken("a", 0, 3)),
        (3, staged(COMPUTING, 3)),
        (5, RateChanged("a", 0, 2, 5)),
    ) == {"lost": 5}


def test_a_worker_without_speed_waits_in_a_run_that_shows_no_stages() -> None:
    assert spent(
        2,
        (0, RunStarted("a", 0, "0", 2)),
        (1, WorkerSpeedChanged(0, 0)),
        (1, WorkerSpeedChanged(1, 0)),
        (4, WorkerSpeedChanged(0, 0.5)),
        (6, RunEnded("a", 0, COMPLETED, 2)),
        (6, JobCompleted("a")),
    ) == {"useful": 3, "waiting": 3}


def test_jobs_that_share_a_worker_have_a_part_of_its_time_each() -> None:
    """Five of them; a fifth is not told exactly by any double."""
    started = [(0, RunStarted(f"{k}", 0, "0-1", 2, share=0.2, rotates=True)) for k in range(5)]
    told = ledger(
        2,
        *started,
        (4, WorkerChanged(1, DOWN, UP, None)),
        *((10, RunEnded(f"{k}", 0, COMPLETED, 2)) for k in range(5)),
        *((10, JobCompleted(f"{k}")) for k in range(5)),
    )
    assert told.total[Use.USEFUL] == 14
    assert told.total[Use.DOWN] == 6
    assert told.total[Use.IDLE] == 0
    assert told.by_job["3"][Use.USEFUL] * 5 == 14


def test_nothing_is_kept_of_copies_that_nobody_goes_on_from() -> None:
    """A job that is placed afresh a hundred times: each time from the second of two copies, whose
    states are needed to the end. What is not is kept until it is as much as what is."""
    accountant, lost = Accountant(2), list[int]()
    seq = 0

    def tell(t: float, event: Event) -> None:
        nonlocal seq
        seq += 1
        told = list(accountant(Record(seq, t, None, event)))
        lost.extend(it.run for it in told if it.use is Use.REDUNDANT and it.run is not None)

    tell(0, JobSubmitted("a"))
    for k in range(100):
        source, done = (2 * k - 1, float(k)) if k else (None, 0.0)
        for run in (2 * k, 2 * k + 1):
            tell(k, RunStarted("a", run, str(run % 2), 100, done, source, done))
        for run in (2 * k, 2 * k + 1):
            tell(k + 1, RunEnded("a", run, CANCELLED, k + 1.0))
    assert lost == list(range(0, 2 * len(lost), 2))
    assert len(lost) >= 50
