"""Checks owners' notices of the times at which they will take workers (rules.md, O1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from attrs import Factory, define

from actors.events import NoticeGiven, Stage
from actors.runtime import Event
from sims.audit import stages
from sims.audit.facts import Change, ExpectedCopy
from sims.audit.law import LinePhase, comes, ordered, possible, same
from sims.audit.turns import INSTANT, LATER, NEGLIGIBLE, Emitter, Script
from sims.audit.workers import DOWN, ExpectedWorker
from sims.audit.world import Handler, PartRules, World


@define(eq=False)
class NoticeRules(PartRules):
    """The rules of owners' notices."""

    last: int = -1
    """Sequence number of the last notice."""
    taken: list[ExpectedWorker] = Factory(list)
    """Workers that their owners have announced to take at this instant."""

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {NoticeGiven: self.notice}

    def check_change(self, worker: ExpectedWorker, change: Change) -> None:
        """Check that a worker changes state before the notices of the instant come, unless a
        decision calls it, or its fault becomes known as a copy releases it; and that a notice came
        before its owner takes it."""
        w = self.w
        ordered(self.last < max(w.first, change.cause) or change.called, "it is after a notice")
        if change.event.state is DOWN and w.now and not change.cause and not change.fault:
            # A notice without lead comes later in this instant: look for it only then.
            check = partial(check_notices, w, worker)
            w.turns.push(Emitter(), LinePhase.DECISION, 0, check)

    def notice(self, w: World, event: NoticeGiven) -> Script:
        """Check an owner's notice of the time at which it will take a worker (O1)."""
        w.turns.settle(LinePhase.RESUME)
        w.turns.phase, self.last = LinePhase.RESUME, w.seq
        worker = w.worker(event.worker)
        possible(worker.state is not DOWN)
        if event.time is None:
            possible(w.turns.measured, "no real process could be told to end")
        else:
            _announce(w, worker, event.time)
            taken = partial(self.taken.append, worker)
            w.turns.at(event.time, LinePhase.DECISION, Emitter(), 0, taken)
        seq = yield event, 0
        copy = w.holdings.holder(event.worker)
        if copy is not None and copy.run is not None:
            save = partial(_save, w, copy, event.worker, seq)
            w.turns.push(copy.job, LinePhase.RESUME, copy.run.number - LATER, save)

    def close(self) -> None:
        """Check that the workers whose owners announced to take them at this instant are DOWN at
        its end."""
        for worker in self.taken:
            comes(worker.state is DOWN, f"worker {worker.number} is to be DOWN")
        self.taken.clear()


def _announce(w: World, worker: ExpectedWorker, time: float) -> None:
    """Check the time at which an owner says that it will take a worker.

    All notices of a worker come equally long before the time, but for those at time 0.
    """
    possible(time >= w.now)
    possible(time > max(worker.announced, default=-1), "it is announced twice")
    if w.now:
        lead = time - w.now
        # All notices of one worker come equally long before it is taken (O1).
        possible(worker.lead in (None, lead) or same(lead, worker.lead))
        worker.lead, worker.watched = lead, min(worker.watched, w.now)
        lasted, down = worker.unannounced
        due = lasted - lead > INSTANT * down
        comes(not due, f"a notice that it goes DOWN at {down!r} must have come too")
    worker.announced = [*(it for it in worker.announced if it >= w.now), time]


def check_notices(w: World, worker: ExpectedWorker) -> None:
    """Check, at an instant at which an owner takes a worker DOWN, that a notice came before if one
    had to.

    No notice is possible if the worker was DOWN when it was due. How long before DOWN notices come,
    any notice of that worker reveals, be it earlier or later in the log.
    """
    if worker.state is not DOWN or any(same(it, w.now) for it in worker.announced):
        return
    lasted = w.now - worker.back
    comes(not _due(worker, w.now, lasted), f"worker {worker.number}: a notice must come before")
    worker.unannounced = max(worker.unannounced, (lasted, w.now))


def _due(worker: ExpectedWorker, now: float, lasted: float) -> bool:
    """Return whether the owner must have given notice of a DOWN that begins at `now`; false while
    the time by which its notices precede is not known.

    `lasted` is the time since the worker was DOWN before. No notice was possible if the worker was
    DOWN at the time at which it was due.
    """
    if worker.lead is None:
        return False
    at, close = max(now - worker.lead, 0), INSTANT * now
    if at < worker.watched:
        return lasted - worker.lead > close
    worker.spells = [it for it in worker.spells if it[1] + close >= at]
    return not any(began - close <= at for began, _ in worker.spells)


def _save(w: World, copy: ExpectedCopy, worker: int, cause: int) -> Script | None:
    """Return the script (generator) by which a copy's run takes a checkpoint, as an owner gives
    notice for its member `worker` (O1); None if the job does not want that, or there is nothing to
    save.

    `cause` is the notice.
    """
    run = copy.run
    if run is None or run.over or not copy.concerns(worker):
        return None
    # A run that stands still because of a hidden fault, or hangs, has nothing new to save.
    computes = run.stage is Stage.COMPUTING and not copy.blind and run.hung is None
    due = copy.job.asked.saving.on_notice and computes and run.at(w.now) > NEGLIGIBLE * run.work
    if due and run.saving is None:
        run.cause, run.reports = cause, True
        return stages.cut(w, run)
    run.due = run.due or due
    w.decider.report(copy, cause)
    return None
