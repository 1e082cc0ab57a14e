"""A pack's decisions and expectations: who is resized, whose workers are promised to others, when
applications are expected to end (malleable17)."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from math import inf

from attrs import define, evolve, field, frozen

from actors.events import (
    EndExpected,
    FaultIgnored,
    MembersChanged,
    MembersJoined,
    MembersPromised,
    Outcome,
    RedistributionDecided,
    Stage,
    WhyIgnored,
)
from policies.availability import WorkerState
from policies.interface.pack import Cause
from policies.maths.cosched import Costs
from sims.audit import copies, link, rules, runs
from sims.audit.deciding import Decider
from sims.audit.facts import Copy, Job, Phase, Run, Script, Teller, Worker
from sims.audit.intervals import joined, numbers
from sims.audit.law import Broken, Causes, Law, must, same, told
from sims.audit.rules import Plan
from sims.audit.world import World, spans_told
from sims.scenario.deciders.applications import checkpointing, costs_of, saving

UP, DOWN = WorkerState.UP, WorkerState.DOWN
CANCELLED = Outcome.CANCELLED


@frozen
class Standing:
    """Where a copy stands, as its job said last (section 3.3.2)."""

    size: int
    since: float
    """t_lastR; inf: not known."""
    left: float
    expected: float
    end: float
    """When it ends if no fault comes."""
    moving: bool
    speed: float


@define(eq=False)
class Pack(Decider):
    """Applications among which workers are redistributed."""

    known: dict[str, Costs] = field(factory=dict)
    indices: set[int] = field(factory=set)
    standing: dict[Copy, Standing] = field(factory=dict)
    over: dict[str, int] = field(factory=dict)
    """Jobs that completed at this instant -> seq of their runs' end."""
    released: bool = False
    """Whether it has been found out at this instant who promises its workers."""
    left: list[Copy] = field(factory=list)
    """Copies that ended at this instant."""
    struck: dict[Copy, int] = field(factory=dict)
    """Copies of which a member went DOWN at this instant -> seq."""
    heirs: dict[str, int] = field(factory=dict)
    """Jobs whose oldest copy ended at this instant -> seq of that."""
    decided: list[int] = field(factory=list)
    resizing: set[str] = field(factory=set)
    excused: list[str] = field(factory=list)
    """Jobs whose fault was ignored because of another of this instant."""
    leaving: set[int] = field(factory=set)
    """Workers that had been promised, of copies that ended at this instant."""
    paced_ever: bool = False
    """Whether checkpoints change expectations, as speeds vary."""

    def renew(self) -> None:
        if self.at != self.w.now:
            for copy in self.left:
                self.standing.pop(copy, None)
            self.left.clear()
            self.released = False
            for instant in (self.over, self.struck, self.heirs, self.decided, self.leaving):
                instant.clear()
        super().renew()

    # --- applications -------------------------------------------------------------------------

    def describe(self, w: World, job: Job) -> None:
        """What its times are."""
        event, rules_, pack = job.application, job.protection, w.pack
        assert event is not None and rules_ is not None and pack is not None
        assert w.started is not None
        image = job.messages.image if job.messages is not None else None
        try:
            expects = checkpointing(pack, event, rules_.kind, saving(rules_, image))
            self.known[job.name] = it = costs_of(pack, event, expects, w.started.processors)
        except (ValueError, ArithmeticError, AssertionError) as wrong:
            raise Broken(Law.INPUT, f"{told(event)}: {wrong}") from None
        alone = costs_of(evolve(pack, pair=1), event, None, 1).times[0]
        sound = event.index is not None and event.index not in self.indices and it.times
        must(sound and same(alone, job.described.work), Law.INPUT, "{}: {!r}", event, alone)
        self.indices.add(event.index or 0)
        w.reporters[job.name] = Teller()

    def costs(self, job: Job) -> Costs:
        """What its runs cost, as malleable17's model says."""
        return self.known[job.name]

    # --- when they are expected to end --------------------------------------------------------

    def report(self, copy: Copy, cause: int) -> None:
        """A job says where a copy stands; that is told where it is another place than before, and
        the copy the oldest."""
        if copy.gone:
            return
        run = copy.run
        if run is None:
            plan = rules.resumed(self.w, copy)
            done = plan.begins.fraction if plan.begins is not None else 0
            self._say(copy, None, rules.ahead(self.w, copy, plan), 1 - done, cause)
            return
        now, left = self.w.now, 1 - run.base / run.work
        if run.stage in (Stage.STAGING_IN, Stage.SAVING) or not run.rate:
            self._say(copy, inf, (), left, cause)
        elif run.stage is Stage.COMPUTING:
            self._say(copy, now - run.at(now) / run.rate, (), left, cause)
        else:
            last = run.computes or run.stage is Stage.CHECKPOINTING
            self._say(copy, run.end(), () if last else run.ahead, left, cause)

    def checkpointed(self, run: Run) -> None:
        """Where periods are not all alike, the next one is told of."""
        assert run.copy.job.protection is not None
        where = run.copy, self.w.now, (), 1 - run.base / run.work, run.cause
        if run.copy.job.protection.verified or self.paced_ever or self.w.sped:
            self._say(*where)
        else:
            self.w.untold[run.copy.job.name] = partial(self._say, *where)

    def expect(self, event: EndExpected, seq: int) -> Script | None:
        """The first of those that nothing but varying speeds explains, of which nothing has been
        told before."""
        say = self.w.untold.pop(event.job, None)
        found = self.w.told_now(self.w.reporters[event.job])
        if found is None and say is not None:
            self.paced_ever = True
            say()
            found = self.w.told_now(self.w.reporters[event.job])
        return found

    def _say(
        self, copy: Copy, start: float | None, parts: tuple[float, ...], left: float, cause: int
    ) -> None:
        pace = copy.holders != copy.full, self.w.speed(copy)
        leads = copy.job.copies[0] is copy
        make = partial(self._note, copy, start, parts, left, *pace, leads, cause)
        # It is heard of once all workers have changed state.
        phase = Phase.RESUME if self.w.phase == Phase.STATES else self.w.phase
        self.w.push(self.w.reporters[copy.job.name], phase, runs.LATER, make)

    def _note(
        self,
        copy: Copy,
        start: float | None,
        parts: tuple[float, ...],
        left: float,
        moving: bool,
        speed: float,
        leads: bool,
        cause: int,
    ) -> Script | None:
        since = self._back(copy) if start is None else start
        for part in parts:
            since += part
        costs, size = self.known[copy.job.name], copy.full
        known = since < inf and speed > 0
        stands = Standing(
            *(size, since if known else inf, left),
            since + costs.expected(size, left) / speed if known else inf,
            since + costs.duration(size, left) / speed if known else inf,
            moving,
            speed,
        )
        if stands == self.standing.get(copy):
            return None
        self.standing[copy] = stands
        if not leads:
            return None
        self.heirs.pop(copy.job.name, None)
        return self._told(copy, cause)

    def _told(self, copy: Copy, cause: int) -> Script:
        it = self.standing[copy]
        known = (it.since, it.expected) if it.since < inf else (None, None)
        yield EndExpected(copy.job.name, it.size, it.left, *known), cause

    def _back(self, copy: Copy) -> float:
        """When all its members are expected to be UP."""
        workers = (self.w.workers.get(n) for n in copy.members)
        away = [it.until for it in workers if it is not None and it.state is not UP]
        return max((inf if it is None else it for it in away), default=self.w.now)

    def _inherit(self, name: str) -> Script | None:
        """The next copy is the oldest now: its last report counts, and is told again."""
        job, cause = self.w.jobs.get(name), self.heirs.pop(name, None)
        if job is None or cause is None or not job.copies or job.copies[0] not in self.standing:
            return None
        return self._told(job.copies[0], cause)

    # --- what it hears of ---------------------------------------------------------------------

    def freed(self, w: World, copy: Copy, seq: int) -> None:
        super().freed(w, copy, seq)
        if copy.promised:
            self.leaving.update(copy.members)

    def ended(self, w: World, copy: Copy, outcome: Outcome, seq: int, gone: bool) -> None:
        name = copy.job.name
        led = not copy.job.copies or copy.placed < copy.job.copies[0].placed
        self.left.append(copy)
        self.struck.pop(copy, None)
        if gone:
            self.over[name] = seq
            self.heirs.pop(name, None)
        elif led and outcome is not CANCELLED:
            self.heirs[name] = seq
            w.push(w.reporters[name], Phase.RESUME, 2 * runs.LATER, partial(self._inherit, name))

    def turned(self, w: World, worker: Worker, copy: Copy | None, seq: int) -> None:
        super().turned(w, worker, copy, seq)
        if worker.state is DOWN and copy is not None:
            self.struck[copy] = seq

    # --- faults that change nothing -----------------------------------------------------------

    def _ignored(self, worker: int) -> tuple[str | None, WhyIgnored] | None:
        """Of a fault now: whose it is, and why it changes nothing; None: it counts."""
        copy = self.w.holder(worker)
        stands = self.standing.get(copy) if copy is not None else None
        if copy is None or stands is None or copy.promised:
            return None, WhyIgnored.IDLE
        if self.w.end < stands.since or copy in self.struck:
            return copy.job.name, WhyIgnored.BUSY
        return None

    def strikes(self, w: World, worker: Worker) -> None:
        assert w.pack is not None
        self.renew()
        if not w.pack.fatal and self._ignored(worker.number) is not None:
            raise Broken(Law.FOLLOWS, f"a fault of worker {worker.number} changes nothing now")

    def ignore(self, event: FaultIgnored, seq: int) -> Script:
        """malleable17's own rule (section 6.1)."""
        assert self.w.pack is not None
        self.renew()
        must(not self.w.pack.fatal, Law.FOLLOWS, "{}, and every fault counts", event)
        self.w.worker(event.worker)
        due, copy = self._ignored(event.worker), self.w.holder(event.worker)
        if copy is not None and copy.promised:
            due = event.job, event.why  # whoever was given it is not told
        elif due is None and copy is not None:
            due = copy.job.name, WhyIgnored.BUSY
            self.excused.append(copy.job.name)
        assert due is not None
        yield FaultIgnored(event.worker, *due), 0

    # --- what it decides ----------------------------------------------------------------------

    def otherwise(self, job: Job, copy: Copy) -> Causes:
        return [*self.news, *self.decided] or {0, job.wanted}

    def placing(self, w: World, copy: Copy, event: object) -> None:
        assert w.pack is not None
        self.renew()
        size = copy.full
        whole = size % w.pack.pair == 0 and size <= self.known[copy.job.name].most
        must(
            whole,
            Law.DECISION,
            "{} gets {} workers, in groups of {}",
            copy.job.name,
            size,
            w.pack.pair,
        )
        if not self._promised() and w.free.count >= size:
            lowest = w.free.lowest(size)
            must(
                lowest == copy.spans,
                Law.DECISION,
                "{} gets {}, not {}",
                copy.job.name,
                copy.text,
                lowest,
            )

    def _promised(self) -> list[Copy]:
        return [it for it in self.standing if it.promised and not it.gone]

    def _lacked(self) -> int:
        return sum(it.lacking for job in self.w.jobs.values() for it in job.copies)

    def decide(self, event: RedistributionDecided, seq: int) -> Script:
        """Sizes change."""
        self.renew()
        w, pack = self.w, self.w.pack
        w.decides()
        assert pack is not None
        causes = self._causes(event)
        must(causes and event.moves, Law.DECISION, "{} answers nothing of now", event)
        more = 0
        resized: list[tuple[Copy, int]] = []
        for name, before, after in event.moves:
            job = w.jobs.get(name)
            copy = job.copies[0] if job is not None and job.copies else None
            fits = after >= pack.pair and after % pack.pair == 0
            if copy is None or copy.full != before or not fits or after > self.known[name].most:
                raise Broken(Law.DECISION, f"{told(event)}: {name} cannot go from {before}")
            must(name not in self.resizing, Law.DECISION, "{}: {} twice", event, name)
            self.resizing.add(name)
            more += after - before
            resized.append((copy, after))
        self.resizing.clear()
        if event.why is Cause.FAULT:
            self._release()
        idle = w.free.count + sum(it.full for it in self._promised()) - self._lacked()
        must(more <= idle, Law.DECISION, "{}: {} more, and {} are idle", event, more, idle)
        yield event, causes
        self.decided.append(seq)
        for copy, after in sorted(resized, key=lambda it: it[1] >= it[0].full):
            if after != copy.full:
                turn = self._resized(copy, after, seq)
                w.push(copy.job, Phase.DECISION, 0, partial(_same, turn))

    def _causes(self, event: RedistributionDecided) -> Collection[int]:
        if event.why is Cause.FAULT:
            return [seq for it, seq in self.struck.items() if it.job.name == event.job]
        if event.job is None:
            return [] if self.over else self.news
        return [self.over[event.job]] if event.job in self.over else []

    def _resized(self, copy: Copy, after: int, cause: int) -> Script:
        """Its run ends, and the next begins at once, from its running state; or, where it waits for
        its members, they are others now."""
        w, job, run, size = self.w, copy.job, copy.run, copy.full
        if run is None:
            yield from self._fill(copy, after, cause)
            copy.cause = yield MembersChanged(job.name, copy.last, copy.text), cause
            self.report(copy, copy.cause)
            copies.resume_soon(w, copy)
            return
        computes, state = run.computes, None
        if computes:
            if run.stage is Stage.CHECKPOINTING:
                # Read literally, the part of a checkpoint that has passed counts as work.
                run.base = min(run.base + run.at(w.now), run.work)
            state = run.state(w.now)
        cause = yield runs.end(w, run, CANCELLED), cause
        yield from self._fill(copy, after, cause)
        if computes:
            copy.holders = size
            plan = rules.moved(w, copy, Plan(state))
        else:
            plan = rules.resumed(w, copy)
        yield from runs.course(w, copy, plan, cause, spread=computes and not plan.closes)

    def _fill(self, copy: Copy, after: int, cause: int) -> Script:
        """It gets other members: the lowest of those that are free, or all but its highest; where
        workers are promised, the log tells which it has."""
        w, had = self.w, set(copy.members)
        if copy.lacking or self._promised():
            event = yield None
            spans = spans_told(getattr(event, "processors", ""))
        elif after < copy.full:
            # Who is not UP stays: nobody else could use it.
            spans = joined(sorted(had, key=lambda n: (w.is_up(n), n))[:after])
        else:
            spans = joined((*had, *numbers(w.free.lowest(after - copy.full))))
        has = set(numbers(spans))
        w.give(copy, joined(had - has))
        w.take(copy, joined(has - had))
        copy.change(spans, after)
        promised = sum(it.full for it in self._promised())
        must(0 <= copy.lacking <= promised, Law.DECISION, "{} has {}", copy.job.name, copy.text)
        left = had - has
        copy.absent -= left
        copy.failed -= left
        w.pace(copy)
        link.leave(w, copy, cause, False, sorted(left))
        link.leave(w, copy, cause, True, sorted(had - left))

    # --- workers that are promised ------------------------------------------------------------

    def promise(self, event: MembersPromised, seq: int) -> Script | None:
        """Where nobody is resized."""
        self.w.decides()
        self.renew()
        self._release()
        job = self.w.jobs.get(event.job)
        return None if job is None else self.w.told_now(job)

    def _release(self) -> None:
        """Who ends before the struck one computes again promises its workers (section 5)."""
        pack, self.released = self.w.pack, True
        late = [it for it in self.struck if it in self.standing]
        late = [it for it in late if self.standing[it].since < inf and it.job.copies[0] is it]
        if not late or pack is None or not pack.releases:
            return
        latest = max(late, key=lambda it: self.standing[it].since)
        for job in sorted(self.w.jobs.values(), key=_index):
            copy = job.copies[0] if job.copies else None
            stands = self.standing.get(copy) if copy is not None else None
            if copy is None or stands is None or copy.promised or copy in self.struck:
                continue
            if stands.end < self.standing[latest].since:
                copy.promised = True
                turn = self._promised_by(copy, self.struck[latest])
                self.w.push(job, Phase.DECISION, 0, partial(_same, turn))

    def _promised_by(self, copy: Copy, cause: int) -> Script:
        yield MembersPromised(copy.job.name, copy.last, copy.text), cause

    def join(self, event: MembersJoined, seq: int) -> Script:
        """Workers that had been promised have come."""
        job = self.w.jobs.get(event.job)
        found = [it for it in job.copies if it.last == event.run] if job is not None else []
        spans = spans_told(event.processors)
        came = numbers(spans)
        able = found and len(came) <= found[0].lacking and self.leaving.issuperset(came)
        must(able, Law.FOLLOWS, "{} were not promised to it, or have not come", event)
        yield event, [it for it, _ in self.freeing]
        copy = found[0]
        self.w.take(copy, spans)
        copy.change(joined((*copy.members, *came)), copy.full)
        self.leaving.difference_update(came)

    def close(self) -> None:
        if self.at == self.w.now:
            assert self.w.started is not None
            if self.struck and not (self.over or self.released) and _acts(self.w.started.policy):
                self._release()
                self.w.settle(Phase.DECISION + 1)
            for name in self.excused:
                known = any(it.job.name == name for it in self.struck) or name not in self.w.jobs
                must(known, Law.FOLLOWS, "a fault of {} is ignored, and it computes", name)
        self.excused.clear()
        if self.leaving:
            promised = sum(it.full for it in self._promised())
            must(self._lacked() <= promised, Law.MISSING, "workers that were promised must come")


def _index(job: Job) -> int:
    return (job.application.index if job.application is not None else None) or 0


def _acts(policy: str) -> bool:
    """Whether a policy of this name redistributes at faults; of a user's nothing is known."""
    return "-" in policy and ":" not in policy


def _same(script: Script) -> Script:
    return script
