"""Derives when a pack's applications are expected to end (malleable17, section 3.3.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from functools import partial
from math import inf

import numpy as np
from attrs import Factory, astuple, define, frozen

from actors.events import BY_MESSAGES, EndExpected, Stage
from sims.audit.costs import job_costs, profile_times
from sims.audit.facts import ExpectedCopy, ExpectedJob, ExpectedRun
from sims.audit.law import LinePhase, only, possible, same
from sims.audit.protection import protection
from sims.audit.turns import LATER, Emitter, Script
from sims.audit.workers import UP
from sims.audit.world import World


@frozen
class ExpectedProgress:
    """Progress of a copy of an application as its job last reported it to the scheduler, which
    decides by it: size, fraction of work left, and expected ends (malleable17, section 3.3.2)."""

    size: int
    left: float
    since: float
    """Time t_lastR from which on expectations count; inf if unknown."""
    expected: float
    end: float
    """End of the copy if no fault occurs."""
    moving: bool
    speed: float


@frozen(eq=False)
class Report:
    """One progress report of a job about a copy: its line in the log, the event that causes that,
    and the copy's progress after it and before it (None: nothing was reported before)."""

    event: EndExpected
    cause: int
    copy: ExpectedCopy
    after: ExpectedProgress
    before: ExpectedProgress | None


