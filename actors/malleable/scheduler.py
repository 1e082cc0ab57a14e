"""The scheduler of malleable applications: it asks the policies, checks, and moves processors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import define, field

from actors.events import RunStarted
from actors.malleable.application import Application
from actors.malleable.decisions import allocate, redistribute
from actors.malleable.events import RedistributionDecided
from actors.malleable.holdings import Holdings
from actors.malleable.messages import (
    CarryOn,
    Decide,
    Ended,
    Hold,
    Joined,
    Promise,
    Settled,
    Struck,
    Submit,
)
from actors.malleable.standing import Standing
from actors.malleable.views import Candidate, Event, Newcomer, Pack
from actors.runtime import Actor, Phase, handles
from policies.interface.malleable import (
    AllocationPolicy,
    Cause,
    RedistributionPolicy,
    Resize,
)
from policies.maths.cosched import Costs


@define(eq=False)
class MalleableScheduler(Actor):
    """Decides once per instant, after all ends and faults of the instant (003, section 5)."""

    allocation: AllocationPolicy
    policy: RedistributionPolicy
    holdings: Holdings = field(repr=False)
    costs: Sequence[Costs] = field(repr=False)
    """By application index."""
    early_release: bool = True
    """Whether applications that end before the faulty one computes again release their
    processors at the fault."""
    applications: dict[int, Application] = field(init=False, factory=dict)
    standings: dict[int, Standing] = field(init=False, factory=dict)
    """Of those that run; what each said last."""
    released: set[int] = field(init=False, factory=set)
    _ended: list[int] = field(init=False, factory=list)
    _struck: dict[int, Standing] = field(init=False, factory=dict)
    _due: bool = field(init=False, default=False)

    # --- what it hears ------------------------------------------------------------------------

    @handles(Submit)
    def submitted(self, message: Submit) -> None:
        self.applications[message.application.index] = message.application
        self._decide_soon()

    @handles(Settled)
    def settled(self, message: Settled) -> None:
        self.standings[message.standing.index] = message.standing

    @handles(Struck)
    def struck(self, message: Struck) -> None:
        standing = message.standing
        self.standings[standing.index] = self._struck[standing.index] = standing
        self._decide_soon()

    @handles(Ended)
    def ended(self, message: Ended) -> None:
        index = message.index
        del self.standings[index]
        self._arrived(self.holdings.end(index))
        self._ended.append(index)
        if self.standings:
            self._decide_soon()
        else:
            self.system.finish()

    def _arrived(self, joined: Iterable[tuple[int, list[int]]]) -> None:
        for index, pairs in joined:
            self.send(self.applications[index], Joined(self.holdings.text(pairs)))

    def _decide_soon(self) -> None:
        if not self._due:
            self._due = True
            self.later(Decide(), Phase.DECISION)

    # --- what it decides ----------------------------------------------------------------------

    @handles(Decide)
    def decide(self, _: Decide) -> None:
        self._due = False
        if not self.standings:
            self._allocate()
            return
        if self._ended:
            ended, self._ended = min(self._ended), []
            self._redistribute(Cause.END, ended, None)
            if self._struck:
                # Once those that were just resized have said where they stand.
                self._decide_soon()
        elif self._struck:
            struck, self._struck = self._struck, {}
            self._answer(struck)

    def _allocate(self) -> None:
        indices = sorted(self.applications)
        newcomers = [Newcomer(index, self.costs[index]) for index in indices]
        view = Pack(self.holdings.pair, self.holdings.usable, newcomers)
        sizes = allocate(self.allocation, view)
        for index, size in zip(indices, sizes, strict=True):
            self._hold(index, size)

    def _answer(self, struck: dict[int, Standing]) -> None:
        """Redistribute for the faulty application that ends last; the others carry on."""
        if self.early_release:
            self._release_early(max(standing.since for standing in struck.values()), struck)
        late = max(struck, key=lambda index: (struck[index].expected, -index))
        resized = self._redistribute(Cause.FAULT, late, late)
        for index in sorted(struck.keys() - resized):
            self.send(self.applications[index], CarryOn(self._numbers(index)))

    def _release_early(self, since: float, struck: dict[int, Standing]) -> None:
        for index, standing in sorted(self.standings.items()):
            if standing.end < since and index not in struck and index not in self.released:
                self.released.add(index)
                self.send(self.applications[index], Promise(self._numbers(index)))
                self.holdings.promise(index)

    def _redistribute(self, cause: Cause, trigger: int, faulty: int | None) -> set[int]:
        """Ask the policy and do what it says; answers who was resized."""
        running = [s for s in self.standings.values() if s.index not in self.released]
        longest = max((standing.expected for standing in running), default=self.now)
        view = Event(
            *(self.now, cause, faulty, self.holdings.pair, self.holdings.idle, longest),
            lambda: self._candidates(running, faulty),
        )
        resizes = redistribute(self.policy, view)
        if resizes:
            self._carry_out(cause, trigger, resizes)
        return {resize.application for resize in resizes}

    def _candidates(self, running: Iterable[Standing], faulty: int | None) -> list[Candidate]:
        found = []
        for standing in sorted(running, key=lambda s: s.index):
            if standing.index == faulty and not standing.moving:
                found.append(self._candidate(standing, standing.since, standing.left))
            elif standing.since <= self.now:
                found.append(self._candidate(standing, self.now, self._left(standing)))
        return found

    def _candidate(self, standing: Standing, start: float, left: float) -> Candidate:
        costs = self.costs[standing.index]
        return Candidate(standing.index, standing.size, costs, start, left, standing.expected)

    def _left(self, standing: Standing) -> float:
        costs, elapsed = self.costs[standing.index], self.now - standing.since
        taken = costs.taken(standing.size, elapsed)
        return costs.left(standing.size, standing.left, elapsed, taken)

    # --- moving processors --------------------------------------------------------------------

    def _carry_out(self, cause: Cause, trigger: int, resizes: Sequence[Resize]) -> None:
        self._record_decision(cause, trigger, resizes)
        sizes = {resize.application: resize.size for resize in resizes}
        shrinking = [i for i in sizes if sizes[i] < self.holdings.size(i)]
        for index in [*shrinking, *(i for i in sizes if i not in shrinking)]:
            self._hold(index, sizes[index])

    def _hold(self, index: int, size: int) -> None:
        gained, lost = self.holdings.resize(index, size)
        hold = Hold(gained, lost, self._numbers(index))
        self.send(self.applications[index], hold)

    def _record_decision(self, cause: Cause, trigger: int, resizes: Sequence[Resize]) -> None:
        def told() -> tuple[Cause, str, tuple[tuple[str, int, int], ...]]:
            names = {index: application.name for index, application in self.applications.items()}
            moves = tuple(
                (names[r.application], self.holdings.size(r.application), r.size) for r in resizes
            )
            return cause, names[trigger], moves

        self.system.journal.record_costly(RedistributionDecided, told)

    def _numbers(self, index: int) -> str:
        if not self.system.journal.wants(RunStarted):
            return ""
        return self.holdings.text(self.holdings.present(index))
