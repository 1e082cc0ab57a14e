"""Asks the parts of one job: all of them, or until one answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, field

from actors.copy import Copy
from actors.parts.answering import Answering
from actors.parts.part import NONE_HIDDEN, Host, MemberMessage, Part
from actors.run import Run

# Questions under names of their own: reading one off its class takes 30 ns, 40 times a fault.
BEFORE, TAKES, GOES_DOWN, KNOWN = Part.before, Part.takes, Part.down, Part.known
GOES_ON, RELEASED = Part.goes_on, Part.released


class Made(dict[type[Part], Part]):
    """Maps kinds of parts to the parts of one job, and makes one that is missing."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.parts = parts

    def __missing__(self, kind: type[Part]) -> Part:
        made = kind(self.parts.job)
        self.parts.add(made)
        return made


NOBODY = Answering[Part](())
"""Shared by all jobs without parts."""


@define(eq=False)
class Parts:
    """Holds the parts of one job, in the order `order` of their kinds, and asks them."""

    job: Host
    order: Sequence[type[Part]]
    wanting: Sequence[type[Part]]
    """Kinds of parts that a job can ask for by its own keys."""
    each: tuple[Part, ...] = field(init=False, default=())
    to: Answering[Part] = field(init=False, default=NOBODY)
    """Maps each question, a function of `Part`, to the parts that answer it."""
    watchers: tuple[Part, ...] = field(init=False, default=())
    """Parts that are to know when runs compute."""
    enders: tuple[Part, ...] = field(init=False, default=())
    """Parts that are to know when runs are over."""
    keep: bool = field(init=False, default=False)
    """Whether a copy keeps its members when its run is lost."""
    of: Made = field(init=False)
    """Maps each kind of part to the job's part of that kind. A missing part is made when it is
    looked up for the first message to it: most jobs meet no hang and get no notice."""

    def __attrs_post_init__(self) -> None:
        self.of = Made(self)

    def begin(self, given: Sequence[Callable[[Host], Part]]) -> None:
        """Make the parts that the job wants, and those that `given` makes."""
        job = self.job
        made = [kind(job) for kind in self.wanting if kind.wanted(job)]
        if made or given:
            self.add(*made, *(make(job) for make in given))

    def add(self, *parts: Part) -> None:
        """Add these parts, each in its place in the order."""
        self.of.update((type(part), part) for part in parts)
        self.each = tuple(self.of[kind] for kind in self.order if kind in self.of)
        self.to = Answering(self.each)
        self.watchers, self.enders = self.to[Part.computes], self.to[Part.run_ended]
        self.keep = any(part.keeps for part in self.each)

    # --- questions that the first answer settles, and sums ---------------------------------------

    def before(self, first: bool) -> float:
        """Return the time that passes before the members of a run fetch anything."""
        time: float = 0
        for part in self.to[BEFORE]:
            time += part.before(first)
        return time

    def take(self, copy: Copy[Run], message: MemberMessage, cause: int) -> bool:
        """Return whether a part acts on a message about a member in place of the job."""
        for part in self.to[TAKES]:  # noqa: SIM110 (`any` takes twice as long)
            if part.takes(copy, message, cause):
                return True
        return False

    def down(self, copy: Copy[Run], worker: int, hidden: bool, cause: int) -> int | None:
        """Let the parts know of a member that has gone DOWN; return the number (seq) of the last
        event if one acts on that in place of the job, else None."""
        end = None
        for part in self.to[GOES_DOWN]:
            answer = part.down(copy, worker, hidden, cause)
            end = end if answer is None else answer
        return end

    def known(self, copy: Copy[Run], worker: int) -> None:
        """Let the parts know that a member's fault is known now."""
        for part in self.to[KNOWN]:
            part.known(copy, worker)

    def retired(self, copy: Copy[Run], worker: int) -> bool:
        """Return whether a part makes up for a member that is DOWN for ever."""
        return any(part.retired(copy, worker) for part in self.to[Part.retired])

    def goes_on(self, copy: Copy[Run], run: Run, worker: int, cause: int) -> int | None:
        """Return the number (seq) of the last event if a part has the run go on, else None."""
        for part in self.to[GOES_ON]:
            end = part.goes_on(copy, run, worker, cause)
            if end is not None:
                return end
        return None

    def released(self, copy: Copy[Run], end: int) -> bool:
        """Return whether a part dismisses the members of a copy that ended early, in place of the
        job. `end` is the number of the event that ended it."""
        for part in self.to[RELEASED]:  # noqa: SIM110 (`any` takes twice as long)
            if part.released(copy, end):
                return True
        return False

    def hidden(self, copy: Copy[Run]) -> Mapping[int, float]:
        """Return the members of the copy that went DOWN by a fault that is not known yet, each with
        the time at which it did."""
        for part in self.to[Part.hidden]:
            return part.hidden(copy)
        return NONE_HIDDEN

    def doubts(self, copy: Copy[Run]) -> bool:
        """Return whether the copy's run stands still for a reason that is not known yet."""
        return any(part.doubts(copy) for part in self.to[Part.doubts])

    def substitute(self, copy: Copy[Run], workers: Sequence[int]) -> Mapping[int, int]:
        """Give the places of these members, which are DOWN, to workers that are at hand, as far as
        there are any. Return each replaced member with the number of the event that logs it."""
        for part in self.to[Part.substitute]:
            return part.substitute(copy, workers)
        return {}

    def set_aside(self, run: Run) -> None:
        """Let the parts know that the run no longer computes on some of its copy's members."""
        for part in self.to[Part.set_aside]:
            part.set_aside(run)
