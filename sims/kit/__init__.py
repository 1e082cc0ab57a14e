"""A test kit for policies: random views of every decision point, and what answers must respect.

Here: the decision points, and what is asked of a policy there; needs no Hypothesis.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from attrs import frozen
from numpy.random import Generator


class Point(enum.Enum):
    """What a policy can decide; `sims/docs/starters` has a file of each name."""

    STRATEGY = "strategy"
    """Of a queue: what starts now."""
    ORDER = "order"
    """Of a queue: who is first."""
    ALLOCATION = "allocation"
    """Of moldable jobs in a queue: how many processors each."""
    BATCH_ALLOCATION = "batch_allocation"
    """The same for all attempts of a batch together."""
    ENROLMENT = "enrolment"
    """Which volatile workers an iterative job enrols, with how many tasks each."""
    PACK_ALLOCATION = "pack_allocation"
    """How a pack of malleable jobs shares the processors at the start."""
    REDISTRIBUTION = "redistribution"
    """Who of a pack changes size at an end or a fault."""
    COPIES = "copies"
    """Which jobs run, in how many copies."""
    SERVICE = "service"
    """Whom a master serves first."""
    DEADLINE = "deadline"
    """On which kind of worker a job with a deadline goes on."""


@frozen(eq=False)
class AskedCase:
    """One question to a policy."""

    arguments: tuple[Any, ...]
    judge: Callable[..., Any]
    """Asks a policy, given before the arguments, and returns its answer. Raises BadDecision where
    that cannot be carried out."""
    stalls: Callable[[Any], str | None] = lambda _: None
    """What is wrong with an answer that can be carried out, but leads nowhere."""

    def make(self) -> tuple[Any, ...]:
        """The arguments, new and equal at each call: what a policy does to them is seen."""
        return deepcopy(self.arguments)

    def __repr__(self) -> str:
        shown = (it for it in self.arguments if not isinstance(it, Generator))
        return "\n".join(f"  {it!r}" for it in shown)
