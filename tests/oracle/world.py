"""The six steps of an instant, and the time between two."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from math import inf
from typing import Any

from tests.oracle.deciding import best_origin, by_nodes, by_priority
from tests.oracle.dependencies import submit_followers
from tests.oracle.faults import LONGEST, Law, laws_of
from tests.oracle.jobs import ZERO, Group, Job, Message, Run
from tests.oracle.limits import allowed
from tests.oracle.outcome import Ledger, told
from tests.oracle.partitions import Cells
from tests.oracle.partitions import Parts as Shares
from tests.oracle.parts import Parts, Worker
from tests.oracle.tenths import exact
from tests.oracle.timeline import DOWN, RECLAIMED, UP, Timeline
from tests.oracle.words import Cargo, Outcome, Part, Use

COMPUTING = frozenset((Part.COMPUTING, Part.VERIFICATION, Part.FINAL))
"""What advances at the members' speed."""


MOST_INSTANTS = 3000


class Stuck(Exception):
    """Nothing can ever happen any more, and jobs are left."""


def simulate(scenario: dict[str, Any]) -> dict[str, Any]:
    """What a case expects; raises Stuck where it never ends."""
    longest, expected = LONGEST, world_of(scenario).run()
    while expected["makespan"] > longest:  # records of logs are replayed without an end
        longest *= 4
        expected = world_of(scenario | {"replayed_until": longest}).run()
    return expected


def world_of(scenario: dict[str, Any]) -> World:
    """One that has what its jobs and faults need."""
    from tests.oracle.repair import RepairWorld
    from tests.oracle.replicas import RepairedReplicas, ReplicatedWorld

    repaired = "repair" in scenario
    jobs = scenario["jobs"]
    fleet = any(job.get("replicas", 1) > 1 or job.get("standbys") for job in jobs)
    if fleet or "storage" in scenario:
        return (RepairedReplicas if repaired else ReplicatedWorld)(scenario)
    return (RepairWorld if repaired else World)(scenario)


def owned(scenario: dict[str, Any]) -> dict[str, Any]:
    """Its owners take workers DOWN in windows of maintenance, too (M2)."""
    owners = list(scenario["owner"] or [""] * scenario["workers"])
    for since, to, who in scenario.get("windows", ()):
        for q in who:
            letters = owners[q].ljust(to, UP)
            owners[q] = letters[:since] + DOWN * (to - since) + letters[to:]
    return scenario | {"owner": owners} if scenario.get("windows") else scenario


