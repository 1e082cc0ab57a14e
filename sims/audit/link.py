"""The master's link: what members fetch and send, and whom it serves (WORLD.md, L1 to L4, W2)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import Factory, define

from actors.events import (
    Stage,
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferSuspended,
)
from sims.audit.facts import DOWN, NEGLIGIBLE, UP, Copy, Run
from sims.audit.turns import Phase, Script, Teller
from sims.audit.worker import Worker
from sims.audit.world import World

PROGRAM, DATA = TransferKind.PROGRAM, TransferKind.DATA
IMAGE, SAVE = TransferKind.IMAGE, TransferKind.SAVE
STAGING_IN, SAVING = Stage.STAGING_IN, Stage.SAVING
LATER = 1 << 40
"""More than there are runs."""
STARTED_FIRST, LONGEST_FIRST = "started-first", "longest-first"


@define(eq=False)
class Service(Teller):
    """Who wants a channel, and what has changed since they were dealt out."""

    channels: int
    order: str
    waiting: dict[Worker, int] = Factory(dict)
    """Who wants one or has one -> seq of what it wants it for."""
    asked: dict[Worker, int] = Factory(dict)
    """The same of those who have asked since the channels were dealt out last."""
    freed: int = -1
    """seq of what freed a channel since then."""
    stirred: bool = False
    looks: float = -1
    """When the slot begins in which an order that looks again in every slot does so next."""

    def quit(self, worker: Worker) -> None:
        """It wants none any more."""
        if self.waiting.pop(worker, None) is not None:
            self.stirred = True


# --- what a member wants --------------------------------------------------------------------------


def wants(worker: Worker) -> TransferKind | None:
    """The message that it must fetch or send next."""
    run = worker.run
    if run is None:
        return None
    if worker.saving:
        return SAVE
    messages = run.copy.job.sizes
    if messages.program and messages.label not in worker.programs:
        return PROGRAM
    if messages.data and worker.data < run.copy.units.get(worker.number, 1):
        return DATA
    if worker.fetches and messages.image and not worker.image:
        return IMAGE
    return None


def lacks(worker: Worker, now: float) -> float:
    """Time of program and data that it lacks in all (n_q of volatile13, section V)."""
    run = worker.run
    assert run is not None
    messages = run.copy.job.sizes
    left = 0.0 if messages.label in worker.programs else messages.program
    left += max(run.copy.units.get(worker.number, 1) - worker.data, 0) * messages.data
    if worker.kind in (PROGRAM, DATA) and left:
        size = messages.program if worker.kind is PROGRAM else messages.data
        left -= size - _left(worker, now)
    return max(left, 0)


def _left(worker: Worker, now: float) -> float:
    return worker.left - (now - worker.since) if worker.passing is not None else worker.left


def feed(w: World, run: Run, image: bool) -> None:
    """A run begins: its members fetch what they lack."""
    cause = run.cause
    for number in run.copy.members:
        worker = w.worker(number)
        stays = worker.run
        worker.fetches = image
        if stays is not None:
            _stay(w, worker, stays, run, cause)
        worker.run = run
        _go_on(w, worker, cause, anew=worker not in w.service.waiting)


def _stay(w: World, worker: Worker, former: Run, run: Run, cause: int) -> None:
    """Enrolled again at the instant at which it left (volatile13): it keeps its data, and the part
    of a message with program or data that is still wanted."""
    worker.saving = worker.image = False
    worker.run = run
    if worker.lost or run.copy.job is not former.copy.job:
        _drop(w, worker, cause)
        worker.leave()
        return
    wanted = wants(worker)
    if worker.kind in (IMAGE, SAVE) or (worker.kind and wanted and worker.kind is not wanted):
        _drop(w, worker, cause)
    elif wanted is None:
        _quit(w, worker, cause)


def send_images(w: World, run: Run, cause: int) -> None:
    """Every member sends its image."""
    for number in run.copy.members:
        worker = w.worker(number)
        worker.saving = True
        if worker.kind is DATA:
            _drop(w, worker, cause)  # of a task that it has no more
        if worker.run is not None and worker.state is UP:
            _go_on(w, worker, cause, anew=worker not in w.service.waiting)


def _go_on(w: World, worker: Worker, cause: int, anew: bool = True) -> None:
    if wants(worker) is None:
        assert worker.run is not None
        arrived(w, worker.run, worker.number, cause)
    else:
        _ask(w, worker, cause, anew)


def _ask(w: World, worker: Worker, cause: int, anew: bool = True) -> None:
    service = w.service
    worker.wanted = w.now, cause
    service.waiting[worker] = cause
    if anew:
        service.asked[worker] = cause
        service.stirred = True


def leave(
    w: World, copy: Copy, cause: int, keep: bool, members: Iterable[int] | None = None
) -> None:
    """These members' run, or all, has ended: they stop fetching for it."""
    if copy.job.messages is None:
        return
    for number in copy.members if members is None else members:
        worker = w.worker(number)
        if worker.run is not None:
            if worker.run.copy is not copy:
                continue
            _drop(w, worker, cause)
            worker.run, worker.saving, worker.image = None, False, False
        if not keep:
            worker.leave()


