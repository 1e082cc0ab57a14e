"""The six steps of an instant, and the time between two."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracle.jobs import ZERO, Group, Job, Message, Run, State
from tests.oracle.outcome import Ledger, told
from tests.oracle.parts import Parts, Worker
from tests.oracle.timeline import DOWN, RECLAIMED, UP, Timeline
from tests.oracle.words import Cargo, Outcome, Part, Source, Use

COMPUTING = frozenset((Part.COMPUTING, Part.VERIFICATION, Part.FINAL))
"""What advances at the members' speed."""


class Stuck(Exception):
    """Nothing can ever happen any more, and jobs are left."""


def simulate(scenario: dict[str, Any]) -> dict[str, Any]:
    """What a case expects; raises Stuck where it never ends."""
    return World(scenario).run()


class World(Parts):
    """Workers, jobs and the master of a neutral scenario."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        indices, master = range(scenario["workers"]), scenario["master"]
        super().__init__(
            [Worker(index, Timeline(index, scenario)) for index in indices],
            [Job(k, said, scenario["shared_program"]) for k, said in enumerate(scenario["jobs"])],
            master["channels"] if master else None,
        )
        self.priority = by_priority(self.jobs, scenario["order"])
        self.ledger = Ledger()
        self.state: list[str] = []
        self.speed: list[Fraction] = []
        times = {job.release for job in self.jobs}
        times = times.union(*(worker.timeline.times for worker in self.workers))
        self.times = sorted(t for t in times if t >= 0)
        """When something happens whatever runs do."""

    def run(self) -> dict[str, Any]:
        """Up to the last job's end."""
        while True:
            self.instant()
            if all(job.completion is not None for job in self.jobs):
                return told(self, self.ledger)
            self._advance(self._next_time())

    # --- what is under way ---

    def _active(self) -> list[Run]:
        """Runs under way, by job, then run number."""
        runs = [group.run for job in self.jobs for group in job.copies_held if group.run]
        return sorted(runs, key=lambda run: (run.job.index, run.number))

    def _messages(self) -> list[Message]:
        """The next one of every member, by worker."""
        pending = [waiting for run in self._active() for waiting in run.pending.values()]
        return sorted((waiting[0] for waiting in pending if waiting), key=lambda it: it.worker)

    def _all_up(self, group: Group) -> bool:
        return all(self.state[q] == UP for q in group.members)

    # --- an instant ---

    def instant(self) -> None:
        """The six steps, in the rules' order."""
        self._end_messages()
        for run in self._active():
            self.pass_parts(run)
        self._end_final_verifications()
        self._change_workers()
        self._decide()
        if self.channels is not None:
            self._deal(self.channels)

    def _end_messages(self) -> None:
        for message in self._messages():
            if message.under_way and message.left == 0:
                message.stop(self.now)
                self.tell(message, "done")
                self._receive(message)

    def _receive(self, message: Message) -> None:
        run, worker = message.run, message.worker
        run.pending[worker].pop(0)
        if message.cargo is Cargo.PROGRAM:
            self.workers[worker].programs.add(run.job.program_of)
        elif message.cargo is Cargo.DATA:
            run.group.data[worker] += 1

    def _end_final_verifications(self) -> None:
        for run in self._active():
            # Not of a copy that one before has just withdrawn.
            if run.outcome is None and run.part is Part.FINAL and run.left == 0:
                if run.job.finds_error():
                    self.finish(run, Outcome.FAILED)
                else:
                    self.complete(run)

    def _change_workers(self) -> None:
        self.state = [worker.timeline.state_at(self.now) for worker in self.workers]
        self.speed = [worker.timeline.speed_at(self.now) for worker in self.workers]
        self._strike([worker for worker in self.workers if self.now in worker.timeline.strikes])
        for message in self._messages():
            if self.state[message.worker] != UP:
                message.stop(self.now)
        for group in [group for job in self.jobs for group in job.copies_held]:
            if group.run is None and self._all_up(group):
                self.start(group, group.checkpoint, Source.KEPT)

    def _strike(self, struck: list[Worker]) -> None:
        """DOWN empties memories; all are hit before any run is judged."""
        hit: list[Group] = []
        for worker in struck:
            worker.programs.clear()
            if worker.group:
                worker.group.hits.add(worker.index)
                worker.group.data[worker.index] = 0
                hit.append(worker.group)
        for group in hit:
            if group.fatal:
                group.checkpoint = None
            if group.run:
                self.finish(group.run, Outcome.LOST)

    def _decide(self) -> None:
        """First one run for each waiting job, then further copies."""
        for job in self.priority:
            if job.release <= self.now and job.completion is None and not job.copies_held:
                self._place(job)
        for job in self.priority:
            while job.copies_held and len(job.copies_held) < job.copies:
                if not self._place(job):
                    break

    def _place(self, job: Job) -> bool:
        """A copy on the lowest free UP workers, if they are enough."""
        free = [w.index for w in self.workers if w.group is None and self.state[w.index] == UP]
        if len(free) < job.processors:
            return False
        origin, source = best_origin(job)
        group = Group(job, free[: job.processors])
        for q in group.members:
            self.workers[q].group = group
        job.copies_held.append(group)
        self.start(group, origin, source)
        return True

    def _deal(self, channels: int) -> None:
        """Suspended messages first, then those not begun; in both the lowest worker."""
        messages = self._messages()
        room = channels - sum(message.under_way for message in messages)
        ready = [it for it in messages if not it.under_way and self.state[it.worker] == UP]
        ready.sort(key=lambda message: (not message.spans, message.worker))
        for message in ready[:room]:
            message.begin(self.now)

    # --- the time between two instants ---

    def _rate(self, run: Run) -> Fraction:
        """The rate at which its part advances now."""
        if run.part is Part.MESSAGES or not self._all_up(run.group):
            return ZERO
        if run.part in COMPUTING:
            return min(self.speed[q] for q in run.group.members)
        return Fraction(1)

    def _next_time(self) -> Fraction:
        times = [*self._fixed(), *self._ends()]
        if not times:
            left = [job.index for job in self.jobs if job.completion is None]
            raise Stuck(f"job(s) {left} at {self.now}")
        return min(times)

    def _fixed(self) -> list[Fraction]:
        return [time for time in self.times if time > self.now][:1]

    def _ends(self) -> Iterator[Fraction]:
        """Of messages and parts, if nothing happens before."""
        for message in self._messages():
            if message.under_way:
                yield self.now + message.left
        for run in self._active():
            rate = self._rate(run)
            if rate > 0 and run.to_do > 0:
                yield self.now + run.to_do / rate

    def _advance(self, then: Fraction) -> None:
        time = then - self.now
        uses = {run: run.advance(self._rate(run), time) for run in self._active()}
        sending = {message.worker for message in self._messages() if message.under_way}
        for message in self._messages():
            if message.under_way:
                message.left -= time
        for worker in self.workers:
            self.ledger.spend(self._use(worker, sending, uses), time)
        self.now = then

    def _use(self, worker: Worker, sending: set[int], uses: dict[Run, Use | None]) -> Use | None:
        """The first that fits; None for computing."""
        state, group = self.state[worker.index], worker.group
        if state != UP:
            return {DOWN: Use.DOWN, RECLAIMED: Use.RECLAIMED}[state]
        if group is None:
            return Use.IDLE
        if worker.index in sending:
            return Use.TRANSFER
        return uses[group.run] if group.run else Use.WAITING


def best_origin(job: Job) -> tuple[State | None, Source]:
    """Where a copy placed now begins: the master's image, or a run that is as far or further."""
    furthest = furthest_state(job) if job.cloning else None
    if furthest and (job.image is None or furthest.fraction >= job.image.fraction):
        return furthest, Source.CLONE
    return (job.image, Source.IMAGE) if job.image else (None, Source.SCRATCH)


def furthest_state(job: Job) -> State | None:
    """Of its runs under way, of equals the first; None where none has done any work."""
    runs = [group.run for group in job.copies_held if group.run]
    furthest = max(runs, key=lambda run: run.done, default=None)
    return State(furthest, furthest.done) if furthest and furthest.done > 0 else None


def by_priority(jobs: list[Job], order: str) -> list[Job]:
    """First come first served, longest or shortest processing time first; ties by index."""
    if order == "FCFS":
        return sorted(jobs, key=lambda job: (job.release, job.index))
    sign = -1 if order == "LPT" else 1
    return sorted(jobs, key=lambda job: (sign * job.time, job.index))
