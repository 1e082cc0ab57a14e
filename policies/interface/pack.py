"""Malleable applications: how many processors each, at the start and at each event
(malleable17)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Protocol

from attrs import frozen


class Cause(enum.Enum):
    """Why a redistribution policy is asked (malleable17, section 3.4)."""

    END = "end"
    """Applications ended and gave their processors back."""
    FAULT = "fault"
    """A processor of an application failed, which delays it."""


class LookAhead(enum.Enum):
    """When an application counts as improvable (malleable17 leaves it open)."""

    ANY = "any"
    """Some number of the available pairs would make it end earlier: the test can see past what a
    redistribution costs at once."""
    NEXT_PAIR = "next-pair"
    """The next pair alone would: closest to the figures of malleable17."""


@frozen
class Resize:
    """The decision for one application: the processors it is to have from now on."""

    application: int
    size: int
    """In processors: a positive multiple of the pair size."""


class CandidateView(Protocol):
    """An application that may be given processors, or give some up."""

    @property
    def index(self) -> int:
        """Its number in the pack: ties go to the lowest."""

    @property
    def size(self) -> int:
        """Processors that it holds; 0 before the start."""

    @property
    def largest(self) -> int:
        """j_max: more processors than that only slow it down (malleable17, section 3.2)."""

    @property
    def most(self) -> int:
        """It can be given no more processors than that: its times are not known for more."""

    def finish(self, size: int) -> float:
        """When it is expected to end, in s, if it had `size` processors from now on.

        The present size keeps the expectation t^U of the last event; another one pays for its
        redistribution and the checkpoint that closes it (malleable17, section 3.3.2).
        """


class AllocationView(Protocol):
    """What an allocation policy sees before the start."""

    @property
    def pair(self) -> int:
        """Processors come in groups of so many (2: buddies)."""

    @property
    def processors(self) -> int:
        """Processors to share out, a multiple of `pair`."""

    @property
    def applications(self) -> Sequence[CandidateView]:
        """All of the pack, by index."""


class AllocationPolicy(Protocol):
    """Shares the processors out before the start: a size for each application, by index.

    The world checks that every application has a positive multiple of the pair size and that all
    together have no more processors than there are.
    """

    def __call__(self, view: AllocationView) -> Sequence[int]: ...


class RedistributionView(Protocol):
    """What a redistribution policy sees at one event (live)."""

    @property
    def now(self) -> float:
        """Virtual time, in s."""

    @property
    def cause(self) -> Cause: ...

    @property
    def faulty(self) -> int | None:
        """Index of the faulty application; None at an end."""

    @property
    def pair(self) -> int:
        """Processors come in groups of so many."""

    @property
    def idle(self) -> int:
        """Idle processors, a multiple of `pair`."""

    @property
    def longest(self) -> float:
        """The latest t^U of all running applications, in s, those that must wait included."""

    @property
    def candidates(self) -> Sequence[CandidateView]:
        """Applications that may be resized, by index: the faulty one, and those not still busy with
        their last fault or redistribution (malleable17, section 3.3.3)."""


class RedistributionPolicy(Protocol):
    """Redistributes processors at an event; answers the sizes that change (none: nothing does).

    The world checks that only candidates are resized, to positive multiples of the pair size, and
    that no more processors are given than there are. A policy that redistributes at ends only says
    so by an attribute `acts_at_faults = False`: under all others, applications that end before the
    struck one computes again release their processors at the fault (malleable17, section 5).
    """

    def __call__(self, view: RedistributionView) -> Sequence[Resize]: ...
