"""A policy on trial: which point it is for, random questions of that kind, and what it did wrong,
each in its smallest form."""

from __future__ import annotations

import enum
import inspect
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, MappingProxyType
from typing import Any

from attrs import define, frozen
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.strategies import SearchStrategy

from actors.decisions import BadDecision
from policies.interface import (
    Allocation,
    AllocationPolicy,
    EnrolmentPolicy,
    KindPolicy,
    Order,
    RedistributionPolicy,
    RedundancyPolicy,
    ServiceOrder,
    Strategy,
)
from sims.errors import COMMAND_LINE, InputError
from sims.kit import AskedCase, Point, others, queueing

POINTS: Mapping[Point, tuple[Any, Callable[[], SearchStrategy[AskedCase]]]] = MappingProxyType(
    {
        Point.STRATEGY: (Strategy, queueing.strategies),
        Point.ORDER: (Order, queueing.orders),
        Point.ALLOCATION: (Allocation, queueing.allocations),
        Point.BATCH_ALLOCATION: (None, queueing.batch_allocations),  # it is known by `allot`
        Point.ENROLMENT: (EnrolmentPolicy, others.enrolments),
        Point.PACK_ALLOCATION: (AllocationPolicy, others.pack_allocations),
        Point.REDISTRIBUTION: (RedistributionPolicy, others.redistributions),
        Point.COPIES: (RedundancyPolicy, others.copies),
        Point.SERVICE: (ServiceOrder, others.services),
        Point.DEADLINE: (KindPolicy, others.deadlines),
    }
)
"""What a policy for it satisfies, and random questions to it."""

TRIED = 20
"""Questions of each point that may be meant."""


class Wrong(enum.Enum):
    """What a policy can do wrong."""

    ANSWER = "its answer cannot be carried out"
    RAISES = "it raises"
    MUTATES = "it changes what it is shown"
    FICKLE = "asked the same again, it answers otherwise"
    STALLS = "its answer leads nowhere"
    SLOW = "it takes too long"


@frozen
class Finding:
    """One thing that a policy does wrong."""

    wrong: Wrong
    told: str
    """How."""
    view: str
    """The smallest question that shows it."""


class TooLong(KeyboardInterrupt):
    """A policy has not answered in time. An interrupt: no error of the policy's."""


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
        first: dict[Wrong, Finding] = {}
        for case in self.cases():
            for found in self.faults(case):
                shown = first.setdefault(found.wrong, found)
                first[found.wrong] = min(shown, found, key=lambda it: len(it.view))
            if Wrong.SLOW in first:  # each more would take as long
                break
        return [self._smallest(found) for found in first.values()]

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
        collect = given(POINTS[self.point][1]())(lambda case: found.append(case))
        self._settings(Phase.generate)(collect)()
        return found

    def _smallest(self, found: Finding) -> Finding:
        if found.wrong is Wrong.SLOW:
            return found

        def same(case: AskedCase) -> Finding | None:
            return next((it for it in self.faults(case) if it.wrong is found.wrong), None)

        search = self._settings(Phase.generate, Phase.shrink)
        try:
            case = find(POINTS[self.point][1](), lambda it: same(it) is not None, settings=search)
        except (NoSuchExample, Flaky):  # what depends on the time, say, need not show again
            return found
        return same(case) or found

    def faults(self, case: AskedCase) -> Iterator[Finding]:
        """What it does wrong at one question."""
        for wrong, told in self._wrongs(case):
            yield Finding(wrong, told, repr(case))

    def _wrongs(self, case: AskedCase) -> Iterator[tuple[Wrong, str]]:
        arguments = case.make()
        before, began = repr(arguments), time.perf_counter()
        try:
            answer = self._answer(case, arguments)
        except TooLong:
            yield Wrong.SLOW, f"no answer within {self.patience:g} s"
            return
        except BadDecision as error:
            yield Wrong.RAISES if error.__cause__ else Wrong.ANSWER, str(error)
            return
        except Exception as error:
            yield Wrong.RAISES, f"raised {type(error).__name__}: {error}"
            return
        took = time.perf_counter() - began
        if took > self.patience:
            yield Wrong.SLOW, f"{took:.2g} s, and {self.patience:g} s are granted"
            return
        if repr(case.make()) == before != repr(arguments):
            yield Wrong.MUTATES, f"afterwards it reads\n  {_changed(before, repr(arguments))}"
        if stalled := case.stalls(answer):
            yield Wrong.STALLS, stalled
        if (again := self._again(case)) != repr(answer):
            yield Wrong.FICKLE, f"first {answer!r}, then {again}"

    def _again(self, case: AskedCase) -> str:
        """What it answers now, as text; what it raises, by name."""
        try:
            return repr(self._answer(case, case.make()))
        except (Exception, TooLong) as error:
            return f"{type(error).__name__}: {error}"

    def _answer(self, case: AskedCase, arguments: tuple[Any, ...]) -> Any:
        with _within(self.patience):
            return case.judge(self.policy, *arguments)


def suits(policy: Any, point: Point) -> bool:
    """Whether it answers any of some questions of the point."""
    trial = Trial(policy, point, TRIED)
    wrong = {Wrong.RAISES, Wrong.ANSWER}
    found = ({it.wrong for it in trial.faults(case)} for case in trial.cases())
    return any(wrong.isdisjoint(it) for it in found)


def recognised(policy: Any, named: str | None = None) -> Point:
    """The point that is `named`, or else the only one whose Protocol has the policy's parameters
    and that it suits. Raises InputError."""
    known = ", ".join(point.value for point in Point)
    if named is not None:
        try:
            return Point(named)
        except ValueError:
            raise InputError(COMMAND_LINE, "--point", f"{named!r} is none", known) from None
    found = _alike(policy)
    if not found:
        problem = f"{policy!r} has the signature of no decision point (policies/interface)"
        raise InputError(COMMAND_LINE, "POLICY", problem, known)
    if len(found) > 1:
        found = [point for point in found if suits(policy, point)] or found
    if len(found) > 1:
        several = " or ".join(point.value for point in found)
        problem = f"its signature suits {several}"
        raise InputError(COMMAND_LINE, "--point", problem, f"{several}, named")
    return found[0]


def _alike(policy: Any) -> list[Point]:
    """The points that a policy may be for: by the names of its parameters, else by their number."""
    for method, point in (("allot", Point.BATCH_ALLOCATION), ("at", Point.ORDER)):
        if callable(getattr(policy, method, None)):
            return [point]
    if not callable(policy):
        return []
    mine = _parameters(policy)
    asked = {point: _parameters(it.__call__) for point, (it, _) in POINTS.items() if it}
    named = [point for point, theirs in asked.items() if theirs == mine]
    return named or [point for point, theirs in asked.items() if len(theirs) == len(mine)]


def _parameters(call: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that a decision point has to give."""
    taken = inspect.signature(call).parameters.items()
    return [name for name, it in taken if name != "self" and it.default is it.empty]


def _changed(before: str, after: str) -> str:
    """What is there now from where it first differs."""
    pairs = enumerate(zip(before, after, strict=False))
    same = next((k for k, (old, new) in pairs if old != new), len(before))
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
