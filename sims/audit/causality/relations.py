"""Relations between an effect and its cause: about the same job, run or worker.

Each is called with what is known, the effect, its cause, and the cause's seq.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actors.events import (
    Outcome,
    ReservationMade,
    RunEnded,
    Stage,
    StageStarted,
    WorkerChanged,
)
from actors.events.scenario import DeciderKind
from actors.runtime.instants import INSTANT
from policies.availability import WorkerState
from sims.audit.causality.known import KnownEvents

Relation = Callable[[KnownEvents, Any, Any, int], bool]

UP, DOWN, RECLAIMED = WorkerState.UP, WorkerState.DOWN, WorkerState.RECLAIMED
ITS_END = frozenset((Outcome.COMPLETED, Outcome.FAILED))
SENDING = frozenset((Stage.STAGING_IN, Stage.SAVING))
"""Stages that the members' messages end."""
FREE = frozenset((DeciderKind.ENROLMENT, DeciderKind.COPIES))
"""Deciders that cancel runs, and let workers wait, as they like."""


def anything(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """Whatever they are about."""
    return True


# --- jobs and runs --------------------------------------------------------------------------------


def same_job(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """About one job."""
    return bool(effect.job == cause.job)


def same_run(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """About one run."""
    return bool(effect.run == cause.run and effect.job == cause.job)


def ended_well(known: KnownEvents, effect: Any, cause: RunEnded, seq: int) -> bool:
    """The run that completed the effect's job, or its iteration."""
    return cause.outcome is Outcome.COMPLETED and same_job(known, effect, cause, seq)


def cancelled(known: KnownEvents, effect: Any, cause: RunEnded, seq: int) -> bool:
    """A run of the effect's job that was cancelled."""
    return cause.outcome is Outcome.CANCELLED and same_job(known, effect, cause, seq)


def names_it(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """The cause's columns or moves name the effect's job."""
    if hasattr(cause, "moves"):
        return any(name == effect.job for name, _, _ in cause.moves)
    rows = zip(cause.jobs, cause.completed, strict=False)
    return any(name == effect.job and by is not None for name, by in rows)


def part_over(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """The part of the run that is over, or its last change of rate."""
    return known.held(effect.job, effect.run).last == seq


def run_over(known: KnownEvents, effect: RunEnded, cause: Any, seq: int) -> bool:
    """The last part of a run that comes to its end."""
    return effect.outcome in ITS_END and part_over(known, effect, cause, seq)


def nothing_left(known: KnownEvents, effect: RunEnded, cause: Any, seq: int) -> bool:
    """The checkpoint that closed a run's redistribution, where no work was left (malleable17,
    section 3.3.2)."""
    return effect.outcome in ITS_END and same_run(known, effect, cause, seq)


def begun(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """The start of a run of the effect's job, which is cancelled or killed since: its time is
    used up, or its policy looks at it time and again."""
    outcome = getattr(effect, "outcome", Outcome.CANCELLED)
    if effect.job != cause.job or outcome is not Outcome.CANCELLED:
        return False
    return known.held(cause.job, cause.run).start == seq


def other_first(known: KnownEvents, effect: Any, cause: RunEnded, seq: int) -> bool:
    """Another copy of the job completed it first."""
    outcome = getattr(effect, "outcome", Outcome.CANCELLED)
    return outcome is Outcome.CANCELLED and ended_well(known, effect, cause, seq)


def resized(known: KnownEvents, effect: RunEnded, cause: Any, seq: int) -> bool:
    """A decision to give the run's job another number of workers."""
    return effect.outcome is Outcome.CANCELLED and names_it(known, effect, cause, seq)


def reconsidered(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """What a decider heard of that changes its mind as it likes."""
    outcome = getattr(effect, "outcome", Outcome.CANCELLED)
    return outcome is Outcome.CANCELLED and known.cancels and known.decider is not DeciderKind.PACK


def due(known: KnownEvents, effect: Any, cause: ReservationMade, seq: int) -> bool:
    """A promise whose time has come: its job preempts others."""
    kept = known.promises.get(cause.job) == seq and cause.start <= known.now
    return kept and reconsidered(known, effect, cause, seq)


def capped(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """The time at which the scenario says that all is cancelled."""
    return getattr(effect, "outcome", Outcome.CANCELLED) is Outcome.CANCELLED


# --- members --------------------------------------------------------------------------------------


def same_worker(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """About one worker."""
    return bool(effect.worker == cause.worker)


def of_run(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """The cause is about a member of the effect's run."""
    return known.held(effect.job, effect.run).holds(cause.worker)


def of_job(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """The cause is about a member of a run of the effect's job."""
    return any(it.holds(cause.worker) for it in known.jobs.get(effect.job, {}).values())


def down_in_run(known: KnownEvents, effect: Any, cause: WorkerChanged, seq: int) -> bool:
    """A member of the run went DOWN, and it is lost, or what it saved."""
    outcome = getattr(effect, "outcome", Outcome.LOST)
    return (
        outcome is Outcome.LOST
        and cause.state is DOWN
        and known.held(effect.job, effect.run).holds(cause.worker)
    )


def down_in_job(known: KnownEvents, effect: Any, cause: WorkerChanged, seq: int) -> bool:
    """A member of a run of the job that is named went DOWN."""
    return cause.state is DOWN and effect.job is not None and of_job(known, effect, cause, seq)


def down(known: KnownEvents, effect: Any, cause: WorkerChanged, seq: int) -> bool:
    """A worker went DOWN."""
    return cause.state is DOWN


def ends_with(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """The end, or the next beginning, of a run whose member the effect is about."""
    return known.held(cause.job, cause.run).holds(effect.worker)


def given_up(known: KnownEvents, effect: Any, cause: RunEnded, seq: int) -> bool:
    """The end of the promised workers' run."""
    return seq in known.freed and known.freed[seq].meets(effect.processors)


# --- workers --------------------------------------------------------------------------------------


def returns(known: KnownEvents, effect: WorkerChanged, cause: WorkerChanged, seq: int) -> bool:
    """The fault whose downtime is over."""
    now, until = known.now, cause.until
    over = seq in known.instant if until is None else now <= until <= now * INSTANT
    last = known.changed.get(effect.worker) == seq
    return last and cause.state is DOWN and over


def turns(known: KnownEvents, effect: WorkerChanged, cause: Any, seq: int) -> bool:
    """Nothing in this world: the worker's owner, or a fault."""
    last = known.changed.get(effect.worker, -1)
    before = known.lasting.get(last)
    return not isinstance(before, WorkerChanged) or not returns(known, effect, before, last)


# --- the link -------------------------------------------------------------------------------------


def asks(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """A stage of the worker's run in which its members fetch or send."""
    return cause.stage in SENDING and same_run(known, effect, cause, seq)


def asked(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """The worker's own last message, or its return."""
    known_last = known.sent if not isinstance(cause, WorkerChanged) else known.changed
    return known_last.get(effect.worker) == seq


def makes_room(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """A channel became free for a worker that had asked for it before this instant."""
    if effect.worker == cause.worker:
        return True
    stage = known.lasting.get(known.held(effect.job, effect.run).last)
    begins = isinstance(stage, StageStarted) and stage.stage in SENDING
    now = known.instant
    return (
        known.sent.get(effect.worker, -1) not in now
        and known.ended.get(effect.worker, -1) not in now
        and known.changed.get(effect.worker, -1) not in now
        and not (begins and known.held(effect.job, effect.run).last in now)
    )


def asked_before(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """What the worker has asked for a channel since, where none became free: the order of service
    looks again in every slot."""
    return not known.room and wanted_since(known, effect, cause, seq)


def wanted_since(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """What a worker has wanted its message since: its run's stage, its last message's end, its
    return."""
    if isinstance(cause, StageStarted):
        held = known.held(cause.job, cause.run)
        return cause.stage in SENDING and held.last == seq
    since = known.changed if isinstance(cause, WorkerChanged) else known.ended
    return since.get(cause.worker) == seq


def waited(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """Another worker has waited for a channel."""
    another = isinstance(cause, StageStarted) or effect.worker != cause.worker
    return another and wanted_since(known, effect, cause, seq)


def hungry(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """A stage or event that made another worker ask for a channel."""
    return not hasattr(cause, "stage") or cause.stage in SENDING


def unserved(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """Nobody is served: a timetable says so."""
    return not known.room


def turned_away(known: KnownEvents, effect: Any, cause: WorkerChanged, seq: int) -> bool:
    """The worker is not UP any more."""
    return cause.state is RECLAIMED and same_worker(known, effect, cause, seq)


def forgets(known: KnownEvents, effect: Any, cause: WorkerChanged, seq: int) -> bool:
    """The worker went DOWN."""
    return cause.state is DOWN and same_worker(known, effect, cause, seq)


# --- columns --------------------------------------------------------------------------------------


def placed(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """The copies that end now, or a speed that has changed since they were placed."""
    return seq == known.placed or seq in known.speed_changes


def come_back(known: KnownEvents, effect: Any, cause: Any, seq: int) -> bool:
    """Workers came UP, or were left by a run that is lost, and nobody waits for them."""
    if effect.job is not None:
        return False
    if isinstance(cause, WorkerChanged):
        return cause.state is UP
    return seq in known.freed
