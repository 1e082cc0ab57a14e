"""When a pack's applications are expected to end (malleable17, section 3.3.2)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
    rounded: dict[str, Script] = Factory(dict)
    """By job: what is told at this instant, if roundings make another number of the same."""
    heirs: dict[str, int] = Factory(dict)
    """Jobs whose oldest copy ended at this instant -> seq of that."""
    untold: dict[str, tuple[int, Callable[[], None]]] = Factory(dict)
    """By job: what would be told of a checkpoint of now, if speeds vary, and because of which
    event."""
    paced_ever: bool = False
    """Whether checkpoints change expectations, as speeds vary."""

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
        where = run.copy, cause, 1 - run.done(self.w.now) / run.work, self.w.now, ()
        if run.copy.job.rules.verified or self.paced_ever or self.w.sped:
            self._say(*where)
        else:
            self.untold[run.copy.job.name] = cause, partial(self._say, *where)

    def expect(self, w: World, event: EndExpected) -> Script | None:
        """The first of those that nothing but varying speeds explains, of which nothing has been
        told before."""
        found = w.told_now(w.reporters[event.job])
        _, say = self.untold.pop(event.job, (0, None))
        if found is None and say is not None:
            self.paced_ever = True
            say()
            found = w.told_now(w.reporters[event.job])
        if found is None and event.job in self.rounded:
            found = self.rounded.pop(event.job)
        return found

    def _say(
        self, copy: Copy, cause: int, left: float, start: float | None, ahead: tuple[float, ...]
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
            self.standing[copy] = stands
            script = self._told(copy, stands, cause)
            if before is not None and same(astuple(stands), astuple(before)):
                self.rounded[name] = script
                return None
            if not leads:
                return None
            if not copy.gone:
                self.heirs.pop(name, None)
            rounded = self.rounded.pop(name, None)
            return script if rounded is None else _after(rounded, script)

        # It is heard of once all workers have changed state.
        phase = Phase.RESUME if self.w.phase == Phase.STATES else self.w.phase
        phase = Phase.DECISION if self.w.deciding else phase
        self.w.push(self.w.reporters[name], phase, LATER, note)

    def _told(self, copy: Copy, it: Standing, cause: int) -> Script:
        known = (it.since, it.expected) if it.since < inf else (None, None)
        # What a checkpoint of now would tell, and what comes after it, are often the same.
        saved, _ = self.untold.get(copy.job.name, (cause, None))
        yield EndExpected(copy.job.name, it.size, it.left, *known), {cause, saved}

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
        return self._told(copy, self.standing[copy], cause)


def _after(rounded: Script, script: Script) -> Script:
    """What must be told, after what may be if roundings make another number of what was told."""
    event, (expected, causes) = (yield None), next(script)
    if not all(map(same, astuple(event), astuple(expected))):
        yield next(rounded)
    yield expected, causes
