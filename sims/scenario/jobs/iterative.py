"""Tightly-coupled iterative jobs (volatile13, section III.A)."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen
from attrs.validators import deep_iterable, optional

from sims.scenario.fields import countable, positive
from sims.scenario.jobs.common import ListedJob


@frozen(kw_only=True)
class IterativeEntry(ListedJob):
    """`[[job.jobs]]`: one iterative job."""

    kind: Literal["iterative"] = "iterative"
    """Default: that of [job]."""
    tasks: int = field(validator=countable)
    """m: tasks per iteration, in lockstep."""
    iterations: int = field(validator=positive)
    """Iterations to complete."""
    processors: int | None = field(default=None, validator=optional(positive))
    """How many workers it asks a queue for; an enrolment policy chooses itself."""
    task_times: tuple[float, ...] = field(default=(), validator=deep_iterable(positive))
    """w_q of this job by worker; default: the workers' own task_time."""
