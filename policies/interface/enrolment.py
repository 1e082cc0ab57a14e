"""Defines what an enrolment policy sees and decides: the volatile workers to enrol and the number
of tasks of each (volatile13)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Protocol

from attrs import frozen
from numpy.random import Generator

from policies.maths.markov import Belief


class Reason(enum.Enum):
    """Names the reason for which an enrolment policy is called (volatile13, section VI)."""

    START = "start"
    """An iteration begins, or enough workers for it are UP for the first time."""
    FAILURE = "failure"
    """An enrolled worker went DOWN, so that no configuration is left."""
    ERROR = "error"
    """A silent error was found at the end of the iteration, so that no configuration is left; its
    workers still hold their program and data."""
    PROACTIVE = "proactive"
    """Nothing forces a change: the policy may keep the running configuration."""


class Wake(enum.Enum):
    """Says when an enrolment policy wants to be called besides START, FAILURE and ERROR."""

    NEVER = "never"
    """The policy is passive: it is called only when a new configuration is needed (volatile13,
    section VI.A)."""
    ON_CHANGE = "on change"
    """The policy is proactive, and its answer can change only when a worker changes its state or
    what it holds."""
    EVERY_SLOT = "every slot"
    """The policy is proactive, and its answer depends on the time itself."""


@frozen(cache_hash=True)
class Enrolment:
    """Describes the platform and the application for which an enrolment policy decides (volatile13,
    section III); it is constant."""

    speeds: tuple[float, ...]
    """Slots that each worker needs for one task, w_q, by worker index."""
    bounds: tuple[int, ...]
    """Largest number of tasks that worker q holds at once, mu_q."""
    tasks: int
    """Tasks per iteration, m."""
    channels: int
    """Number of transfers that the master serves at once, n_com."""
    program: float
    """Slots to send the program, T_prog."""
    data: float
    """Slots to send one task's data, T_data."""
    belief: Belief
    """The policy's model of each worker's availability, with its analysis."""


@frozen
class Configuration:
    """Names the workers that are enrolled and the number of tasks of each."""

    members: tuple[tuple[int, int], ...]
    """Pairs (worker index, tasks), sorted by index, with tasks >= 1 that sum to m."""


class RunningView(Protocol):
    """Shows the configuration that runs now; a live view."""

    @property
    def configuration(self) -> Configuration: ...

    @property
    def work_left(self) -> int:
        """Slots of computation that are left: W minus those already done."""

    def missing(self) -> Sequence[float]:
        """Return the slots of communication that each member still needs, in the order of
        `configuration.members`; received parts of messages count."""


class EnrolmentView(Protocol):
    """Shows an enrolment policy the workers and the running configuration at one instant; a live
    view."""

    @property
    def enrolment(self) -> Enrolment: ...

    @property
    def reason(self) -> Reason: ...

    @property
    def elapsed(self) -> int:
        """Slots since the current iteration began, t."""

    @property
    def up(self) -> int:
        """Bit mask of the workers that are UP: bit q stands for worker q."""

    @property
    def programmed(self) -> int:
        """Bit mask of the workers that hold the complete program."""

    @property
    def running(self) -> RunningView | None:
        """The current configuration; None when a new one is needed."""

    def missing(self, worker: int, tasks: int) -> float:
        """Return the slots of communication that `worker` would need if it were enrolled now with
        `tasks` tasks. Messages and parts of messages that it still holds after a failure count as
        received."""


class EnrolmentPolicy(Protocol):
    """Chooses the enrolled configuration (volatile13, section VI).

    The policy returns None to wait (only where too few workers are UP) or, under Reason.PROACTIVE,
    to keep the running configuration. The caller checks that members are UP, within their bounds,
    and have m tasks in total. A policy with an attribute `wake: Wake` is called accordingly; one
    without is passive.
    """

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None: ...
