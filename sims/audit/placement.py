"""Which free workers the queue's runs get (WORLD.md, D2)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from actors.events import DeciderKind, RunEnded, RunStarted, ScenarioStarted
from sims.audit.capacity import CapacityAuditor
from sims.audit.facts import Run
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World
from sims.ledger.slices import Range

Spans = tuple[Range, ...]


@define(eq=False)
class PlacementAuditor(Auditor):
    """A run gets the lowest free workers; or, by the policy's choice, those that its job had a
    moment ago, else the fewest gaps. It must be one of these always, and is asked before the
    workers are taken. Other deciders than a queue choose by other rules, not told here."""

    world: World
    capacity: CapacityAuditor
    rules: dict[str, Callable[[Spans, int, Spans], Spans]] = field(init=False)
    """Those that all runs so far have followed."""
    former: dict[str, list[Spans]] = field(factory=dict)
    """Job -> on whom copies of it ended at this instant."""

    def __attrs_post_init__(self) -> None:
        self.rules = {"lowest": lowest, "compact": compact}

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

    def _begin(self, event: ScenarioStarted, t: float, seq: int) -> None:
        if event.decider is not DeciderKind.QUEUE:
            self.rules = {}
        for setting in event.settings:
            name, _, value = setting.partition("=")
            if name == "placement":
                self.rules = {key: rule for key, rule in self.rules.items() if key == value}

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        if not self.rules or event.keeps is not None:
            return
        run = self.world.present
        if run is None or run.told or event.share < 1:
            self.rules = {}
            return
        self._keep(self._followed(run, event.job), run, seq)

    def _followed(self, run: Run, job: str) -> tuple[str, ...]:
        spans, gaps = run.copy.spans, self.capacity.free.intervals()
        free, size = self.capacity.free, run.copy.size
        had = [former for former in self.former.get(job, ()) if free.has(former)] or [()]
        return tuple(
            k for k, rule in self.rules.items() if any(rule(gaps, size, it) == spans for it in had)
        )

    def _keep(self, followed: tuple[str, ...], run: Run, seq: int) -> None:
        if not followed:
            gaps = " ".join(f"{a}-{b}" for a, b in self.capacity.free.intervals())
            rules = " or ".join(self.rules)
            why = f"{run.name} gets {run.event.processors}; free were {gaps}, taken by {rules}"
            self.world.breaks(Law.POOL, (seq,), why)
        elif len(followed) < len(self.rules):
            self.rules = {key: self.rules[key] for key in followed}

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present if self.rules else None
        if run is not None and not event.kept:
            self.former.setdefault(event.job, []).append(run.copy.spans)


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
    if former and sum(last - first + 1 for first, last in former) == wanted:
        return former
    by_size = sorted((last - first + 1, first) for first, last in gaps)
    taken = list[Range]()
    while by_size and by_size[-1][0] < wanted:
        size, first = by_size.pop()
        taken.append((first, first + size - 1))
        wanted -= size
    for size, first in by_size:
        if size >= wanted > 0:
            taken.append((first, first + wanted - 1))
            break
    return tuple(sorted(taken))