def _drop(w: World, worker: Worker, cause: int) -> None:
    """What has passed of an incomplete message is lost."""
    script = _lost(w, worker, cause)
    if script is not None:
        w.push(worker, _now(w), 0, lambda: script)


def _now(w: World) -> int:
    return max(w.phase, Phase.RESUME if w.late else Phase.STATES)


def _lost(w: World, worker: Worker, cause: int) -> Script | None:
    kind, passing = worker.kind, worker.passing is not None
    _stop(worker)
    worker.kind = None
    w.service.quit(worker)
    return None if kind is None else _dropped(w, worker, kind, cause, passing)


def _dropped(w: World, worker: Worker, kind: TransferKind, cause: int, passing: bool) -> Script:
    seq = yield TransferDropped(worker.number, kind), cause
    if passing:
        w.service.freed, w.service.stirred = seq, True


def _quit(w: World, worker: Worker, cause: int) -> None:
    """It gives its channel back, and keeps what has passed."""
    if worker.passing is not None:
        script = _suspended(w, worker, cause)
        w.push(worker, _now(w), 0, lambda: script)
    else:
        w.service.quit(worker)


def _suspended(w: World, worker: Worker, cause: int) -> Script:
    seq = yield suspend(w, worker), cause
    w.service.waiting.pop(worker, None)
    w.service.freed, w.service.stirred = seq, True


def suspend(w: World, worker: Worker) -> TransferSuspended:
    """Its message stops passing; what tells of it."""
    left = _left(worker, w.now)
    assert worker.kind is not None
    worker.left = left if left > NEGLIGIBLE * worker.left else 0
    worker.since = w.now
    _stop(worker)
    return TransferSuspended(worker.number, worker.kind, worker.left)


def _stop(worker: Worker) -> None:
    if worker.passing is not None:
        worker.passing.live = False
        worker.passing = None


# --- what befalls it ------------------------------------------------------------------------------


def turned(w: World, worker: Worker, cause: int, hidden: bool) -> Script:
    """A worker has changed its state; `hidden`: nobody hears of it."""
    if worker.lost:
        return
    if worker.state is DOWN:
        worker.programs.clear()
        worker.leave()
        if hidden and worker.passing is not None:
            worker.passing.live = False
        else:
            yield from heard(w, worker, cause)
    elif worker.run is not None and worker.state is UP:
        _go_on(w, worker, cause)
    elif worker.passing is not None:
        yield from _suspended(w, worker, cause)
    else:
        w.service.quit(worker)


def heard(w: World, worker: Worker, cause: int) -> Script:
    """Its run knows that it is DOWN."""
    yield from _lost(w, worker, cause) or ()
    worker.run, worker.saving = None, False


def passed(w: World, worker: Worker) -> Script:
    """A message has passed whole."""
    run, kind = worker.run, worker.kind
    assert run is not None and kind is not None
    seq = yield TransferEnded(worker.number, kind), worker.sent
    worker.kind, worker.passing = None, None
    service = w.service
    service.freed, service.stirred = seq, True
    if kind is PROGRAM:
        worker.programs.add(run.copy.job.sizes.label)
        w.decider.programmed(seq)
    elif kind is DATA:
        worker.data += 1
    elif kind is IMAGE:
        worker.image = True
    if kind is not SAVE and wants(worker) is not None:
        _ask(w, worker, seq)
        return
    service.waiting.pop(worker, None)
    worker.saving = False
    arrived(w, run, worker.number, seq)


def arrived(w: World, run: Run, worker: int, cause: int) -> None:
    """A member holds all that it needs, or has sent its image."""
    run.missing.discard(worker)
    it = run.saving or run
    if it.over or it.stage not in (STAGING_IN, SAVING):
        return
    missing = bool(run.missing)

    def go_on() -> Script | None:
        if it.over or run.copy.struck or it.stage not in (STAGING_IN, SAVING):
            return None
        if missing:
            w.report(run.copy, cause)
            return None
        it.cause, it.reports = cause, it is run
        return it.take()

    # Others that start at this instant do so first. Who comes UP with all that it needs is heard of
    # like any other change of a worker: after those that came before.
    phase = w.phase if w.phase >= Phase.STATES else Phase.MESSAGES
    w.push(it.beside or run.copy.job, phase, LATER, go_on)
