"""Why a run starts: relations of the law of causes (see relations.py)."""

from __future__ import annotations

from typing import Any

from actors.events import CheckpointLost, RestartedFromScratch, RunStarted, WorkerChanged
from actors.events.scenario import DeciderKind
from actors.intervals import within
from actors.runtime.instants import INSTANT
from policies.availability import WorkerState
from sims.audit.causality.known import KnownEvents
from sims.audit.causality.relations import FREE

UP = WorkerState.UP


def resumes(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """All kept members are UP: since a member came back, the run before ended, or the job was
    resized. What begins anew names the loss, unless it waited for a member after that."""
    if effect.keeps is None or effect.job != getattr(cause, "job", effect.job):
        return False
    before = known.held(effect.job, effect.keeps)
    if before.loss >= 0 and effect.source == effect.keeps:
        return False
    if isinstance(cause, WorkerChanged):
        return cause.state is UP and within(effect.processors, cause.worker)
    return before.loss < 0 or effect.source is not None


def begins_anew(
    known: KnownEvents,
    effect: RunStarted,
    cause: CheckpointLost | RestartedFromScratch,
    seq: int,
) -> bool:
    """All that the kept members had saved was given up, and no member had to come back."""
    if any(within(effect.processors, worker) for worker in known.came):
        return False
    if effect.keeps is None or effect.source is not None or effect.job != cause.job:
        return False
    return known.held(effect.job, effect.keeps).loss == seq


def wanted(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """What the job has wanted workers since."""
    return effect.keeps is None and not known.opened and known.wants.get(effect.job) == seq


def wanted_before(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """Likewise, where a policy may let it wait until it likes what it sees."""
    return known.decider in FREE and wanted(known, effect, cause, seq)


def freed(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """Some of its workers were freed, or came UP, for a job that had waited."""
    if effect.keeps is not None or known.opened or known.wants_now(effect.job):
        return False
    if isinstance(cause, WorkerChanged):
        return cause.state is UP and within(effect.processors, cause.worker)
    return seq in known.freed and known.freed[seq].meets(effect.processors)


def rearranged(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """Copies are all placed anew whenever workers are freed, whosever they get."""
    moved = known.decider is DeciderKind.COPIES and seq in known.freed
    return moved and effect.keeps is None and not known.wants_now(effect.job)


def another_copy(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """One more of a job under way gets what a decision's starts and promises left over."""
    under_way = any(not held.kept for held in known.jobs.get(effect.job, {}).values())
    return under_way and _had_waited(known, effect)


def opened(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """The shelf or batch that it starts in."""
    return effect.keeps is None


def made_way(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """A job that was ahead started, or was promised other workers, and it had waited for that."""
    return effect.job != cause.job and _had_waited(known, effect)


def promised(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """Its own reservation, whose time has come."""
    own = known.promises.get(effect.job) == seq
    return own and cause.start <= known.now * INSTANT and not known.frees(effect.processors)


def called(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """What called for the decision to start a job that had waited, where none of its workers was
    freed."""
    return _had_waited(known, effect)


def shared_out(known: KnownEvents, effect: RunStarted, cause: Any, seq: int) -> bool:
    """A decision that took workers from other jobs."""
    return effect.keeps is None and not known.wants_now(effect.job)


def _had_waited(known: KnownEvents, effect: RunStarted) -> bool:
    """It has not come to want workers just now, and none of those that it gets was freed now."""
    return (
        effect.keeps is None
        and not known.opened
        and not known.wants_now(effect.job)
        and not known.frees(effect.processors)
    )
