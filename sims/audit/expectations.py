"""When a pack's applications are expected to end (malleable17, section 3.3.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import inf

from attrs import Factory, astuple, define, evolve, frozen

from actors.events import (
    EndExpected,
    Stage,
)
from sims.audit import link, rules
from sims.audit.deciding import Decider
from sims.audit.facts import Copy, Job, Run
from sims.audit.law import Phase, possible, same
from sims.audit.turns import LATER, Script, Teller
from sims.audit.workers import UP
from sims.audit.world import World
from sims.scenario.jobs.speedups import checkpointing, costs_of

Line = tuple[EndExpected, int]
"""What a job says, and because of which event."""


@frozen
class Standing:
    """Where a copy stands, as its job said last (section 3.3.2)."""

    size: int
    left: float
    since: float
    """t_lastR; inf: not known."""
    expected: float
    end: float
    """When it ends if no fault comes."""
    moving: bool
    speed: float


@define(eq=False)
class Expectations(Decider):
    """What each application's job says of where it stands, and what is told of that."""

    indices: set[int] = Factory(set)
    standing: dict[Copy, Standing] = Factory(dict)
    optional: defaultdict[str, list[Line]] = Factory(lambda: defaultdict(list))
    """By job: what is told at this instant if roundings make another number of the same, or if
    speeds vary, which no line has said yet."""
    heirs: dict[str, int] = Factory(dict)
    """Jobs whose oldest copy ended at this instant -> seq of that."""

    # --- applications -------------------------------------------------------------------------

    def describe(self, job: Job) -> None:
        """What its times are."""
        w = self.w
        event, rules_, pack = job.application, job.rules, w.pack
        image = job.messages.image if job.messages is not None else None
        expects = checkpointing(pack, event, rules_.kind, rules_.cost, image)
        job.costs = it = costs_of(pack, event, expects, w.head.processors)
        alone = costs_of(evolve(pack, pair=1), event, None, 1).times[0]
        sound = event.index is not None and event.index not in self.indices and it.times
        possible(sound and same(alone, job.described.work), f"alone it takes {alone!r}")
        self.indices.add(event.index or 0)
        w.reporters[job.name] = Teller()

    def size(self, copy: Copy, work: float, more: int) -> int:
        """How many members a run of this work has, of whom up to `more` are not named."""
        costs, named = copy.job.costs, copy.full
        whole = (n for n in range(max(named, 1), named + more + 1) if n % self.w.pack.pair == 0)
        return next((n for n in whole if same(costs.times[costs.row(n)], work)), named)

    # --- when they are expected to end --------------------------------------------------------

    def report(self, copy: Copy, cause: int) -> None:
        """A job says where a copy stands; that is told where it is another place than before, and
        the copy the oldest."""
        run, w = copy.run, self.w
        if copy.gone:
            return
        if run is None:
            plan = rules.resumed(w, copy)
            done = plan.begins.fraction if plan.begins is not None else 0
            self._say(copy, cause, 1 - done, None, rules.ahead(copy, plan))
            return
        start, ahead = run.end(), run.ahead
        if run.stage in link.FETCHING or not run.rate:
            start, ahead = inf, ()
        elif run.stage is Stage.COMPUTING:
            start, ahead = w.now - run.at(w.now) / run.rate, ()
        elif run.computes or run.stage is Stage.CHECKPOINTING:
            ahead = ()
        self._say(copy, cause, 1 - run.base / run.work, start, ahead)

    def checkpointed(self, run: Run, cause: int) -> None:
        """Where periods are not all alike, the next one is told of."""
        left = 1 - run.done(self.w.now) / run.work
        sure = run.copy.job.rules.verified or self.w.sped
        self._say(run.copy, cause, left, self.w.now, (), sure)

    def expect(self, w: World, event: EndExpected) -> Script | None:
        """What a job says now, or the next of what it may have said."""
        found = w.told_now(w.reporters[event.job])
        if found is None:
            lines = self.optional[event.job]
            while found is None and lines:
                line = lines.pop(0)
                found = _tell(line) if _alike(event, line[0]) else None
        return found

    def _say(
        self,
        copy: Copy,
        cause: int,
        left: float,
        start: float | None,
        ahead: tuple[float, ...],
        sure: bool = True,
    ) -> None:
        moving, speed = copy.holders != copy.full, self.w.speed(copy)
        leads, name = copy.job.copies[0] is copy, copy.job.name

        def note() -> Script | None:
            since = sum(ahead, self._back(copy) if start is None else start)
            costs, size, times = copy.job.costs, copy.full, (inf, inf, inf)
            if since < inf and speed > 0:
                expected, whole = costs.expected(size, left), costs.duration(size, left)
                times = since, since + expected / speed, since + whole / speed
            before, stands = self.standing.get(copy), Standing(size, left, *times, moving, speed)
            line = _expected(name, stands), cause
            if not sure or (before is not None and same(astuple(stands), astuple(before))):
                self.optional[name].append(line)
                return None
            self.standing[copy] = stands
            if not leads:
                return None
            if not copy.gone:
                self.heirs.pop(name, None)
            return _tell(line, self.optional.pop(name, ()))

        # It is heard of once all workers have changed state.
        phase = Phase.RESUME if self.w.phase == Phase.STATES else self.w.phase
        phase = Phase.DECISION if self.w.deciding else phase
        self.w.push(self.w.reporters[name], phase, LATER, note)

    def _back(self, copy: Copy) -> float:
        """When all its members are expected to be UP."""
        workers = (self.w.workers.get(n) for n in copy.members)
        away = [it.until for it in workers if it is not None and it.state is not UP]
        return max((inf if it is None else it for it in away), default=self.w.now)

    def inherit(self, name: str) -> Script | None:
        """The next copy is the oldest now: its last report counts, and is told again."""
        cause, copy = self.heirs.pop(name, None), next(iter(self.w.copies(name)), None)
        if cause is None or copy is None or copy not in self.standing:
            return None
        return _tell((_expected(name, self.standing[copy]), cause))


def _expected(name: str, it: Standing) -> EndExpected:
    known = (it.since, it.expected) if it.since < inf else (None, None)
    return EndExpected(name, it.size, it.left, *known)


def _tell(line: Line, optional: Sequence[Line] = ()) -> Script:
    """What must be told, after what may be; where both are the same, because of either."""
    (event, cause), seen = line, (yield None) if optional else None
    causes = {cause}
    for other, why in optional:
        if _alike(seen, event):
            causes.add(why)
        elif _alike(seen, other):
            yield other, why
            seen = yield None
    yield event, causes


def _alike(one: EndExpected | None, other: EndExpected) -> bool:
    return one is not None and all(map(same, astuple(one), astuple(other)))
