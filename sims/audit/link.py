"""Passes messages through the master's link: what members fetch and send, which of them get a
channel, and when (rules.md, L1 to L4, W2)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import floor, inf

from actors import events as e
from actors.events import BY_MESSAGES, TransferKind
from sims.audit.facts import ExpectedCopy, ExpectedRun
from sims.audit.law import LinePhase, allowed, follows
from sims.audit.turns import INSTANT, LATER, Script
from sims.audit.workers import (
    DATA,
    DOWN,
    IMAGE,
    LONGEST_FIRST,
    PROGRAM,
    SAVE,
    UP,
    ExpectedWorker,
    Service,
)
from sims.audit.world import PartRules, World


def stage_in(
    w: World,
    run: ExpectedRun,
    image: bool,
    members: Iterable[int] | None = None,
    cause: int | None = None,
) -> None:
    """Begin the input transfers of a run's members, or only of `members`: each asks the master for
    the messages that it lacks.

    `image` says that each fetches its part of a checkpoint from the master, too; `cause` is the
    event that leads to it, where that is not the run's.
    """
    since = run.cause if cause is None else cause
    for number in run.copy.members if members is None else members:
        worker = w.worker(number)
        former, worker.run, worker.fetches = worker.run, run, image
        promoted, worker.ready = worker.ready, False
        if former is not None:
            _stay(w, worker, former, run)
        _go_on(w, worker, since, anew=promoted or worker not in w.service.waiting)


def stage_in_ready(w: World, copy: ExpectedCopy, number: int, cause: int) -> None:
    """Let worker `number`, which the copy holds ready since event `cause`, ask for the job's
    program, if it lacks that (P12)."""
    if copy.job.messages is None or not copy.job.messages.program:
        return
    worker = w.worker(number)
    worker.run, worker.ready, worker.fetches = ExpectedRun(copy, copy.last, 0), True, False
    _go_on(w, worker, cause)


def put_off(w: World, newcomers: Iterable[tuple[int, int]]) -> None:
    """Suspend the fetching of workers that were held ready, and are members now of a run that
    fetches nothing yet.

    `newcomers` has pairs (number of the worker, event that made it a member); workers that fetch
    for a run already go on.
    """
    for number, cause in newcomers:
        worker = w.worker(number)
        if not worker.ready:
            continue
        if worker.passing is not None:
            w.turns.push(worker, _now(w), 0, partial(_suspended, w, worker, cause))
        else:
            w.service.remove(worker)
        worker.run, worker.ready = None, False


def _stay(w: World, worker: ExpectedWorker, former: ExpectedRun, run: ExpectedRun) -> None:
    """Handle a worker that is enrolled again, in `run`, at the instant at which it left `former`
    (volatile13).

    For a run of the same job it keeps its data, and what has passed of a message with program or
    data that it still needs. For another job, and after a fault that is not known yet, it loses
    both.
    """
    worker.saving = worker.image = False
    if worker.lost or run.copy.job is not former.copy.job:
        _drop(w, worker, run.cause)
        worker.leave()
        return
    wanted = worker.wants()
    if worker.kind in (IMAGE, SAVE) or (worker.kind and wanted and worker.kind is not wanted):
        _drop(w, worker, run.cause)
    elif wanted is None and worker.passing is not None:  # it keeps what has passed
        script = _suspended(w, worker, run.cause)
        w.turns.push(worker, _now(w), 0, lambda: script)
    elif wanted is None:
        w.service.remove(worker)


def send_images(w: World, run: ExpectedRun, cause: int) -> None:
    """Let every member on which the run computes send its part of a checkpoint to the master,
    because of event `cause`."""
    for number in run.copy.working:
        worker = w.worker(number)
        worker.saving = True
        if worker.kind is DATA:
            _drop(w, worker, cause)  # data for a task that it no longer has
        if worker.run is not None and worker.state is UP:
            _go_on(w, worker, cause, anew=worker not in w.service.waiting)


def _go_on(w: World, worker: ExpectedWorker, cause: int, anew: bool = True) -> None:
    """Have a worker ask for its next message, because of event `cause`; if it lacks none, note that
    it has received all.

    `anew` says that the worker did not wait for a channel before, so that the channels have to be
    assigned again.
    """
    if worker.wants() is None:
        _all_received(w, worker, cause)
        return
    service = w.service
    worker.wanted = w.now, cause
    service.waiting[worker] = cause
    if anew:
        service.requests[worker] = cause
        service.stale = True


def leave(
    w: World, copy: ExpectedCopy, cause: int, keep: bool, members: Iterable[int] | None = None
) -> None:
    """Stop the messages of a copy's members whose run has ended, or only those of `members`,
    because of event `cause`.

    With `keep` they still have the data that they have received; else they forget it. Without
    `keep` and `members` those that the copy holds ready forget theirs, too. Nothing is done for a
    job without a link to the master.
    """
    if copy.job.messages is None:
        return
    whole = copy.members if keep else (*copy.members, *copy.ready)
    for number in whole if members is None else members:
        worker = w.worker(number)
        if worker.run is not None and worker.run.copy is not copy:
            continue
        # Such a member may have lost its message by a fault of its own, which is over at
        # this instant: that is the cause then.
        own = members is not None and worker.lost and worker.until == w.now
        _drop(w, worker, worker.seq if own else cause)
        worker.run, worker.saving, worker.image, worker.ready = None, False, False, False
        if not keep:
            worker.leave()


def _now(w: World) -> int:
    """Return the phase of the present instant in which a loss or suspension of a message that
    happens now is logged."""
    return max(w.turns.phase, LinePhase.RESUME if w.platform.late else LinePhase.STATES)


def _drop(w: World, worker: ExpectedWorker, cause: int) -> None:
    """Have a worker lose what it has received of an incomplete message, because of event `cause`,
    and schedule the line that logs the loss. Without such a message only its request for a channel
    ends."""
    script = _lost(w, worker, cause)
    if script is not None:
        w.turns.push(worker, _now(w), 0, lambda: script)


def _lost(w: World, worker: ExpectedWorker, cause: int) -> Script | None:
    """Stop a worker's message, which is lost because of event `cause`; return the script
    (generator) of the line that says so, or None if the worker has no message."""
    kind, passing = worker.kind, worker.passing is not None
    worker.stop()
    worker.kind = None
    w.service.remove(worker)
    return None if kind is None else _dropped(w, worker, kind, cause, passing)


def _dropped(
    w: World, worker: ExpectedWorker, kind: TransferKind, cause: int, passing: bool
) -> Script:
    """Expect the line that says that a message of this kind is lost; if it was passing, its channel
    is free from then on."""
    seq = yield e.TransferDropped(worker.number, kind), cause
    if passing:
        w.service.free(seq)


def _suspended(w: World, worker: ExpectedWorker, cause: int) -> Script:
    """Suspend the worker's message that passes the master's link, because of event `cause`, and
    expect the log's line that says so; the message's channel is free then."""
    seq = yield worker.suspend(w.now), cause
    w.service.waiting.pop(worker, None)
    w.service.free(seq)


def state_changed(w: World, worker: ExpectedWorker, cause: int, hidden: bool) -> Script:
    """Apply a worker's change of state, event `cause`, to its messages: DOWN loses them, RECLAIMED
    suspends them, and UP has the worker ask for them again.

    With `hidden`, the change is a fault that the worker's run does not know of yet: the lost
    message keeps its channel until then.
    """
    if worker.lost:
        return
    if worker.state is DOWN:
        # A worker that goes DOWN loses its memory; a RECLAIMED one keeps it (volatile13, section
        # III).
        worker.programs.clear()
        worker.leave()
        if hidden and worker.passing is not None:
            # F1: the message is lost, and keeps its channel until the fault is detected.
            worker.passing.live = False
        else:
            yield from fault_detected(w, worker, cause)
    elif worker.run is not None and worker.state is UP:
        _go_on(w, worker, cause)
    elif worker.passing is not None:
        yield from _suspended(w, worker, cause)
    else:
        w.service.remove(worker)


def fault_detected(w: World, worker: ExpectedWorker, cause: int) -> Script:
    """Drop the messages of a worker that is DOWN, as its run learns of that now, by event
    `cause`."""
    yield from _lost(w, worker, cause) or ()
    worker.run, worker.saving, worker.ready = None, False, False


def _passed(w: World, worker: ExpectedWorker) -> Script:
    """Expect the line that says that a worker's message has passed, and go on to the worker's next
    one."""
    kind = worker.kind
    assert kind is not None
    seq = yield e.TransferEnded(worker.number, kind), worker.sent
    worker.kind, worker.passing = None, None
    w.service.free(seq)
    if kind is PROGRAM:
        worker.programs.add(worker.run.copy.job.messages.label)
        w.decider.program_received(seq)
    elif kind is DATA:
        worker.data += 1
    elif kind is IMAGE:
        worker.image = True
    else:
        worker.saving = False
    if kind is SAVE or worker.wants() is None:
        w.service.waiting.pop(worker, None)
        _all_received(w, worker, seq)
    else:
        _go_on(w, worker, seq)


def _all_received(w: World, worker: ExpectedWorker, cause: int) -> None:
    """Note that a worker has received all that it needs, or has sent its part of a checkpoint, with
    event `cause`; if it is the last member of its run to do so, the run goes on at this instant."""
    run = worker.run
    copy = run.copy
    if worker.ready:
        return  # no run waits for it
    if not copy.concerns(worker.number):
        _received_aside(w, worker, cause)
        return
    run.missing.discard(worker.number)
    it = run.saving or run
    if it.over or it.stage not in BY_MESSAGES:
        return
    missing = bool(run.missing)

    def go_on() -> Script | None:
        if it.over or run.copy.blind or run.paused or it.stage not in BY_MESSAGES:
            return None
        if missing:
            w.decider.report(run.copy, cause)
            return None
        it.cause, it.reports = cause, it is run
        return it.part_end.take()  # type: ignore[no-any-return]

    # Runs that start at this instant do so first. A worker that comes UP with all that it needs is
    # handled like any other change of a worker: after the changes that came before.
    phase, order = max(w.turns.phase, LinePhase.MESSAGES), LATER
    alone = missing or w.turns.measured or phase > LinePhase.MESSAGES
    if not alone and len(copy.job.copies) > 1:
        phase, order = LinePhase.PARTS, run.number  # in the order of all runs of the job
        it.received = w.now
    w.turns.push(it.beside or run.copy.job, phase, order, go_on)


def _received_aside(w: World, worker: ExpectedWorker, cause: int) -> None:
    """Note that a member on which its copy's run does not compute has received all that it needs,
    with event `cause`."""
    for part in w.parts[PartRules.received]:
        part.received(worker.run.copy, worker, cause)


def _release_former(w: World) -> None:
    """Have workers whose run ended at this instant, and that no run has enrolled again, leave it
    and lose its data."""
    former, w.former = w.former, {}
    for number, (copy, seq) in former.items():
        leave(w, copy, seq, False, (number,))


def _serve(w: World, service: Service) -> Script:
    """Assign the channels by the master's order: first the workers that lose one suspend their
    messages, then those that get one start or continue theirs."""

    def key(it: ExpectedWorker) -> tuple[float, ...]:
        if longest:
            # Rounded to nine digits: amounts that differ by rounding only are equal, and numbers
            # decide.
            lacks = -inf if it.lost else -float(f"{it.lacks(w.now):.9g}")
            return it.ready, lacks, it.number
        return it.ready, it.passing is None, it.kind is None, it.number

    waiting, longest, freed = service.waiting, service.order == LONGEST_FIRST, service.freed
    chosen = sorted(waiting, key=key)[: service.channels]
    if len(waiting) <= service.channels and not longest:
        # Where all get a channel, messages begin in the order of the workers' numbers.
        chosen.sort(key=lambda it: it.number)
    gaining = [it for it in chosen if it.passing is None]
    losing = [it for it in waiting if it.passing is not None and it not in chosen]
    requests = next((seq for it, seq in service.requests.items() if it in chosen), None)
    # A worker loses its channel because of the first one that asked and got it, else because of the
    # one that takes its place.
    if requests is None:
        requests = waiting[gaining[0]] if gaining else 0
    service.requests.clear()
    service.freed, service.stale = -1, False
    if longest and waiting and service.next_slot <= w.now * (1 + INSTANT):
        # What workers lack changes as messages pass: this order is evaluated anew in every slot.
        service.next_slot = floor(w.now * (1 + INSTANT)) + 1
        w.turns.at(
            service.next_slot, LinePhase.STATES, service, 0, lambda: setattr(service, "stale", True)
        )
    for worker in losing:
        freed = yield worker.suspend(w.now), requests
    for worker in gaining:
        yield from _begun(w, worker, freed)


def _begun(w: World, worker: ExpectedWorker, freed: int) -> Script:
    """Start or continue the message of a worker that has just got a channel, and expect the line
    that says so.

    `freed` is the event that freed the channel, which causes the start if the worker has waited; -1
    if no event did.
    """
    run, kind, (since, wanted) = worker.run, worker.wants(), worker.wanted
    assert kind is not None
    if worker.kind is not kind:
        worker.kind, worker.left = kind, worker.size(kind)
    worker.since = w.now
    about = worker, worker.number, lambda: _passed(w, worker)
    worker.passing = w.turns.at(w.now + worker.left, LinePhase.MESSAGES, *about, carried=True)
    worker.began = run.copy.job.name, run.number
    event = e.TransferStarted(worker.number, *worker.began, kind, worker.left)
    worker.sent = yield event, (wanted if since == w.now or freed < 0 else freed)


def pass_channels(w: World, event: e.TransferStarted | e.TransferSuspended) -> Script:
    """Return the script (generator) of a new assignment of the master's channels, of which `event`
    is the first line."""
    service = w.service
    follows(service is not None, "there is no master")
    w.turns.settle(LinePhase.DECISION + 1)
    _release_former(w)
    if not service.derived:
        return _as_told(w, service, event)
    follows(service.stale, "nobody's channel changes now")
    return _serve(w, service)


def forgotten(w: World, event: e.TransferDropped) -> Script | None:
    """Return the script (generator) that explains the line `event`, by which a worker loses an
    unfinished message and which no earlier line announced; None where nothing explains it, so that
    the log is wrong.

    Two losses are explained: that of a worker that has left its run at this instant and that the
    decision has not enrolled again, and that of a worker whose hidden fault is over at this
    instant (F1). All other losses are announced by what causes them.
    """
    worker = w.worker(event.worker)
    if worker.lost and worker.until == w.now:
        return fault_detected(w, worker, worker.seq)
    if not w.former:
        return None
    _release_former(w)
    return w.turns.emits_now(worker)


def _as_told(w: World, service: Service, event: e.TransferStarted | e.TransferSuspended) -> Script:
    """Check that a message starts or is suspended, where the user's own order of service or a
    timetable decides whom the master serves.

    A start needs a waiting worker and a free channel, a suspension a message that passes. Which
    worker is chosen is not checked.
    """
    service.stale = False
    worker = w.worker(event.worker)
    # A user's order may have any reason: every event that could concern a channel will do.
    causes = {0, service.freed, w.seq - 1, *service.waiting.values()}
    if isinstance(event, e.TransferSuspended):
        follows(worker.passing is not None and not worker.lost, "nothing passes")
        yield worker.suspend(w.now), causes
        return
    passing = sum(it.passing is not None for it in service.waiting)
    able = worker in service.waiting and worker.passing is None and passing < service.channels
    allowed(able, "it waits for none, or none is free")
    script = _begun(w, worker, service.freed)
    begun, _ = next(script)
    worker.sent = yield begun, causes


def close(w: World) -> None:
    """Check at the end of an instant that the master's channels are assigned as they must be; raise
    Broken if a line is missing."""
    if w.former:
        _release_former(w)
        w.turns.settle(LinePhase.DECISION + 1)
    service = w.service
    if service is not None and service.stale and service.derived:
        want = next(_serve(w, service), None)
        if want is not None:
            w.turns.lacks(want)
