"""Derives the calls of a reserve: workers that their owner keeps until the first job of the queue
lacks workers (rules.md, P11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from math import inf

from attrs import Factory, define

from actors.events import ReserveCalled
from actors.runtime import Event
from policies.availability import WorkerState
from sims.audit import cells
from sims.audit.facts import ExpectedJob
from sims.audit.law import LinePhase, allowed, comes, possible, same
from sims.audit.scenario import amount, whole
from sims.audit.turns import Emitter, Script
from sims.audit.workers import DOWN, RECLAIMED, UP, ExpectedWorker
from sims.audit.world import Handler, PartRules, World


@define(eq=False)
class ExpectedReserve:
    """The workers of the reserve, which their owner keeps RECLAIMED until they are called for the
    first job of the queue that lacks workers, and the calls so far."""

    w: World
    workers: frozenset[int]
    delay: float
    left: list[int]
    """Workers that have not been called, ascending."""
    called: set[int] = Factory(set)
    """Workers that have been called and have not been UP since."""
    calls: dict[int, tuple[float, int]] = Factory(dict)
    """Maps each worker that was called to the time at which its owner has it UP, and to the event
    of its call."""

    def come(self, worker: ExpectedWorker) -> int:
        """Return the event that must cause the worker's change to UP: the call of a worker of the
        reserve, if it comes because of that now; else 0. Raises Broken where its owner still keeps
        it."""
        possible(not self.keeps(worker.number), "its owner keeps it until it is called")
        time, seq = self.calls.get(worker.number, (-1.0, -1))
        self.called.discard(worker.number)
        now = seq >= 0 and same(time, self.w.now)
        return seq if now and worker.state not in (UP, DOWN) else 0

    def keeps(self, worker: int) -> bool:
        """Return whether the worker is of the reserve and need not have come yet: it has not been
        called, or the time until it comes is not over."""
        if worker not in self.workers:
            return False
        time, now = self.calls.get(worker, (inf, -1))[0], self.w.now
        return time > now and not same(time, now)

    def call(self, event: ReserveCalled) -> Script:
        """Check the line that calls the next worker of the reserve for a waiting job that lacks
        workers."""
        w = self.w
        w.turns.decides()
        job: ExpectedJob = allowed(w.jobs.get(event.job), "no such job waits")
        allowed(not job.copies, f"{event.job} has started")
        allowed(not w.decider.held_back(event.job), f"{event.job} is above a limit")
        self.pass_over()
        others = self._own(job, self.called)
        allowed(not others, "another worker has been called and has not come")
        self._check_next(event.worker, job)
        published = w.decider.published
        known = published is not None and job.name in published.sizes
        allowed(not known or self._lacks(job), f"{self._free(job)} workers are free")
        decider = w.decider
        started = [it for it in decider.started if it >= 0]
        seq = yield event, {0, *decider.called(), *decider.fulfilled, *started}
        self.left.remove(event.worker)
        time, worker = w.now + self.delay, event.worker
        self.called.add(worker)
        self.calls[worker] = time, seq
        w.turns.at(time, LinePhase.RESUME, Emitter(), 0, partial(self._check_come, worker))
        if job.asked.ready and job.name not in decider.widths.more:
            decider.widths.more[job.name] = job.asked.ready
            decider.triggers.append(seq)

    def _own(self, job: ExpectedJob | None, workers: Iterable[int]) -> list[int]:
        """Return those of the workers that are of the job's partition; all without a job, or
        where all workers form one pool."""
        own = job.partition.workers if job is not None and job.partition is not None else None
        return [n for n in workers if own is None or n in own]

    def _ready(self, job: ExpectedJob | None) -> list[int]:
        """Return the workers that could be called for the job now."""
        known = self.w.workers
        left = [n for n in self.left if n not in known or known[n].state is not DOWN]
        return self._own(job, left)

    def _free(self, job: ExpectedJob) -> int:
        """Return the number of free workers that the job could have."""
        if job.partition is None:
            return self.w.free.count
        free = cells.may_have(self.w, job, ())
        if cells.is_exclusive(job):
            return sum(map(len, cells.in_whole_nodes(self.w, free).values()))
        return len(free)

    def _check_next(self, worker: int, job: ExpectedJob | None = None) -> None:
        """Check that `worker` is the next one that can be called, for a job or for an agent."""
        due = next(iter(self._ready(job)), None)
        allowed(due == worker, f"worker {due} is called before")

    def call_for_agent(self, worker: int, seq: int) -> None:
        """Check that an agent calls the next worker, with event `seq`, and expect it in time."""
        self._check_next(worker)
        self.left.remove(worker)
        time = self.w.now + self.delay
        self.calls[worker] = time, seq
        check = partial(self._check_come, worker)
        self.w.turns.at(time, LinePhase.RESUME, Emitter(), 0, check)

    def _check_come(self, worker: int) -> None:
        """Check, at the time at which the called worker `worker` is due to come, that its owner
        does not keep it RECLAIMED any longer."""
        w = self.w
        kept = (
            w.worker(worker).state is RECLAIMED
            and not w.platform.has_owner(worker)
            and not w.capped
        )
        kept = kept and not w.kept(worker, RECLAIMED)
        comes(not kept, f"worker {worker} of the reserve comes")
        self.pass_over()

    def pass_over(self) -> None:
        """Wait no more for called workers that are DOWN and should have come: the decider looks
        again, because of their calls."""
        for worker in sorted(self.called):
            time, seq = self.calls[worker]
            late = time <= self.w.now or same(time, self.w.now)
            if late and self.w.worker(worker).state is DOWN:
                self.called.remove(worker)
                self.w.decider.triggers.append(seq)

    def retired(self, seq: int) -> None:
        """Have the decider look again after workers have retired with event `seq`: a job that waits
        for all workers that are left needs fewer now."""
        self.w.decider.triggers.append(seq)
        if self.w.decider.widths.more:
            self.w.decider.unused.forget()

    def _lacks(self, job: ExpectedJob) -> bool:
        """Return whether too few workers are free for a waiting job; false where the log has not
        given the number of its members."""
        published = self.w.decider.published
        size = published.sizes.get(job.name) if published is not None else None
        return size is not None and self._free(job) < self.w.decider.widths.of(job.name, size)

    def close(self) -> None:
        """Check at the end of an instant with a decision that a worker was called if one is left
        and all waiting jobs that compete for the same workers lack some, without those that are
        held back. If only some of these jobs do, the log does not say for which one a worker would
        be called."""
        w = self.w
        if w.capped or w.turns.ended or not w.decider.triggers:
            return
        self.pass_over()  # who is DOWN now need not be so at the next call
        waiting = [it for it in w.jobs.values() if not (it.copies or w.decider.held_back(it.name))]
        for them in cells.apart(w, waiting):
            lack = all(map(self._lacks, them))
            could = all(self._ready(it) and not self._own(it, self.called) for it in them)
            comes(not (lack and could), f"a worker of the reserve is called for {them[0].name}")


@define(eq=False)
class ReserveRules(PartRules):
    """The rules of the reserve."""

    reserve: ExpectedReserve | None = None
    """The workers of the reserve; None if the platform has none."""

    def prepare(self) -> None:
        """Keep the workers of the reserve, the last ones before the spares, and the delay after
        which a called one comes."""
        w, section = self.w, self.w.given.section("platform")
        count, delay = whole(section, "reserve", 0), amount(section, "reserve_delay")
        if count:
            workers = range(max(w.able - count, 0), w.able)
            self.reserve = ExpectedReserve(w, frozenset(workers), delay, list(workers))
            w.decider.calls_described()

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {ReserveCalled: self.call}

    def call(self, w: World, event: ReserveCalled) -> Script:
        """Return the script (generator) that checks the line that calls a worker of the reserve."""
        found: ExpectedReserve = possible(self.reserve, "there is no reserve")
        return found.call(event)

    def keeps(self, worker: int, state: WorkerState) -> bool:
        return state is RECLAIMED and self.reserve is not None and self.reserve.keeps(worker)

    def called_for_agent(self, worker: int, seq: int) -> None:
        found: ExpectedReserve = possible(self.reserve, "there is no reserve")
        found.call_for_agent(worker, seq)

    def called_up(self, worker: ExpectedWorker) -> int:
        return 0 if self.reserve is None else self.reserve.come(worker)

    def calls_now(self) -> None:
        if self.reserve is not None:
            self.reserve.pass_over()

    def retired(self, seq: int) -> None:
        if self.reserve is not None:
            self.reserve.retired(seq)

    def close(self) -> None:
        """Check at the end of an instant that no call of a worker of the reserve is missing."""
        if self.reserve is not None:
            self.reserve.close()
