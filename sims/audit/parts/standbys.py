"""Derives which workers copies hold ready to take the places of members that go DOWN (rules.md,
P12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import define

from actors.events import StandbyJoined, StandbyLost, StandbysHeld
from actors.runtime import Event
from policies.availability import WorkerState
from sims.audit import cells, link, stages
from sims.audit.facts import ExpectedCopy, ExpectedJob, ExpectedRun
from sims.audit.law import allowed, comes, coming, follows
from sims.audit.parts.replacement import replaceable
from sims.audit.protection import protection
from sims.audit.scenario import Table, whole
from sims.audit.turns import Script
from sims.audit.workers import DOWN, ExpectedWorker, Spans, extent, numbers, parse_spans
from sims.audit.world import Handler, PartRules, World


@define(eq=False)
class StandbyRules(PartRules):
    """The rules of standbys."""

    not_of_jobs: ClassVar = (StandbyJoined,)

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {StandbyJoined: join}

    def held_ready(self, own: Table) -> int:
        return whole(own, "standbys", 0)

    def placing(self, job: ExpectedJob, spans: Spans) -> None:
        w = self.w
        # Workers that a decision itself frees become no standbys.
        free = w.decider.decided or joining(w) is None
        allowed(free, "a repaired worker is a standby first")
        w.joined = w.now

    def started(self, run: ExpectedRun) -> Script:
        """Read the line that says which workers a starting copy gets as standbys, and check it:
        they are as many as its job asks for, or as are free."""
        w, copy = self.w, run.copy
        wanted = min(copy.job.asked.ready, w.decider.free_for(copy.job))
        if not wanted:
            return
        event = yield from coming(StandbysHeld, copy.job.name)
        spans = parse_spans(event.processors)
        allowed(extent(spans) == wanted, "{} gets {} standbys", copy.job.name, wanted)
        due = w.decider.choose_ready(copy, wanted)
        allowed(due in (None, spans), "{} gets standbys {}", copy.job.name, due)
        w.holdings.take(copy, spans)
        copy.ready = list(numbers(spans))
        held = yield StandbysHeld(copy.job.name, run.number, event.processors), run.started
        for number in copy.ready:
            link.stage_in_ready(w, copy, number, held)

    def ready_changed(
        self, copy: ExpectedCopy, worker: int, state: WorkerState, cause: int
    ) -> Script | None:
        """Return the script of a standby that leaves its copy, as it is DOWN; None for one that is
        not, which may let the copy's next run start."""
        if state is DOWN:
            return _lost(self.w, copy, worker, cause)
        if copy.run is None or copy.division is not None:
            stages.resume_soon(self.w, copy)
        return None

    def resumes(self, copy: ExpectedCopy) -> Script | None:
        return _use(self.w, copy) if copy.job.asked.ready and copy.run is None else None

    def close(self) -> None:
        """Check, at the end of an instant with a decision, that no repaired worker is left that
        becomes a standby."""
        w = self.w
        if w.decider.triggers and not w.decider.decided:
            comes(joining(w) is None, "a worker whose downtime is over must be a standby")


def _lost(w: World, copy: ExpectedCopy, worker: int, cause: int) -> Script:
    seq = yield StandbyLost(copy.job.name, copy.last, worker), cause
    copy.ready.remove(worker)
    w.holdings.give(copy, (worker, worker + 1))
    w.decider.ready_left(copy, seq)


def _use(w: World, copy: ExpectedCopy) -> Script:
    """Replace the members that are known to be DOWN by standbys that are UP, the lowest first, and
    start the copy's next run.

    If there are too few standbys, the copy waits if its job is protected by buddies; else it ends
    and releases all its workers (P12).
    """
    known = (n for n in sorted(copy.absent) if n not in copy.undetected)
    down = [n for n in known if w.worker(n).state is DOWN]
    ready = [n for n in copy.ready if w.holdings.is_up(n)]
    fell = [(w.worker(n).away or (0, -1))[1] for n in down]
    newcomers = list[tuple[int, int]]()
    if len(down) > len(ready) and not copy.job.keeps:
        yield from stages.drop(w, copy, copy.outcome, fell[len(ready)], early=True)
        return
    for gone, newcomer, cause in zip(down, ready, fell, strict=False):
        yield from stages.replace_member(w, copy, gone, newcomer, cause)
        w.decider.ready_left(copy, copy.cause)
        newcomers.append((newcomer, copy.cause))
    if copy.absent or w.before(copy.job, first=False):
        link.put_off(w, newcomers)
    if not copy.absent:
        plan = protection.resumed(w, copy)
        yield from w.course(w, copy, plan, copy.cause, keeps=copy.last)


def joining(w: World) -> tuple[ExpectedWorker, list[ExpectedCopy]] | None:
    """Return the next worker that becomes a standby now, because its downtime is over, with the
    copies of which one gets it; None if no worker does.

    The copies are the first of each job that may have the worker and lacks a standby: the log does
    not say which job is first.
    """
    short = [
        next((it for it in job.copies if len(it.ready) < job.asked.ready), None)
        for job in w.jobs.values()
        if job.asked.ready
    ]
    copies = [copy for copy in short if copy is not None]
    if not copies or w.joined == w.now:
        return None
    back = (it for _, it in sorted(w.workers.items()) if it.repaired == w.now)
    free = (it for it in back if w.free.has((it.number, it.number + 1)) and it.number < w.able)
    for it in free:
        takers = [copy for copy in copies if cells.has(copy.job, it.number)]
        if takers:
            return it, takers
    return None


def join(w: World, event: StandbyJoined) -> Script:
    """Check that a worker whose downtime is over becomes a standby of a copy, before a decision."""
    w.turns.decides()
    follows(replaceable(w) is None, "members are replaced before")
    worker, copies = follows(joining(w), "no worker becomes a standby now")
    copy = next((it for it in copies if it.job.name == event.job), copies[0])
    joined = yield StandbyJoined(copy.job.name, copy.last, worker.number), worker.seq
    w.holdings.take(copy, (worker.number, worker.number + 1))
    copy.ready = sorted((*copy.ready, worker.number))
    link.stage_in_ready(w, copy, worker.number, joined)
    if copy.run is None or copy.division is not None:
        stages.resume_soon(w, copy)