@define(eq=False)
class Expectations:
    """Derives the progress reports of a pack's applications (malleable ones that share the
    platform), and the lines by which the log announces their expected ends."""

    w: World
    indices: set[int] = Factory(set)
    progress: dict[ExpectedCopy, ExpectedProgress] = Factory(dict)
    optional: defaultdict[str, list[Callable[[], Report]]] = Factory(lambda: defaultdict(list))
    """Maps jobs to lines that may come at this instant.

    Rounding may turn a report of the same progress into a new one, and speeds may vary though no
    line has said so yet. Lines are computed on demand: most never are.
    """
    due: defaultdict[ExpectedCopy, list[Callable[[ExpectedProgress | None], Report]]] = Factory(
        lambda: defaultdict(list)
    )
    """Maps copies to their reports of this instant that are still to be noted. A fault may be
    detected before or after another worker's change: the line may name either cause."""
    perhaps: dict[ExpectedCopy, ExpectedProgress] = Factory(dict)
    """Maps copies that are not the oldest of their job to the progress at their last checkpoint,
    where the log does not say whether it was reported."""
    successors: dict[str, int] = Factory(dict)
    """Maps jobs whose oldest copy ended at this instant to the event of that end."""

    # --- applications -------------------------------------------------------------------------

    def describe(self, job: ExpectedJob) -> None:
        """Compute the times and costs of an application on every number of workers, as the line
        that describes the application has come, and check that line."""
        w = self.w
        event = job.application
        job.costs = it = job_costs(w.pack, job, w.head.processors, w.storage)
        alone = float(profile_times(job, np.ones(1))[0])
        sound = event.index not in self.indices and it.times
        possible(sound and same(alone, job.described.work), f"alone it takes {alone!r}")
        self.indices.add(event.index)
        w.reporters[job.name] = Emitter()

    def size(self, copy: ExpectedCopy, work: float, more: int) -> int:
        """Return the number of members of a copy whose run has the whole work `work`.

        The log names `copy.full` of them. Up to `more` others may be promised by other
        applications, and join the copy later: the work, which depends on the number of members,
        tells how many. If none fits, the number named is returned.
        """
        costs, named = copy.job.costs, copy.full
        whole = (n for n in range(max(named, 1), named + more + 1) if n % self.w.pack.pair == 0)
        return next((n for n in whole if same(costs.times[costs.row(n)], work)), named)

    def clear(self, ended: Collection[ExpectedCopy]) -> None:
        """Forget what is kept about the present instant, which is over, and the copies that have
        ended at it."""
        for copy in ended:
            self.progress.pop(copy, None)
            self.perhaps.pop(copy, None)
            self.due.pop(copy, None)
        self.successors.clear()
        self.optional.clear()

    # --- when they are expected to end --------------------------------------------------------

    def report(self, copy: ExpectedCopy, cause: int) -> None:
        """Report the progress of a copy to the scheduler because of event `cause`.

        The log must have a line of it if the progress differs from that of the report before, and
        the copy is the oldest of its job.
        """
        run, w = copy.run, self.w
        if copy.gone:
            return
        if run is None:
            plan = protection.resumed(w, copy)
            done = plan.begins.fraction if plan.begins is not None else 0
            ahead = protection.ahead(copy, plan)
            self._say(copy, self._report(copy, cause, 1 - done, None, ahead))
            return
        start, ahead = run.end(), run.ahead
        follows = copy.job.messages is not None or (run.plan is not None and run.plan.loads)
        starts = run.stage is Stage.STARTING_UP and follows
        if starts or run.stage in BY_MESSAGES or run.shares or not run.rate:
            # Messages depend on the link, storage on others, and a run that stands still on its
            # workers: the end is unknown, also of a start-up that precedes messages or loading.
            start, ahead = inf, ()
        elif run.stage is Stage.COMPUTING:
            # The present period counts from its beginning, at the present speed.
            start, ahead = w.now - run.at(w.now) / run.rate, ()
        elif run.computes or run.stage is Stage.CHECKPOINTING:
            ahead = ()
        self._say(copy, self._report(copy, cause, 1 - run.base / run.work, start, ahead))

    def checkpointed(self, run: ExpectedRun, cause: int) -> None:
        """Report the progress of a run's copy after a checkpoint, completed with event `cause`. The
        log must have a line of it only where verifications or varying speeds make periods unequal,
        and may have one elsewhere."""
        copy, left = run.copy, 1 - run.done(self.w.now) / run.work
        report = self._report(copy, cause, left, self.w.now, ())
        if copy.job.rules.verified or self.w.speeds_vary:
            self._say(copy, report)
        else:
            before = self.progress.get(copy)
            self.optional[copy.job.name].append(partial(report, before))
            if copy is not copy.job.copies[0]:
                self.perhaps[copy] = report(before).after

    def expect(self, w: World, event: EndExpected) -> Script | None:
        """Return the script (generator) of the line `event`, an expected end of an application: of
        a line that must come now, or of one that may come; None if it is neither."""
        found = w.turns.emits_now(possible(w.reporters.get(event.job), "there is no {}", event.job))
        taken = self._take(event) if found is None else None
        return found if taken is None else only(*taken)

    def _report(
        self,
        copy: ExpectedCopy,
        cause: int,
        left: float,
        start: float | None,
        ahead: tuple[float, ...],
    ) -> Callable[[ExpectedProgress | None], Report]:
        """Return a function that makes a report of the copy's progress from the progress reported
        before (None: none was). `cause` is the event that the report's line must have as its cause.

        `left` is the fraction of the work that is left. `start` is the time at which the present
        part ends or the present computation began, inf if it is unknown, and None if the copy waits
        for its members. `ahead` has the durations of the parts that follow before the run computes.
        """
        moving, speed = copy.holders != copy.full, self.w.speed(copy)

        def report(before: ExpectedProgress | None) -> Report:
            since = sum(ahead, self._back(copy, cause) if start is None else start)
            costs, size, times = copy.job.costs, copy.full, (inf, inf, inf)
            if since < inf and speed > 0:
                expected, whole = costs.expected(size, left), costs.duration(size, left)
                times = since, since + expected / speed, since + whole / speed
            after = ExpectedProgress(size, left, *times, moving, speed)
            return Report(_expected(copy.job.name, after), cause, copy, after, before)

        return report

    def _say(self, copy: ExpectedCopy, report: Callable[[ExpectedProgress | None], Report]) -> None:
        """Schedule the line of a report for this instant: it must come if the copy is the oldest of
        its job and its progress differs from that reported before. If the progress is the same, the
        line may come but need not."""
        leads, name = copy.job.copies[0] is copy, copy.job.name
        due = self.due[copy]
        due.append(report)

        def note() -> Script | None:
            due.remove(report)
            before = self.progress.get(copy)
            it = report(before)
            self.progress[copy] = it.after
            self.perhaps.pop(copy, None)
            if before is not None and same(astuple(it.after), astuple(before)):
                self.optional[name].append(lambda: it)
                return None
            if not leads:
                return None
            if not copy.gone:
                self.successors.pop(name, None)
            return self._tell(it)

        # Reports come once all workers have changed state, and never before the present phase.
        phase = LinePhase.RESUME if self.w.turns.phase == LinePhase.STATES else self.w.turns.phase
        phase = LinePhase.DECISION if self.w.turns.deciding else phase
        self.w.turns.push(self.w.reporters[name], phase, LATER, note)

    def _tell(self, report: Report) -> Script:
        """Expect the line of a report. Lines that may come at this instant can precede it.

        If such a line, or another report about the copy, has the same contents, its cause is
        accepted too.
        """
        name, causes = report.event.job, {report.cause}
        others = (it(report.before) for it in self.due[report.copy])
        causes.update(it.cause for it in others if _alike(it.event, report.event))
        while self.optional[name]:
            seen = yield None
            taken = self._take(seen)
            if taken is None or _alike(seen, report.event):
                causes.update(taken[1] if taken is not None else ())
                break
            yield taken
        yield report.event, causes

    def _take(self, event: EndExpected) -> tuple[EndExpected, Collection[int]] | None:
        """Return (line, causes that it may have) for the last of the lines that may come now and
        equal `event`, and forget it and those before it. None if no such line may come."""
        reports = [it() for it in self.optional[event.job]]
        alike = [it for it in reports if _alike(event, it.event)]
        if not alike:
            return None
        last = alike[-1]
        del self.optional[event.job][: reports.index(last) + 1]
        if self.progress.get(last.copy) is last.before:
            self.progress[last.copy] = last.after
        return last.event, {it.cause for it in alike}

    def _back(self, copy: ExpectedCopy, cause: int) -> float:
        """Return the time at which all members of the copy are expected to be UP again, inf if
        unknown.

        Changes of state that follow from event `cause` at this very instant are not known yet.
        """
        workers = [it for n in copy.members if (it := self.w.workers.get(n)) is not None]
        # All changes of states come before runs are lost, but for those that follow blame.
        former = self.w.repairs.states_before(cause) if self.w.repairs is not None else {}
        states = [former.get(it.number, (it.state, it.until)) for it in workers]
        away = [inf if until is None else until for state, until in states if state is not UP]
        return max(away, default=self.w.now)

    def oldest_ended(self, name: str, seq: int) -> None:
        """Note that the oldest copy of the job called `name` has ended early with event `seq`: the
        next copy is the oldest now, and its last report is logged again."""
        self.successors[name] = seq
        succeed = partial(self._succeed, name)
        self.w.turns.push(self.w.reporters[name], LinePhase.RESUME, 2 * LATER, succeed)

    def _succeed(self, name: str) -> Script | None:
        """Return the script (generator) of the line that the log needs when the oldest copy of the
        job called `name` has ended; None if no line is due."""
        cause, copy = self.successors.pop(name, None), next(iter(self.w.copies(name)), None)
        if cause is None or copy is None or copy not in self.progress:
            return None
        return self._succeeded(name, copy, cause)

    def _succeeded(self, name: str, copy: ExpectedCopy, cause: int) -> Script:
        """Expect the line of the last report about a copy, which is its job's oldest now."""
        if copy in self.perhaps:
            seen = yield None
            perhaps = self.perhaps.pop(copy)
            if _alike(seen, _expected(name, perhaps)):
                self.progress[copy] = perhaps
        yield _expected(name, self.progress[copy]), cause


def _expected(name: str, it: ExpectedProgress) -> EndExpected:
    known = (it.since, it.expected) if it.since < inf else (None, None)
    return EndExpected(name, it.size, it.left, *known)


def _alike(one: EndExpected, other: EndExpected) -> bool:
    return all(map(same, astuple(one), astuple(other)))
