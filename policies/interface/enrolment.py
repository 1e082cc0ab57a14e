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
    """Describes what an enrolment policy knows of the workers and of one iterative job: m tasks an
    iteration, which are shared out among the enrolled workers (volatile13, section III). It is
    constant."""

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
    """Names the workers that are enrolled in an iteration, that is, take part in it, and the number
    of tasks of each."""

    members: tuple[tuple[int, int], ...]
    """Pairs (worker index, tasks), sorted by index, with tasks >= 1 that sum to m."""


class RunningView(Protocol):
    """Shows the configuration (enrolled workers and their tasks) of the iteration that runs now; a
    live view."""

    @property
    def configuration(self) -> Configuration: ...

    @property
    def work_left(self) -> int:
        """Slots of computation that are left: W minus those already done."""

    def missing(self) -> Sequence[float]:
        """Return the slots of communication that each member still needs before it can compute, in
        the order of `configuration.members`. Parts of messages that it has received are not counted
        again."""


class EnrolmentView(Protocol):
    """Shows an enrolment policy, which chooses the workers of an iteration and their tasks, the
    state of all workers and the running configuration at one instant. It is a live view: a policy
    never keeps it."""

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
        """Return the slots of communication that `worker` would need before it can compute, if it
        were enrolled now with `tasks` tasks. Messages and parts of messages that it still holds
        after a failure need not be sent again."""


class EnrolmentPolicy(Protocol):
    """Chooses the enrolled configuration: which workers take part in an iteration of an iterative
    job, and how many of its m tasks each of them gets (volatile13, section VI).

    The policy returns None to wait (only where too few workers are UP) or, under Reason.PROACTIVE,
    to keep the running configuration. The caller checks that members are UP, within their bounds,
    and have m tasks in total. A policy with an attribute `wake: Wake` is called accordingly; one
    without is passive.
    """

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None: ...
