"""The parts of one job, and how they are asked: all of them, or until one answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from attrs import define, field

from actors.copy import Copy
from actors.parts.part import NONE_HIDDEN, Host, MemberMessage, Part
from actors.run import Run

P = TypeVar("P")


@define(eq=False)
class Parts:
    """The parts of one job, in the order `order` of their kinds. The questions are those of `Part`;
    what only tells the parts something is a loop over `each` where it happens."""

    job: Host
    order: Sequence[type[Part]]
    each: tuple[Part, ...] = field(init=False, default=())
    watchers: tuple[Part, ...] = field(init=False, default=())
    """Parts that are to know when runs compute."""

    def begin(self, given: Sequence[Callable[[Host], Part]]) -> None:
        """Make the parts that the job wants, and those that `given` makes."""
        wanted = [kind(self.job) for kind in self.order if kind.wanted(self.job)]
        self._add(*wanted, *(make(self.job) for make in given))

    def get(self, kind: type[P]) -> P:
        """Return the part of this class. It comes into being with the first message for it: most
        jobs meet no hang and get no notice."""
        for part in self.each:
            if type(part) is kind:
                return part
        made = cast(type[Part], kind)(self.job)
        self._add(made)
        return cast(P, made)

    def _add(self, *parts: Part) -> None:
        self.each = tuple(
            sorted((*self.each, *parts), key=lambda part: self.order.index(type(part)))
        )
        self.watchers = tuple(it for it in self.each if type(it).computes is not Part.computes)

    @property
    def keep(self) -> bool:
        """Whether a copy keeps its members when its run is lost."""
        return any(part.keeps for part in self.each)

    def before(self, first: bool) -> float:
        return sum(part.before(first) for part in self.each)

    def take(self, copy: Copy[Run], message: MemberMessage, cause: int) -> bool:
        """Return whether a part acts on a message about a member in place of the job."""
        return bool(self.each) and any(part.takes(copy, message, cause) for part in self.each)

    def down(self, copy: Copy[Run], worker: int, hidden: bool, cause: int) -> int | None:
        """Let all parts know of a member that has gone DOWN; return the number (seq) of the last
        event if one acts on that in place of the job, else None."""
        ends = [part.down(copy, worker, hidden, cause) for part in self.each]
        return next((end for end in ends if end is not None), None)

    def known(self, copy: Copy[Run], worker: int) -> None:
        for part in self.each:
            part.known(copy, worker)

    def goes_on(self, copy: Copy[Run], run: Run, worker: int, cause: int) -> int | None:
        ends = (part.goes_on(copy, run, worker, cause) for part in self.each)
        return next((end for end in ends if end is not None), None)

    def hidden(self, copy: Copy[Run]) -> Mapping[int, float]:
        found = (part.hidden(copy) for part in self.each)
        return next((hidden for hidden in found if hidden), NONE_HIDDEN)

    def doubts(self, copy: Copy[Run]) -> bool:
        return any(part.doubts(copy) for part in self.each)

    def substitute(self, copy: Copy[Run], workers: Sequence[int]) -> Mapping[int, int]:
        found = (part.substitute(copy, workers) for part in self.each)
        return next((replaced for replaced in found if replaced), {})

    def set_aside(self, run: Run) -> None:
        for part in self.each:
            part.set_aside(run)
