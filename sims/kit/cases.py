"""What a policy is asked on trial, written down: shown as it is, made afresh for each asking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import field, frozen
from numpy.random import Generator


@frozen(eq=False)
class AskedCase:
    """One question to a policy."""

    make: Callable[[], tuple[Any, ...]] = field(repr=False)
    """Its arguments, new and equal at each call: what a policy does to them is seen, and stays."""
    judge: Callable[[Any, tuple[Any, ...]], Any] = field(repr=False)
    """Asks a policy and returns its answer. Raises BadDecision where it cannot be carried out."""
    stalls: Callable[[Any], str | None] = field(repr=False, default=lambda _: None)
    """What is wrong with an answer that can be carried out, but leads nowhere."""

    def __repr__(self) -> str:
        return "\n".join(f"  {argument!r}" for argument in self.make() if not _random(argument))


def _random(argument: object) -> bool:
    """Whether it is a generator, of which nothing is to be seen."""
    return isinstance(argument, Generator)
