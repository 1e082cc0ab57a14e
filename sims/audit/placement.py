"""Which free workers the queue's runs get (WORLD.md, D2)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from attrs import define, field

from actors.events import DeciderKind, Outcome, RunEnded, RunStarted, ScenarioStarted
from sims.audit.capacity import CapacityAuditor
from sims.audit.facts import LoggedRun, Spans, extent
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World
from sims.ledger.slices import Range


@define(eq=False)
class PlacementAuditor(Auditor):
    """A run gets the lowest free workers; or, where `placement` says `compact`, those that its job
    had a moment ago, else the fewest gaps; a further copy of a job under way, which takes what is
    left over, always the fewest gaps. Asked before the workers are taken. Other placements, and
    other deciders than a queue, choose by other rules, not told here."""

    world: World
    capacity: CapacityAuditor
    rule: str | None = None
    """None: not told here."""
    former: dict[str, Spans] = field(factory=dict)
    """Job -> whom it gave back last at this instant."""
    completed: set[str] = field(factory=set)
    """Jobs of which a run completed at this instant: that copy is given back after the others,
    which are told after it."""

    @property
    def handlers(self) -> Handlers:
        return {
            ScenarioStarted: self._begin,
            RunStarted: self._start,
            RunEnded: self._end,
        }

    def passed(self, t: float, seq: int) -> None:
        if self.former:
            self.former.clear()
            self.completed.clear()

    def _begin(self, event: ScenarioStarted, t: float, seq: int) -> None:
        if event.decider is DeciderKind.QUEUE:
            told = dict(setting.partition("=")[::2] for setting in event.settings)
            self.rule = told.get("placement", "lowest")

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        rule = RULES.get(self.rule)
        if rule is None or event.keeps is not None:
            return
        run = self.world.present
        if run is None or event.share < 1:
            self.rule = None
            return
        free, copy = self.capacity.free, run.copy
        former = self.former.get(event.job, ()) if self.former else ()
        if former and not (self._first(run) and free.has(former)):
            former = ()
        gaps = free.intervals()
        if rule(gaps, copy.size, former) != copy.spans:
            told = " ".join(f"{a}-{b}" for a, b in gaps)
            why = f"{run.name} gets {event.processors}; free were {told}, taken by {self.rule}"
            self.world.breaks(Law.POOL, (seq,), why)

    @staticmethod
    def _first(run: LoggedRun) -> bool:
        """Whether its job holds nobody else."""
        return len(run.job.open) == 1 and not run.job.kept

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present if self.rule in RULES else None
        if run is None or event.kept:
            return
        if event.outcome is Outcome.COMPLETED:
            self.completed.add(event.job)
            self.former[event.job] = run.copy.spans
        elif event.job not in self.completed:
            self.former[event.job] = run.copy.spans


def lowest(gaps: Spans, wanted: int, former: Spans) -> Spans:
    """The lowest numbers."""
    taken = list[Range]()
    for first, last in gaps:
        if not wanted:
            break
        taken.append((first, min(last, first + wanted - 1)))
        wanted -= taken[-1][1] - first + 1
    return tuple(taken)


def compact(gaps: Spans, wanted: int, former: Spans) -> Spans:
    """`former` where it is as many; else, until one gap holds all that is still wanted, the
    largest gap (the highest of equals), and then the head of the smallest that does (the lowest of
    equals)."""
    if former and extent(former) == wanted:
        return former
    sizes = [last - first + 1 for first, last in gaps]
    by_size = sorted(range(len(gaps)), key=sizes.__getitem__)
    taken = list[Range]()
    while by_size and sizes[by_size[-1]] < wanted:
        largest = by_size.pop()
        taken.append(gaps[largest])
        wanted -= sizes[largest]
    if by_size and wanted > 0:
        first, _ = gaps[by_size[bisect_left(by_size, wanted, key=sizes.__getitem__)]]
        taken.append((first, first + wanted - 1))
    return tuple(sorted(taken))


RULES: dict[str | None, Callable[[Spans, int, Spans], Spans]] = {
    "lowest": lowest,
    "compact": compact,
}