class World(Parts):
    """Workers, jobs and the master of a neutral scenario."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        scenario = owned(scenario)
        indices, master = range(scenario["workers"]), scenario["master"]
        super().__init__(
            [Worker(index, Timeline(index, scenario)) for index in indices],
            [Job(k, said, scenario) for k, said in enumerate(scenario["jobs"])],
            master["channels"] if master else None,
        )
        self.startable = self.workers[: len(self.workers) - scenario.get("spares", 0)]
        numbers, self.placement = range(len(self.startable)), scenario.get("placement")
        self.choices = scenario.get("choices")
        """Workers of each start by number, its standbys last, where chance chooses them (R9)."""
        nodes = self.placement == "nodes"
        self.nodes = {q: q // scenario["node"] for q in numbers} if nodes else None
        self.order = scenario["order"]
        self.limits = scenario.get("limits", [])
        self.ledger = Ledger(len(self.jobs))
        self.state: list[str] = []
        self.speed: list[Fraction] = []
        times = {job.earliest for job in self.jobs}
        self.laws = laws_of(scenario)
        self.windows = [
            (Fraction(a), Fraction(b), set(q)) for a, b, q in scenario.get("windows", ())
        ]
        self.cells = Cells(self, scenario)
        times = times.union(*(law.strikes for law in self.laws))
        times = times.union(*(law.wears for law in self.laws))
        times = times.union(*(worker.timeline.times for worker in self.workers))
        last = len(self.startable)
        self.uncalled = list(range(last - scenario.get("reserve", 0), last))
        """Workers of the reserve that have not been called, ascending (P11)."""
        self.delay = exact(scenario.get("reserve_delay", 0))
        self.away = set(self.uncalled)
        """Those that have not come."""
        self.coming: dict[int, Fraction] = {}
        """Who is called and has not been UP since, and when it comes."""
        self.times = sorted(t for t in times if t >= 0)
        """When something happens whatever runs do."""

    def run(self) -> dict[str, Any]:
        """Up to the last job's end."""
        for _ in range(MOST_INSTANTS):
            self.instant()
            if all(job.completion is not None for job in self.jobs):
                return told(self, self.ledger)
            self._advance(self._next_time())
        raise Stuck("it does not end")

    @property
    def priority(self) -> list[Job]:
        """All jobs, the first first."""
        return sorted(by_priority(self.jobs, self.order), key=self.cells.tier)

    # --- what is under way ---

    def _active(self) -> list[Run]:
        """Runs under way, by job, then run number."""
        runs = [group.run for job in self.jobs for group in job.copies_held if group.run]
        return sorted(runs, key=lambda run: (run.job.index, run.number))

    def _messages(self) -> list[Message]:
        """The next one of every member, by worker."""
        pending = [waiting for run in self._active() for waiting in run.pending.values()]
        return sorted((waiting[0] for waiting in pending if waiting), key=lambda it: it.worker)

    def _kept(self) -> list[Group]:
        return [group for job in self.jobs for group in job.copies_held if group.run is None]

    def _all_up(self, group: Group) -> bool:
        return all(self.state[q] == UP for q in group.counting)

    # --- an instant ---

    def instant(self) -> None:
        """The six steps, in the rules' order."""
        self._end_messages()
        for run in self._active():
            self._pass_time(run)
        self._end_final_verifications()
        for law in self.laws:
            law.wear(self.now)
        self._change_workers()
        submit_followers(self.jobs, self.now)
        self._decide()
        while submit_followers(self.jobs, self.now):
            self._decide()
        self._call()
        if self.channels is not None:
            self._deal(self.channels)

    def _pass_time(self, run: Run) -> None:
        self.pass_parts(run)

    def _end_messages(self) -> None:
        for message in self._messages():
            if message.under_way and message.left == 0 and not message.lost:
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
            over = run.part is Part.FINAL and run.left == 0
            if run.outcome is None and over and not run.still:
                if run.job.finds_error():
                    self.finish(run, Outcome.FAILED)
                else:
                    self.complete(run)

    def _change_workers(self) -> None:
        self._come()
        self.before = list(self.state) or [UP] * len(self.workers)
        self.state = self._states()
        self.speed = [worker.timeline.speed_at(self.now) for worker in self.workers]
        self._strike_all()
        for worker in self.workers:
            self._hear(worker)
        self._find_hangs()
        self._judge()
        for message in self._messages():
            if self.state[message.worker] != UP and not message.lost:
                message.stop(self.now)
        noticed = {
            q.index
            for q in self.workers
            if self.now in q.timeline.notices and self.state[q.index] != DOWN
        }
        for run in self._active():
            if noticed.intersection(run.group.counting) and not run.still:
                self.save_at_notice(run)
        self._start_kept()

    def _states(self) -> list[str]:
        states = [
            DOWN if self.now < worker.until else worker.timeline.owner_at(self.now)
            for worker in self.workers
        ]
        for q in self.away:
            states[q] = DOWN if states[q] == DOWN else RECLAIMED
        return states

    def _come(self) -> None:
        self.away -= {who for who, due in self.coming.items() if due <= self.now}

    def _call(self) -> None:
        """The next of the reserve, for the first job that waits with too few workers (P11); for the
        first of each, where their partitions share nobody."""
        for who, due in list(self.coming.items()):
            late = due <= self.now and self.state[who] == DOWN
            if late or self.state[who] == UP:
                del self.coming[who]
        waiting = [it for it in self.priority if it.release <= self.now]
        waiting = [it for it in waiting if it.completion is None and not it.copies_held]
        # A job above a limit is out of the queue.
        waiting = [it for it in waiting if allowed(self.jobs, it, self.limits)]
        for k, job in enumerate(waiting):
            if not any(self.cells.share(job, before) for before in waiting[:k]):
                self._call_for(job)

    def _call_for(self, job: Job) -> None:
        mine = self.cells.mine(job)
        if mine.intersection(self.coming):
            return
        ready = [q for q in self.uncalled if self.state[q] != DOWN and q in mine]
        wanted = job.processors + (job.standbys if job.called else 0)
        free = [q for q in self._free(self.startable) if q in mine]
        if job.exclusive:
            free = self.cells.whole(free)
        if ready and len(free) < wanted:
            self.uncalled.remove(ready[0])
            self.coming[ready[0]] = self.now + self.delay
            job.called = True

    def _strike_all(self) -> None:
        """Owners first, then the laws, as they are listed, each by unit."""
        for worker in self.workers:
            if self.now in worker.timeline.taken and self.before[worker.index] != DOWN:
                self._go_down(worker, self.now)
        for law in self.laws:
            struck = [
                (it, downtime)
                for unit, downtime in law.due(self.now)
                for it in (unit, *law.spreads(unit))
            ]
            # Of several hangs of a run at one instant that of the lowest worker counts.
            for unit, downtime in sorted(struck) if law.hang else struck:
                self._strike(law, unit, downtime)
        for worker in self.workers:
            owner = worker.timeline.owner_at(self.now)
            if worker.group is None or owner == DOWN or self.state[worker.index] == UP:
                worker.heard = min(worker.heard, self.now)

    def _strike(self, law: Law, unit: int, downtime: Fraction) -> None:
        """A fault changes nothing of who is DOWN without those of this instant; one that meets the
        end of a DOWN makes that longer. Of several at one instant the longest DOWN counts, and what
        is heard first."""
        for q in law.workers(unit, len(self.workers)):
            worker = self.workers[q]
            if law.hang:
                self._hang(law, q)
            elif self.state[q] != DOWN or worker.struck == self.now:
                worker.until, worker.struck = max(worker.until, self.now + downtime), self.now
                worker.mended = worker.until
                heard = self.now + law.detection
                if self.before[q] == DOWN:
                    worker.heard = min(worker.heard, heard)
                else:
                    self._fall(worker, heard)
                if downtime:
                    self.state[q] = DOWN

    def _fall(self, worker: Worker, heard: Fraction) -> None:
        if worker.down_since == self.now:
            worker.heard = min(worker.heard, heard)
        self._go_down(worker, heard)

    def _go_down(self, worker: Worker, heard: Fraction) -> None:
        """DOWN empties its memory; its run waits, until somebody hears of it."""
        worker.programs.clear()
        if worker.down_since is None:
            worker.down_since, worker.heard, worker.first_heard = self.now, heard, heard
        else:
            worker.heard = heard if worker.heard < self.now else min(worker.heard, heard)
        group = worker.group
        if group is None:
            return
        group.data[worker.index] = 0
        if group.hit(worker.index):
            group.checkpoint = None
        if group.run:
            group.run.blind = group.run.blind or worker.index in group.counting
            for message in group.run.pending[worker.index][:1]:
                message.lost = message.under_way

    def _hang(self, law: Law, q: int) -> None:
        """The run of an UP member hangs; a further hang changes nothing (F6), nor does one of whom
        an earlier law has struck at this instant."""
        worker = self.workers[q]
        group, up = worker.group, self.state[q] == UP and worker.struck != self.now
        run = group.run if group and up else None
        if run and run.found is None and q in run.group.counting:
            run.found, run.hanging = self.now + law.detection, q

    def _find_hangs(self) -> None:
        """Those that are detected now end their runs."""
        for run in self._active():
            if run.found is not None and run.found <= self.now:
                assert run.hanging is not None
                self._lose(run, run.hanging)

    def _lose(self, run: Run, member: int) -> None:
        """A fault or a hang of a member is known."""
        self.finish(run, Outcome.LOST)

    def _judge(self) -> None:
        """What is left of runs is known now."""

    def _know(self) -> None:
        """Faults of whom nobody holds are known."""

    def _hear(self, worker: Worker) -> None:
        """That it went DOWN; if it is UP again, that is all."""
        known = worker.down_since is not None and worker.heard <= self.now
        if known and worker.group and worker.group.run:
            self._lose(worker.group.run, worker.index)
        if self.state[worker.index] == UP:
            worker.down_since = None

    def _start_kept(self) -> None:
        """All whose members are UP."""
        for group in self._kept():
            if self._all_up(group):
                self.start_kept(group)

    def _decide(self) -> None:
        """First who is gone is replaced; one run for each waiting job; then further copies."""
        for worker in self.workers:
            if worker.group and self._replaced_at(worker) <= self.now:
                self._replace(worker, worker.group)
        self._join()
        self._start_kept()
        waiting = [it for it in self.priority if it.release <= self.now]
        waiting = [it for it in waiting if it.completion is None and not it.copies_held]
        for job, parts in self.cells.decide(waiting):
            self._place(job, parts)
        for job in self.priority:
            while job.copies_held and len(job.copies_held) < job.copies:
                if not self._place(job):
                    break

    def _replaced_at(self, worker: Worker) -> float | Fraction:
        """When it may be, if it is not UP before."""
        after = worker.group.job.replace_after if worker.group else None
        if after is None or worker.down_since is None:
            return inf
        return max(worker.down_since + after, min(worker.first_heard, worker.heard))

    def _replace(self, gone: Worker, group: Group) -> None:
        """By the lowest free spare, else the lowest other of the partition."""
        free = self._free(self.workers)
        spares = [q for q in free if q >= len(self.startable)]
        mine = self.cells.mine(group.job)
        for q in [*spares, *(q for q in free if q in mine)][:1]:
            self._exchange(gone, self.workers[q], group)

    def _exchange(self, gone: Worker, newcomer: Worker, group: Group) -> None:
        group.replace(gone.index, newcomer.index)
        gone.group, newcomer.group = None, group

    def _join(self) -> None:
        """Workers that are back may become standbys."""

    def _free(self, workers: list[Worker]) -> list[int]:
        unheld = (w for w in workers if w.group is None and w.rest_of is None)
        return [w.index for w in unheld if self.state[w.index] == UP]

    def _place(self, job: Job, parts: Shares | None = None) -> bool:
        """A copy, if enough workers are free; with so many workers of each cell, where that is
        decided."""
        free = [q for q in self._free(self.startable) if q in self.cells.mine(job)]
        clear = [q for q in free if not self._taken(q, job)]
        if len(clear) < job.processors or not self._enough(job, len(free)):
            return False
        if job.exclusive and parts is None:
            free = clear = self.cells.whole(clear)
        if not allowed(self.jobs, job, self.limits) or len(clear) < job.processors:
            return False
        chosen = self._chosen(job, parts, clear, free)
        origin, source = best_origin(job)
        group = Group(job, sorted(chosen[: job.processors]), sorted(chosen[job.processors :]))
        job.called = False
        if job.exclusive:
            group.rest = self.cells.rest(chosen)
        for q in chosen:
            self.workers[q].group = group
        for q in group.rest:
            self.workers[q].rest_of = group
        job.copies_held.append(group)
        self.cells.started(group)
        self.start(group, origin, source)
        return True

    def _chosen(
        self, job: Job, parts: Shares | None, clear: list[int], free: list[int]
    ) -> list[int]:
        """Members, then standbys: so many of each cell, or by one choice."""
        if job.exclusive and parts is None:
            chosen = self.cells.fill(clear, job.processors)
        elif parts is None:
            chosen = self._choose(clear, free, job.processors, job.standbys)
        else:
            its = [q for q in clear if self.cells.of[q] in parts]
            chosen = self._choose(its, free, job.processors, job.standbys, parts)
        if self.choices is not None:
            drawn = self.choices.get((job.index, job.numbered), [])
            if set(drawn[: job.processors]) <= set(clear) and set(drawn) <= set(free):
                chosen = drawn if len(drawn) == len(chosen) else chosen
        return chosen

    def _enough(self, job: Job, free: int) -> bool:
        """Whether a job that may start need not wait for standbys."""
        return True

    def _choose(
        self, clear: list[int], free: list[int], count: int, more: int, parts: Shares | None = None
    ) -> list[int]:
        """So many members of these that are clear, and then up to so many standbys of all that are
        free: the last of one choice, but of two where members may not be of all these, or are so
        many of each cell."""
        more = min(more, len(free) - count)
        if clear == free and (parts is None or len(parts) == 1):
            return self.in_order(free, count + more)
        chosen = self.cells.choose(clear, parts, count) if parts else self.in_order(clear, count)
        return chosen + self.in_order([q for q in free if q not in chosen], more)

    def in_order(self, free: list[int], count: int) -> list[int]:
        """So many of them, in the placement's order."""
        if self.nodes is not None:
            return by_nodes(free, count, self.nodes)
        return sorted(free, key=lambda q: (self._badness(q), q))[:count]

    def _badness(self, q: int) -> Fraction:
        """Workers have a record where they are repaired (R9)."""
        return ZERO

    def _taken(self, q: int, job: Job) -> bool:
        """Whether a window takes this worker before the job's end, if it starts now (M2)."""
        if not self.windows:
            return False
        end = self.now + job.select + job.startup + job.time + job.verification
        return any(q in who and since < end and self.now < to for since, to, who in self.windows)

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
        if run.part in (Part.MESSAGES, Part.CHECKPOINT) or not self._goes_on(run):
            return ZERO
        if run.part not in COMPUTING:
            return Fraction(1)
        speed = min(self.speed[q] for q in run.group.counting)
        return speed * (1 - run.job.slowdown) if run.saving else speed

    def _saving_rate(self, run: Run) -> Fraction:
        return Fraction(self._goes_on(run))

    def _goes_on(self, run: Run) -> bool:
        return self._all_up(run.group) and not run.still

    def _next_time(self) -> Fraction:
        times = [*self._fixed(), *self._ends()]
        if not times:
            left = [job.index for job in self.jobs if job.completion is None]
            raise Stuck(f"job(s) {left} at {self.now}")
        return min(times)

    def _fixed(self) -> list[Fraction]:
        replaced = [self._replaced_at(worker) for worker in self.workers]
        found = [run.found for run in self._active() if run.found is not None]
        found += self.coming.values()
        found += [job.release for job in self.jobs]
        for worker in self.workers:
            found += [worker.until, worker.heard]
        for law in self.laws:
            found += [self.now + law.gaps[unit][0] for unit in self._worn(law)]
        others = [Fraction(t) for t in [*replaced, *found] if self.now < t < inf]
        place = bisect_right(self.times, self.now)
        return [*self.times[place : place + 1], *others]

    @property
    def mended(self) -> set[int]:
        """Who is UP as the downtime of the fault that took it DOWN is over."""
        return {it.index for it in self.workers if it.mended == self.now} - {
            q for q, state in enumerate(self.state) if state != UP
        }

    def _left(self) -> list[int]:
        """Workers that start jobs and have not retired."""
        return [it.index for it in self.startable]

    def _worn(self, law: Law) -> list[int]:
        """Units of which a worker computes, so that the time to their next fault passes (F4)."""
        if not law.gaps:
            return []
        computing = {q for run in self._active() if self._computes(run) for q in run.group.counting}
        workers = len(self.workers)
        return [unit for unit in law.gaps if computing.intersection(law.workers(unit, workers))]

    def _computes(self, run: Run) -> bool:
        return run.part is Part.COMPUTING and run.to_do > 0 and self._rate(run) > 0

    def _ends(self) -> Iterator[Fraction]:
        """Of messages and parts, if nothing happens before."""
        for message in self._messages():
            if message.under_way and not message.lost:
                yield self.now + message.left
        for run in self._active():
            rate = self._rate(run)
            if rate > 0 and run.to_do > 0:
                yield self.now + run.to_do / rate
            rate = self._saving_rate(run)
            if rate > 0 and run.to_save > 0:
                yield self.now + run.to_save / rate

    def _advance(self, then: Fraction) -> None:
        time = then - self.now
        for law in self.laws:
            for unit in self._worn(law):
                law.gaps[unit][0] -= time
        rates = {
            run: (self._rate(run), self._saving_rate(run), self._goes_on(run))
            for run in self._active()
        }
        uses = {run: run.advance(*about, time) for run, about in rates.items()}
        sending = {message.worker for message in self._messages() if message.under_way}
        for message in self._messages():
            if message.under_way:
                message.left -= time
        for worker in self.workers:
            holder = worker.group or worker.rest_of
            job = holder and holder.job.index
            self.ledger.spend(job, self._use(worker, sending, uses), time)
        self.now = then

    def _use(self, worker: Worker, sending: set[int], uses: dict[Run, Use | None]) -> Use | None:
        """The first that fits; None for computing."""
        state, group = self.state[worker.index], worker.group
        if state != UP:
            return {DOWN: Use.DOWN, RECLAIMED: Use.RECLAIMED}[state]
        if group is None:
            return Use.IDLE
        member = worker.index in group.members
        use = uses[group.run] if group.run and member else Use.WAITING
        return Use.TRANSFER if use is Use.WAITING and worker.index in sending else use
