"""A test kit for policies: random views at every decision point, and checks of the answers.

This module lists the decision points and defines a question to a policy; it needs no Hypothesis.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from attrs import frozen
from numpy.random import Generator


class Point(enum.Enum):
    """The decision points, that is, the kinds of questions that a policy can answer.
    `sims/docs/starters` has a file named after each."""

    STRATEGY = "strategy"
    """The jobs of a queue that start now."""
    ORDER = "order"
    """The order of the jobs of a queue."""
    ALLOCATION = "allocation"
    """The number of processors of each moldable job in a queue."""
    BATCH_ALLOCATION = "batch_allocation"
    """The number of processors of each moldable job, for all attempts of a batch together."""
    ENROLMENT = "enrolment"
    """The volatile workers that an iterative job enrols, with the number of tasks of each."""
    PACK_ALLOCATION = "pack_allocation"
    """The processors that each malleable job of a pack gets at the start."""
    REDISTRIBUTION = "redistribution"
    """The jobs of a pack that change size at an end or a fault."""
    COPIES = "copies"
    """The jobs that run, and the number of copies of each."""
    SERVICE = "service"
    """The order in which a master serves workers."""
    DEADLINE = "deadline"
    """The kind of worker on which a job with a deadline continues."""
    PLACEMENT = "placement"
    """The free workers that a job of a queue starts on."""
    RETIREMENT = "retirement"
    """The repaired workers, or nodes, that do not come back."""
    AGENT = "agent"
    """The acts of an agent, an actor of the user's own in the world."""


@frozen(eq=False)
class AskedCase:
    """One random question to a policy, with the checks of its answer."""

    arguments: tuple[Any, ...]
    judge: Callable[..., Any]
    """Function that asks the policy, its first argument, with the question's arguments, and returns
    the answer; raises BadDecision where the answer cannot be carried out."""
    stalls: Callable[[Any], str | None] = lambda _: None
    """Function that returns why an answer leads nowhere although it can be carried out; None: it
    leads on."""

    def make(self) -> tuple[Any, ...]:
        """Return a fresh copy of the arguments for one call of the policy. They are equal at each
        call, so that changes made by the policy can be noticed."""
        return deepcopy(self.arguments)

    def __repr__(self) -> str:
        shown = (it for it in self.arguments if not isinstance(it, Generator))
        return "\n".join(f"  {it!r}" for it in shown)
