"""Finds which rules of mechanisms answer a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

Part = TypeVar("Part")


class Answerers(dict[Callable[..., Any], tuple[Part, ...]], Generic[Part]):
    """Maps each question, a function of the base class of parts, to the parts, among `each`, whose
    kinds answer it."""

    def __init__(self, each: Sequence[Part]) -> None:
        super().__init__()
        self.each = each

    def __missing__(self, question: Callable[..., Any]) -> tuple[Part, ...]:
        name = question.__name__
        found = tuple(it for it in self.each if getattr(type(it), name) is not question)
        self[question] = found
        return found
