"""Checks a pack's decisions: which applications are resized, and which promise their workers to
others (malleable17)."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from math import inf

from attrs import Factory, define, field

from actors.events import (
    EndExpected,
    FaultIgnored,
    MembersChanged,
    MembersJoined,
    MembersPromised,
    Outcome,
    RedistributionDecided,
    RunStarted,
    Stage,
    WhyIgnored,
)
from actors.runtime import Event
from policies.availability import WorkerState
from policies.interface.pack import Cause
from sims.audit import link, runs, stages
from sims.audit.deciding import DecisionChecks
from sims.audit.expectations import Expectations
from sims.audit.facts import ExpectedCopy, ExpectedJob, ExpectedRun
from sims.audit.law import Broken, Causes, Law, LinePhase, allowed, comes, follows, only
from sims.audit.protection import protection
from sims.audit.protection.protection import ExpectedPlan
from sims.audit.turns import Script
from sims.audit.workers import DOWN, ExpectedWorker, joined, numbers, parse_spans
from sims.audit.world import Handler, PartRules, World

CANCELLED = Outcome.CANCELLED


@define(eq=False)
class PackChecks(DecisionChecks):
    """Checks decisions that redistribute workers among the applications of a pack: malleable ones
    that share the platform (malleable17)."""

    expectations: Expectations = field(init=False)
    """Progress that the applications report, by which the policy decides."""
    over: dict[str, int] = Factory(dict)
    """Maps jobs that completed at this instant to the event that ended their run."""
    released: bool = False
    """Whether the applications that promise their workers have been determined at this instant."""
    left: list[ExpectedCopy] = Factory(list)
    """Copies that ended at this instant."""
    faulty: dict[ExpectedCopy, int] = Factory(dict)
    """Maps copies of which a member went DOWN at this instant to the event of the member's
    change."""
    ignored: list[str] = Factory(list)
    """Jobs of which a fault was ignored at this instant though only another fault of the instant
    can justify that; `close` checks that there was one."""
    leaving: set[int] = Factory(set)
    """Workers that had been promised, of copies that ended at this instant."""

    def __attrs_post_init__(self) -> None:
        self.expectations = Expectations(self.w)

    def line_handlers(self) -> dict[type[Event], Handler]:
        return {
            EndExpected: self.expectations.expect,
            FaultIgnored: self.ignore,
            MembersJoined: self.join,
            MembersPromised: self.promise,
            RedistributionDecided: self.decide,
        }

    def clear(self) -> None:
        super().clear()
        self.expectations.clear(self.left)
        self.released = False
        for it in (self.left, self.over, self.faulty, self.leaving, self.ignored):
            it.clear()

    # --- notifications ---------------------------------------------------------------------------

    def describe(self, job: ExpectedJob) -> None:
        """Note that an application has been described."""
        self.expectations.describe(job)

    def report(self, copy: ExpectedCopy, cause: int) -> None:
        self.expectations.report(copy, cause)

    def checkpointed(self, run: ExpectedRun, cause: int) -> None:
        self.expectations.checkpointed(run, cause)

    def freed(self, copy: ExpectedCopy, seq: int) -> None:
        super().freed(copy, seq)
        if copy.promised:
            self.leaving.update(copy.members)

    def ended(self, copy: ExpectedCopy, outcome: Outcome, seq: int, gone: bool) -> None:
        name = copy.job.name
        led = not copy.job.copies or copy.placed < copy.job.copies[0].placed
        self.left.append(copy)
        self.faulty.pop(copy, None)
        if gone:
            self.over[name] = seq
            self.expectations.successors.pop(name, None)
        elif led and outcome is not CANCELLED:
            self.expectations.oldest_ended(name, seq)

    def state_changed(
        self, worker: int, state: WorkerState, copy: ExpectedCopy | None, seq: int
    ) -> None:
        super().state_changed(worker, state, copy, seq)
        if state is DOWN and copy is not None:
            self.faulty[copy] = seq

    def _ignored(self, worker: int) -> tuple[str | None, WhyIgnored] | None:
        """Return (job that a fault of this worker would hit, reason why the fault changes nothing),
        by malleable17's own rule (section 6.1); None if the fault counts. The job is None for an
        idle worker."""
        copy = self.w.holdings.holder(worker)
        progress = self.expectations.progress.get(copy) if copy is not None else None
        if copy is None or progress is None or copy.promised:
            return None, WhyIgnored.IDLE
        if self.w.turns.end < progress.since or copy in self.faulty:
            return copy.job.name, WhyIgnored.BUSY
        return None

    def check_fault(self, worker: ExpectedWorker) -> None:
        counts = self.w.pack.fatal or self._ignored(worker.number) is None
        copy, taking = self.w.holdings.holder(worker.number), self.w.parts[PartRules.takes]
        if copy in self.faulty:
            # A worker that is taken has no fault: no application is busy with it at this instant.
            counts = counts or any(it.takes(n) for it in taking for n in copy.members)
        follows(counts, "a fault of this worker changes nothing now")

    def ignore(self, w: World, event: FaultIgnored) -> Script:
        """Check the line that says that a fault is ignored, by malleable17's own rule: it strikes
        an idle worker, or an application that is still busy with a fault or redistribution (section
        6.1)."""
        follows(not self.w.pack.fatal, "every fault counts")
        self.w.worker(event.worker)
        due, copy = self._ignored(event.worker), self.w.holdings.holder(event.worker)
        if copy is not None and copy.promised:
            due = event.job, event.why  # the log does not say to which job it is promised
        elif due is None and copy is not None:
            due = copy.job.name, WhyIgnored.BUSY
            self.ignored.append(copy.job.name)
        assert due is not None
        yield FaultIgnored(event.worker, *due), w.brought(event)

    def other_causes(self, job: ExpectedJob, copy: ExpectedCopy) -> Causes:
        return [*self.triggers, *self.decided] or {0, job.wanted}

    def placing(self, copy: ExpectedCopy, event: RunStarted) -> None:
        w = self.w
        # Members that are promised and have not come are not named.
        size = copy.holders = self.expectations.size(copy, event.work, self._due())
        copy.change(copy.spans, size)
        whole = size > 0 and size % w.pack.pair == 0 and size <= copy.job.costs.most
        allowed(whole, f"{copy.job.name} gets {size} workers, in groups of {w.pack.pair}")
        # Where workers are promised, the log alone says which of them a copy gets.
        if not self._promised() and w.free.count >= size:
            lowest = w.free.lowest(size)
            allowed(lowest == copy.spans, f"{copy.job.name} gets {copy.text}: {lowest}")

    def _promised(self) -> list[ExpectedCopy]:
        return [it for it in self.expectations.progress if it.promised and not it.gone]

    def _due(self) -> int:
        """Return the number of workers that applications have promised and that no other
        application counts among its members yet."""
        lacked = sum(it.lacking for job in self.w.jobs.values() for it in job.copies)
        return sum(it.full for it in self._promised()) - lacked

    def decide(self, w: World, event: RedistributionDecided) -> Script:
        """Check the line of a decision that changes the sizes of applications, and let each change
        its size."""
        pack = w.pack
        w.turns.decides()
        causes = self._causes(event)
        allowed(causes and event.moves, "it answers nothing of now")
        more = 0
        resized: list[tuple[ExpectedCopy, int]] = []
        for name, before, after in event.moves:
            copy = next(iter(w.copies(name)), None)
            fits = after >= pack.pair and after % pack.pair == 0
            if copy is None or copy.full != before or not fits or after > copy.job.costs.most:
                raise Broken(Law.DECISION, f"{name} cannot go from {before}")
            more += after - before
            resized.append((copy, after))
        allowed(len(dict(resized)) == len(resized), "one is resized twice")
        if event.why is Cause.FAULT:
            self._release()
        idle = w.free.count + self._due()
        allowed(more <= idle, f"{more} more, and {idle} are idle")
        seq = yield event, causes
        for part in w.parts[PartRules.before_decision]:
            yield from part.before_decision()
        self.decided.append(seq)
        # Those that shrink come first, as the others get their workers.
        for copy, after in sorted(resized, key=lambda it: it[1] >= it[0].full):
            if after != copy.full:
                w.turns.push(
                    copy.job, LinePhase.DECISION, 0, partial(self._resized, copy, after, seq)
                )

    def _causes(self, event: RedistributionDecided) -> Collection[int]:
        """Return the events of which one must be the cause of the decision in this line: the fault,
        or the end, that it says it answers. The result is empty if there is none at this
        instant."""
        if event.why is Cause.FAULT:
            return [seq for it, seq in self.faulty.items() if it.job.name == event.job]
        if event.job is None:
            return [] if self.over else self.triggers
        return [self.over[event.job]] if event.job in self.over else []

    def _resized(self, copy: ExpectedCopy, after: int, cause: int) -> Script:
        """Give a copy `after` members, because of the decision `cause`: end its run, and at once
        start the next from the state reached.

        A copy that has no run, as it waits for its members to be UP, only exchanges members.
        """
        w, job, run, size = self.w, copy.job, copy.run, copy.full
        if run is None:
            yield from self._fill(copy, after, cause)
            copy.cause = yield MembersChanged(job.name, copy.last, copy.text), cause
            self.report(copy, copy.cause)
            stages.resume_soon(w, copy)
            return
        computes, state = run.computes, None
        if computes:
            if run.stage is Stage.CHECKPOINTING and not run.shares:
                # Read literally, the part of a checkpoint that has passed counts as work.
                run.base = min(run.base + run.at(w.now), run.work)
            state = run.state(w.now)
        cause = yield from stages.end(w, run, CANCELLED, cause)
        yield from self._fill(copy, after, cause)
        if computes:
            copy.holders = size
            plan = protection.moved(w, copy, ExpectedPlan(state))
        else:
            plan = protection.resumed(w, copy) if job.keeps else run.plan
        spread = computes and not plan.closes
        yield from runs.course(w, copy, plan, cause, spread=spread, resized=computes)

    def _fill(self, copy: ExpectedCopy, after: int, cause: int) -> Script:
        """Change the number of a copy's members to `after`: it gets the lowest free workers, or
        releases its highest ones. `cause` is the event that ends its messages.

        Where workers are promised, the log alone says which of them the copy has.
        """
        w, had = self.w, set(copy.members)
        if copy.lacking or self._promised():
            event = yield None
            spans = parse_spans(getattr(event, "processors", ""))
        elif after < copy.full:
            # Members that are not UP stay, as do spares: no other job could use them.
            able = {n for n in had if w.holdings.is_up(n) and w.holdings.pool(n) is w.free}
            spans = joined(sorted(had, key=lambda n: (n in able, n))[:after])
        else:
            spans = joined((*had, *numbers(w.free.lowest(after - copy.full))))
        has = set(numbers(spans))
        w.holdings.give(copy, joined(had - has))
        w.holdings.take(copy, joined(has - had))
        copy.change(spans, after)
        promised = sum(it.full for it in self._promised())
        allowed(0 <= copy.lacking <= promised, f"{copy.job.name} has {copy.text}")
        left = had - has
        copy.absent -= left
        copy.failed -= left
        w.pace(copy)
        link.leave(w, copy, cause, False, sorted(left))
        link.leave(w, copy, cause, True, sorted(had - left))

    def promise(self, w: World, event: MembersPromised) -> Script | None:
        """Return the script (generator) of a line by which an application promises its workers to
        others, at an instant at which no application is resized; None where it promises none."""
        w.turns.decides()
        self._release()
        return w.turns.emits_now(w.jobs[event.job])

    def _release(self) -> None:
        """Let applications promise their workers to others at a fault (malleable17, section 5):
        each that is expected to end before the struck application computes again.

        Of several struck at this instant, the one that recovers latest counts.
        """
        pack, self.released = self.w.pack, True
        reported = self.expectations.progress
        late = [it for it in self.faulty if it in reported]
        late = [it for it in late if reported[it].since < inf and it.job.copies[0] is it]
        if not late or not pack.releases:
            return
        latest = max(late, key=lambda it: reported[it].since)
        jobs = sorted(self.w.jobs.values(), key=lambda it: it.application.index)
        for copy in [it for job in jobs for it in job.copies[:1]]:
            progress = reported.get(copy)
            if progress is None or copy.promised or copy in self.faulty:
                continue
            if progress.end < reported[latest].since:
                copy.promised = True
                line = MembersPromised(copy.job.name, copy.last, copy.text), self.faulty[latest]
                self.w.turns.push(copy.job, LinePhase.DECISION, 0, partial(only, *line))

    def join(self, w: World, event: MembersJoined) -> Script:
        """Check the line by which workers that another application had promised join a copy."""
        copy, spans = w.copy_of(event), parse_spans(event.processors)
        came = numbers(spans)
        able = copy is not None and len(came) <= copy.lacking and self.leaving.issuperset(came)
        follows(able, "they were not promised to it, or have not come")
        yield event, [it for it, _ in self.freed_by]
        assert copy is not None
        w.holdings.take(copy, spans)
        copy.change(joined((*copy.members, *came)), copy.full)
        self.leaving.difference_update(came)

    def close(self) -> None:
        if self.faulty and not (self.over or self.released) and _acts(self.w.head.policy):
            self._release()
            self.w.turns.settle(LinePhase.DECISION + 1)
        for name in self.ignored:
            known = any(it in self.faulty or it.undetected for it in self.w.copies(name))
            known = known or name not in self.w.jobs
            follows(known, f"a fault of {name} is ignored, and it computes")
        if self.leaving:
            comes(self._due() >= 0, "workers that were promised must come")


def _acts(policy: str) -> bool:
    """Return whether a policy of this name redistributes workers at faults; false for a user's own,
    of which nothing is known."""
    return "-" in policy and ":" not in policy
