"""Volatile workers: which workers to enrol, with how many tasks (volatile13)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Protocol

from attrs import frozen
from numpy.random import Generator

from policies.maths.markov import Belief


class Reason(enum.Enum):
    """Why an enrolment policy is asked (volatile13, section VI)."""

    START = "start"
    """An iteration begins, or the first time that enough workers are UP for it."""
    FAILURE = "failure"
    """An enrolled worker went DOWN: nothing is configured now."""
    ERROR = "error"
    """A silent error was found at the iteration's end: nothing is configured now, and its workers
    still hold what they had."""
    PROACTIVE = "proactive"
    """Nothing forces a change: the running configuration may be kept."""


class Wake(enum.Enum):
    """When an enrolment policy wants to be asked beside START, FAILURE and ERROR."""

    NEVER = "never"
    """Passive: only when it must (volatile13, section VI.A)."""
    ON_CHANGE = "on change"
    """Proactive, with an answer that can change only when a worker changes state or holdings."""
    EVERY_SLOT = "every slot"
    """Proactive, with an answer that depends on the time itself."""


@frozen(cache_hash=True)
class Enrolment:
    """The platform and application that an enrolment policy decides for (volatile13, section III);
    constant."""

    speeds: tuple[int, ...]
    """w_q, slots per task, by worker index."""
    bounds: tuple[int, ...]
    """mu_q, the most tasks that worker q holds at once."""
    tasks: int
    """m, tasks per iteration."""
    channels: int
    """n_com, transfers that the master serves at once."""
    program: int
    """T_prog, slots to send the program."""
    data: int
    """T_data, slots to send one task's data."""
    belief: Belief
    """What the policy is to believe about each worker's availability, with its analysis."""


@frozen
class Configuration:
    """The decision: which workers are enrolled with how many tasks each."""

    members: tuple[tuple[int, int], ...]
    """(worker index, tasks), sorted by index, tasks >= 1, summing to m."""


class RunningView(Protocol):
    """The configuration that runs now (live)."""

    @property
    def configuration(self) -> Configuration: ...

    @property
    def work_left(self) -> int:
        """W minus the slots of computation already done."""

    def missing(self) -> Sequence[int]:
        """Slots of communication that each member still lacks, partial messages counted, in the
        order of `configuration.members`."""


class EnrolmentView(Protocol):
    """What an enrolment policy sees at one instant (live)."""

    @property
    def enrolment(self) -> Enrolment: ...

    @property
    def reason(self) -> Reason: ...

    @property
    def elapsed(self) -> int:
        """t: slots since the current iteration began."""

    @property
    def up(self) -> int:
        """Bit mask of the workers that are UP: bit q for worker q."""

    @property
    def programmed(self) -> int:
        """Bit mask of the workers that hold the complete program."""

    @property
    def running(self) -> RunningView | None:
        """The current configuration; None when a new one is needed."""

    def missing(self, worker: int, tasks: int) -> int:
        """Slots of communication that `worker` would really lack if enrolled now with `tasks`
        tasks: after a failure, messages and parts of messages that it holds count."""


class EnrolmentPolicy(Protocol):
    """Chooses the enrolled configuration (volatile13, section VI).

    Answers None to wait (only where too few workers are UP) or, under Reason.PROACTIVE, to keep
    what runs. The world checks that members are UP, within their bounds, and m tasks in all. A
    policy with an attribute `wake: Wake` is asked accordingly; one without is passive.
    """

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None: ...
