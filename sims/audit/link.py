"""The master's link: what members fetch and send, and whom it serves (WORLD.md, L1 to L4, W2)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

from actors.events import (
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
)
from policies.availability import WorkerState
from sims.audit import runs
from sims.audit.facts import NEGLIGIBLE, Copy, Phase, Run, Script, Teller, Worker
from sims.audit.law import Broken, Law, must, told
from sims.audit.world import World

UP, DOWN = WorkerState.UP, WorkerState.DOWN
PROGRAM, DATA = TransferKind.PROGRAM, TransferKind.DATA
IMAGE, SAVE = TransferKind.IMAGE, TransferKind.SAVE
STARTED_FIRST, LONGEST_FIRST = "started-first", "longest-first"


@define(eq=False)
class Service(Teller):
    """Who wants a channel, and what has changed since they were dealt out."""

    channels: int
    order: str
    waiting: dict[Worker, int] = field(factory=dict)
    """Who wants one or has one -> seq of what it wants it for."""
    asked: dict[Worker, int] = field(factory=dict)
    """The same of those who have asked since the channels were dealt out last."""
    freed: int = -1
    """seq of what freed a channel since then."""
    stirred: bool = False
    looks: float = -1
    """When an order that looks again in every time unit does so next."""


# --- what a member wants --------------------------------------------------------------------------


def wants(worker: Worker) -> TransferKind | None:
    """The message that it must fetch or send next."""
    run = worker.run
    if run is None:
        return None
    if worker.saving:
        return SAVE
    job = run.copy.job
    messages = job.messages
    assert messages is not None
    if messages.program and messages.label not in worker.programs:
        return PROGRAM
    if messages.data and worker.data < run.copy.units.get(worker.number, 1):
        return DATA
    if worker.fetches and messages.image and not worker.image:
        return IMAGE
    return None


def _lacks(worker: Worker, now: float) -> float:
    """Time of program and data that it lacks in all (n_q of volatile13, section V)."""
    run = worker.run
    assert run is not None
    messages = run.copy.job.messages
    assert messages is not None
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
    if run.copy.job is not former.copy.job:
        _drop(w, worker, cause)
        worker.leave()
        return
    wanted = wants(worker)
    if worker.kind in (IMAGE, SAVE) or (worker.kind and wanted and worker.kind is not wanted):
        _drop(w, worker, cause)
    elif wanted is None:
        _quit(w, worker, cause)


def send_images(w: World, run: Run) -> None:
    """Every member sends its image."""
    for number in run.copy.members:
        worker = w.worker(number)
        worker.saving = True
        if worker.kind is DATA:
            _drop(w, worker, run.cause)  # of a task that it has no more
        if worker.run is not None and worker.state is UP:
            _go_on(w, worker, run.cause, anew=worker not in w.service.waiting)


def _go_on(w: World, worker: Worker, cause: int, anew: bool = True) -> None:
    if wants(worker) is None:
        assert worker.run is not None
        runs.arrived(w, worker.run, worker.number, cause)
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
    kind, passing = worker.kind, worker.passing is not None
    _stop(worker)
    worker.kind = None
    if w.service.waiting.pop(worker, None) is not None:
        w.service.stirred = True
    if kind is not None:
        script = _dropped(w, worker, kind, cause, passing)
        w.push(worker, Phase.STATES, 0, lambda: script)


def _dropped(w: World, worker: Worker, kind: TransferKind, cause: int, passing: bool) -> Script:
    seq = yield TransferDropped(worker.number, kind), cause
    if passing:
        w.service.freed, w.service.stirred = seq, True


def _quit(w: World, worker: Worker, cause: int) -> None:
    """It gives its channel back, and keeps what has passed."""
    if worker.passing is not None:
        script = _suspended(w, worker, cause)
        w.push(worker, Phase.STATES, 0, lambda: script)
    elif w.service.waiting.pop(worker, None) is not None:
        w.service.stirred = True


def _suspended(w: World, worker: Worker, cause: int) -> Script:
    seq = yield _suspend(w, worker), cause
    w.service.waiting.pop(worker, None)
    w.service.freed, w.service.stirred = seq, True


def _suspend(w: World, worker: Worker) -> TransferSuspended:
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


def turned(w: World, worker: Worker, cause: int) -> Script:
    """A worker has changed its state."""
    if worker.state is DOWN:
        if w.service.waiting.pop(worker, None) is not None:
            w.service.stirred = True
        kind, passing = worker.kind, worker.passing is not None
        _stop(worker)
        worker.kind = None
        if kind is not None:
            yield from _dropped(w, worker, kind, cause, passing)
        worker.leave()
        worker.programs.clear()
        worker.run, worker.saving = None, False
    elif worker.run is not None and worker.state is UP:
        _go_on(w, worker, cause)
    elif worker.passing is not None:
        yield from _suspended(w, worker, cause)
    elif w.service.waiting.pop(worker, None) is not None:
        w.service.stirred = True


def _ended(w: World, worker: Worker) -> Script:
    """A message has passed whole."""
    run, kind = worker.run, worker.kind
    assert run is not None and kind is not None
    seq = yield TransferEnded(worker.number, kind), worker.sent
    worker.kind, worker.passing = None, None
    service, messages = w.service, run.copy.job.messages
    service.freed, service.stirred = seq, True
    assert messages is not None
    if kind is PROGRAM:
        worker.programs.add(messages.label)
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
    runs.arrived(w, run, worker.number, seq)


# --- whom the master serves -----------------------------------------------------------------------


def release_former(w: World) -> None:
    """Who has not been enrolled again leaves its former run."""
    former, w.former = w.former, {}
    for number, (copy, seq) in former.items():
        leave(w, copy, seq, False, (number,))


def _key(service: Service, worker: Worker, now: float) -> tuple[float, ...]:
    if service.order == LONGEST_FIRST:
        return -_lacks(worker, now), worker.number
    return worker.passing is None, worker.kind is None, worker.number


def serve(w: World, service: Service) -> Script:
    """Channels are dealt out: who loses one stops before others begin."""
    service.stirred = False
    waiting = service.waiting
    chosen = sorted(waiting, key=lambda it: _key(service, it, w.now))[: service.channels]
    if len(waiting) <= service.channels and service.order != LONGEST_FIRST:
        chosen.sort(key=lambda it: it.number)
    gaining = [it for it in chosen if it.passing is None]
    losing = [it for it in waiting if it.passing is not None and it not in chosen]
    freed = service.freed
    asked = next((seq for it, seq in service.asked.items() if it in chosen), None)
    if asked is None:
        asked = waiting[gaining[0]] if gaining else 0
    service.asked.clear()
    service.freed = -1
    if service.order == LONGEST_FIRST and waiting:
        _look_again(w, service)
    for worker in losing:
        freed = yield _suspend(w, worker), asked
    for worker in gaining:
        yield from _begun(w, worker, freed)


def _begun(w: World, worker: Worker, freed: int) -> Script:
    run, kind = worker.run, wants(worker)
    assert run is not None and kind is not None
    since, wanted = worker.wanted
    messages = run.copy.job.messages
    assert messages is not None
    if worker.kind is not kind:
        sizes = {PROGRAM: messages.program, DATA: messages.data}
        worker.kind, worker.left = kind, sizes.get(kind, messages.image)
    worker.since = w.now
    due = w.now + worker.left
    worker.passing = w.at(due, Phase.MESSAGES, worker, worker.number, lambda: _ended(w, worker))
    event = TransferStarted(worker.number, run.copy.job.name, run.number, kind, worker.left)
    worker.sent = yield event, (wanted if since == w.now or freed < 0 else freed)


def _look_again(w: World, service: Service) -> None:
    if service.looks != w.now + 1:
        service.looks = w.now + 1

        def look() -> None:
            service.stirred = True

        w.at(service.looks, Phase.STATES, service, 0, look)


def pass_channels(w: World, event: TransferStarted | TransferSuspended, seq: int) -> Script:
    """The first line of a new service."""
    service = w.service
    must(service is not None, Law.FOLLOWS, "there is no master for {}", event)
    w.settle(Phase.DECISION + 1)
    release_former(w)
    if service.order not in (STARTED_FIRST, LONGEST_FIRST):
        return _as_told(w, service, event, seq)
    script = serve(w, service)
    must(service.stirred, Law.FOLLOWS, "nobody's channel changes now; it says {}", event)
    return script


def forgotten(w: World, event: TransferDropped, seq: int) -> Script | None:
    """Who was not enrolled again loses what has passed, once it has been decided."""
    if not w.former:
        return None
    release_former(w)
    return w.told_now(w.worker(event.worker))


def _as_told(
    w: World, service: Service, event: TransferStarted | TransferSuspended, seq: int
) -> Script:
    """An order of a user's, or a timetable, may choose anybody who waits."""
    service.stirred = False
    worker = w.worker(event.worker)
    causes = {0, service.freed, seq - 1, *service.waiting.values()}
    if isinstance(event, TransferSuspended):
        must(worker.passing is not None, Law.FOLLOWS, "nothing passes for {}", event)
        yield _suspend(w, worker), causes
        return
    passing = sum(it.passing is not None for it in service.waiting)
    able = worker in service.waiting and worker.passing is None and passing < service.channels
    if not able:
        raise Broken(Law.DECISION, f"{told(event)}: it waits for none, or none is free")
    script = _begun(w, worker, service.freed)
    begun, _ = next(script)
    worker.sent = yield begun, causes


def close(w: World) -> None:
    """An instant is over: the channels have been dealt out."""
    if w.former:
        release_former(w)
        w.settle(Phase.DECISION + 1)
    service = w.service
    if service is not None and service.stirred and service.order in (STARTED_FIRST, LONGEST_FIRST):
        w.script = serve(w, service)
        w.want = next(w.script, None)
        if w.want is not None:
            raise Broken(Law.MISSING, f"{told(w.want[0])} must come at {w.now!r}")
        w.script = None
