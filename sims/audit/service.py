"""Whom the master serves, and when (WORLD.md, L1 and L3)."""

from __future__ import annotations

from math import floor, inf

from actors.events import TransferDropped, TransferStarted, TransferSuspended
from sims.audit.law import Broken, Law, allowed, follows, told
from sims.audit.link import (
    DATA,
    LONGEST_FIRST,
    PROGRAM,
    STARTED_FIRST,
    Service,
    heard,
    lacks,
    leave,
    passed,
    suspend,
    wants,
)
from sims.audit.turns import INSTANT, Phase, Script
from sims.audit.worker import Worker
from sims.audit.world import World


def release_former(w: World) -> None:
    """Who has not been enrolled again leaves its former run."""
    former, w.former = w.former, {}
    for number, (copy, seq) in former.items():
        leave(w, copy, seq, False, (number,))


def _key(service: Service, worker: Worker, now: float) -> tuple[float, ...]:
    if service.order == LONGEST_FIRST:
        lacked = inf if worker.lost else float(f"{lacks(worker, now):.9g}")
        return -lacked, worker.number
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
        freed = yield suspend(w, worker), asked
    for worker in gaining:
        yield from _begun(w, worker, freed)


def _begun(w: World, worker: Worker, freed: int) -> Script:
    run, kind = worker.run, wants(worker)
    assert run is not None and kind is not None
    since, wanted = worker.wanted
    messages = run.copy.job.sizes
    if worker.kind is not kind:
        sizes = {PROGRAM: messages.program, DATA: messages.data}
        worker.kind, worker.left = kind, sizes.get(kind, messages.image)
    worker.since = w.now
    due = w.now + worker.left
    about = worker, worker.number, lambda: passed(w, worker)
    worker.passing = w.at(due, Phase.MESSAGES, *about, carried=True)
    event = TransferStarted(worker.number, run.copy.job.name, run.number, kind, worker.left)
    worker.sent = yield event, (wanted if since == w.now or freed < 0 else freed)


def _look_again(w: World, service: Service) -> None:
    by = w.now * (1 + INSTANT)
    if service.looks <= by:
        service.looks = floor(by) + 1

        def look() -> None:
            service.stirred = True

        w.at(service.looks, Phase.STATES, service, 0, look)


def pass_channels(w: World, event: TransferStarted | TransferSuspended, seq: int) -> Script:
    """The first line of a new service."""
    service = w.service
    follows(service is not None, "there is no master")
    w.settle(Phase.DECISION + 1)
    release_former(w)
    if service.order not in (STARTED_FIRST, LONGEST_FIRST):
        return _as_told(w, service, event, seq)
    script = serve(w, service)
    follows(service.stirred, "nobody's channel changes now")
    return script


def forgotten(w: World, event: TransferDropped, seq: int) -> Script | None:
    """Who was not enrolled again loses what has passed, once it has been decided; or whoever is UP
    again as it goes DOWN (F1)."""
    worker = w.worker(event.worker)
    if worker.lost and worker.until == w.now:
        return heard(w, worker, worker.seq)
    if not w.former:
        return None
    release_former(w)
    return w.told_now(worker)


def _as_told(
    w: World, service: Service, event: TransferStarted | TransferSuspended, seq: int
) -> Script:
    """An order of a user's, or a timetable, may choose anybody who waits."""
    service.stirred = False
    worker = w.worker(event.worker)
    causes = {0, service.freed, seq - 1, *service.waiting.values()}
    if isinstance(event, TransferSuspended):
        follows(worker.passing is not None, "nothing passes")
        yield suspend(w, worker), causes
        return
    passing = sum(it.passing is not None for it in service.waiting)
    able = worker in service.waiting and worker.passing is None and passing < service.channels
    allowed(able, "it waits for none, or none is free")
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
