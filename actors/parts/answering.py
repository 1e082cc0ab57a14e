"""Finds those parts of a job, or of a scheduler, that answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

P = TypeVar("P")


class Answering(dict[object, tuple[P, ...]], Generic[P]):
    """Maps each question, a function or property of the parts' base class, to those of some parts
    whose kinds answer it themselves. Each question is looked up once: most parts answer few, and
    wide jobs and their schedulers ask often."""

    def __init__(self, parts: Sequence[P]) -> None:
        super().__init__()
        self.parts = parts

    def __missing__(self, question: Any) -> tuple[P, ...]:
        name = getattr(question, "fget", question).__name__
        found = tuple(it for it in self.parts if getattr(type(it), name) is not question)
        self[question] = found
        return found
