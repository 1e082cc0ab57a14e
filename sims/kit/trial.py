"""A policy on trial: asked random questions of its kind, and what it did wrong, each in its
smallest form."""

from __future__ import annotations

import enum
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, MappingProxyType
from typing import Any

from attrs import define, frozen
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

from actors.decisions import BadDecision
from sims.kit import others, queueing
from sims.kit.cases import AskedCase
from sims.kit.points import Point

QUESTIONS: Mapping[Point, Callable[[], SearchStrategy[AskedCase]]] = MappingProxyType(
    {
        Point.STRATEGY: queueing.strategies,
        Point.ORDER: queueing.orders,
        Point.ALLOCATION: queueing.allocations,
        Point.BATCH_ALLOCATION: queueing.batch_allocations,
        Point.ENROLMENT: others.enrolments,
        Point.PACK_ALLOCATION: others.pack_allocations,
        Point.REDISTRIBUTION: others.redistributions,
        Point.COPIES: others.copies,
        Point.SERVICE: others.services,
    }
)


class Wrong(enum.Enum):
    """What a policy can do wrong."""

    ANSWER = "its answer cannot be carried out"
    RAISES = "it raises"
    MUTATES = "it changes what it is shown"
    FICKLE = "asked the same again, it answers otherwise"
    STALLS = "its answer leads nowhere"
    SLOW = "it takes too long"
    HASH = "its answer depends on PYTHONHASHSEED"


@frozen
class Finding:
    """One thing that a policy does wrong."""

    wrong: Wrong
    told: str
    """How."""
    view: str
    """The smallest question that shows it."""


class TooLong(BaseException):
    """A policy has not answered in time. No Exception, which policies and checks may catch."""


@define
class Trial:
    """Asks one policy."""

    policy: Any
    point: Point
    asked: int = 200
    """Questions."""
    patience: float = 1.0
    """Seconds for one answer."""

    def findings(self) -> list[Finding]:
        """What it does wrong, each kind once."""
        first = self._first()
        return [self._smallest(wrong, *found) for wrong, found in first.items()]

    def _settings(self, *phases: Phase) -> settings:
        return settings(
            max_examples=self.asked,
            deadline=None,
            database=None,
            derandomize=True,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        )

    def cases(self) -> list[AskedCase]:
        """The questions, the same each time."""
        found: list[AskedCase] = []

        @self._settings(Phase.generate)
        @given(QUESTIONS[self.point]())
        def collect(case: AskedCase) -> None:
            found.append(case)

        collect()
        return found

    def _first(self) -> dict[Wrong, tuple[str, str]]:
        """The shortest question at which each kind of fault showed, before shrinking."""
        first: dict[Wrong, tuple[str, str]] = {}
        for case in self.cases():
            for wrong, told in self.faults(case):
                if wrong not in first or len(repr(case)) < len(first[wrong][1]):
                    first[wrong] = told, repr(case)
            if Wrong.SLOW in first:  # each more would take as long
                break
        return first

    def _smallest(self, wrong: Wrong, told: str, view: str) -> Finding:
        if wrong is Wrong.SLOW:
            return Finding(wrong, told, view)
        try:
            case = find(
                QUESTIONS[self.point](),
                lambda case: wrong in dict(self.faults(case)),
                settings=self._settings(Phase.generate, Phase.shrink),
            )
        except NoSuchExample:  # what depends on more than the question need not show again
            return Finding(wrong, told, view)
        return Finding(wrong, dict(self.faults(case)).get(wrong, told), repr(case))

    def faults(self, case: AskedCase) -> Iterator[tuple[Wrong, str]]:
        """What it does wrong at one question."""
        arguments = case.make()
        before, began = repr(arguments), time.perf_counter()
        try:
            with _within(self.patience):
                answer = case.judge(self.policy, arguments)
        except TooLong:
            yield Wrong.SLOW, f"no answer within {self.patience:g} s"
            return
        except BadDecision as error:
            raised = error.__cause__ is not None
            yield Wrong.RAISES if raised else Wrong.ANSWER, str(error)
            return
        except Exception as error:
            yield Wrong.RAISES, f"raised {type(error).__name__}: {error}"
            return
        took = time.perf_counter() - began
        if took > self.patience:
            yield Wrong.SLOW, f"{took:.2g} s, and {self.patience:g} s are granted"
            return
        yield from self._quiet_faults(case, arguments, before, answer)

    def _quiet_faults(
        self, case: AskedCase, arguments: tuple[Any, ...], before: str, answer: Any
    ) -> Iterator[tuple[Wrong, str]]:
        """Of an answer that could be carried out."""
        if repr(case.make()) == before != repr(arguments):
            yield Wrong.MUTATES, f"afterwards it reads\n  {_changed(before, repr(arguments))}"
        stalled = case.stalls(answer)
        if stalled:
            yield Wrong.STALLS, stalled
        again = self.answered(case)
        if again != repr(answer):
            yield Wrong.FICKLE, f"first {answer!r}, then {again}"

    def answered(self, case: AskedCase) -> str:
        """What it answers, as text; what it raises, by name."""
        try:
            with _within(self.patience):
                return repr(case.judge(self.policy, case.make()))
        except (Exception, TooLong) as error:
            return f"{type(error).__name__}: {error}"


def _changed(before: str, after: str) -> str:
    """What is there now from where it first differs."""
    same = next(
        (k for k, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    start = max(0, same - 60)
    return f"{'...' if start else ''}{after[start : same + 60]}..."


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raises TooLong in what has not ended then, where there are such signals (not on Windows)."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 2 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
