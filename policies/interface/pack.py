"""Defines what the policies for malleable applications see and decide: the number of processors of
each application, at the start and at each event (malleable17)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Protocol

from attrs import frozen


class Cause(enum.Enum):
    """Names the event for which a redistribution policy is called: an end of applications, or a
    fault (malleable17, section 3.4)."""

    END = "end"
    """One or more applications completed and released their processors."""
    FAULT = "fault"
    """A processor of an application failed, which delays the application."""


class LookAhead(enum.Enum):
    """Says when an application counts as improvable, that is, when giving it more processors makes
    sense (malleable17 leaves it open)."""

    ANY = "any"
    """An application is improvable if some number of the available pairs makes it end earlier; this
    test can see past the cost of the first pair's redistribution."""
    NEXT_PAIR = "next-pair"
    """An application is improvable only if the next pair alone makes it end earlier; this reading
    is closest to the figures of malleable17."""


@frozen
class Resize:
    """Sets the number of processors that one application has from now on."""

    application: int
    size: int
    """Number of processors, a positive multiple of the pair size."""


class CandidateView(Protocol):
    """A malleable application that can be given more processors or give up some of its own."""

    @property
    def index(self) -> int:
        """Index of the application in its pack, the set of applications that share the platform;
        ties go to the lowest index."""

    @property
    def size(self) -> int:
        """Number of processors that the application holds; 0 before the start."""

    @property
    def largest(self) -> int:
        """The largest useful number of processors, j_max: more than that only slow the application
        down (malleable17, section 3.2)."""

    @property
    def most(self) -> int:
        """The largest number of processors that the application can be given, because its execution
        times are not known for more."""

    def finish(self, size: int) -> float:
        """Return the time, in s, at which the application is expected to end if it has `size`
        processors from now on.

        The present size keeps the expectation t^U of the last event; any other size pays for its
        redistribution and for the checkpoint that closes it (malleable17, section 3.3.2).
        """


class AllocationView(Protocol):
    """Shows an allocation policy the free processors and the applications (a pack, in malleable17's
    words) that have never run."""

    @property
    def pair(self) -> int:
        """Number of processors in a group; processors are only allocated in whole groups (2: a pair
        of buddies)."""

    @property
    def processors(self) -> int:
        """Number of processors to share out, a multiple of `pair`."""

    @property
    def applications(self) -> Sequence[CandidateView]:
        """The applications that are to get processors, none of which has ever run, by ascending
        index: at time 0 all of the pack."""


class AllocationPolicy(Protocol):
    """Chooses the numbers of processors with which waiting applications start for the first time;
    returns one number for each, in the order of the view's `applications`.

    The caller asks at time 0, and again whenever processors are free for applications that have
    never run; the view has only these. The run ends with an error unless each number is a positive
    multiple of the pair size and at most the application's `most`, and all together are at most the
    view's `processors`.
    """

    def __call__(self, view: AllocationView) -> Sequence[int]: ...


class RedistributionView(Protocol):
    """Shows a redistribution policy the state of all applications at an end or a fault; a live
    view."""

    @property
    def now(self) -> float:
        """The current virtual time, in s."""

    @property
    def cause(self) -> Cause: ...

    @property
    def faulty(self) -> int | None:
        """Index of the application whose processor failed; None when applications ended."""

    @property
    def pair(self) -> int:
        """Number of processors in a group; processors are only moved in whole groups."""

    @property
    def idle(self) -> int:
        """Number of idle processors, a multiple of `pair`."""

    @property
    def longest(self) -> float:
        """The latest expected end t^U of all running applications, in s, including those that
        cannot be resized now."""

    @property
    def candidates(self) -> Sequence[CandidateView]:
        """The applications that may be resized, by index: the faulty one, and those that are not
        still busy with their last fault or redistribution (malleable17, section 3.3.3)."""


class RedistributionPolicy(Protocol):
    """Redistributes processors among applications at an end or a fault, and returns the sizes that
    change; an empty answer leaves all sizes as they are.

    The caller checks that only candidates are resized, to positive multiples of the pair size, and
    that the processors suffice. A policy that redistributes only at ends declares it by an
    attribute `acts_at_faults = False`. Under all others, an application that is going to end before
    the faulty one computes again releases its processors at once, at the fault (malleable17,
    section 5).
    """

    def __call__(self, view: RedistributionView) -> Sequence[Resize]: ...
