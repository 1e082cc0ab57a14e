"""Tests of a user's policy: which decision point it serves, random questions there, and the faults
found, each with its smallest example."""

from __future__ import annotations

import enum
import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from attrs import define, evolve, field, frozen
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.strategies import SearchStrategy

from actors.agents.agent import Agent
from actors.decisions import BadDecision, EndlessAnswer
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
from sims.kit import AskedCase, Point, agents, others, queueing
from sims.processes import Tell, Unfinished, watched

POINTS: Mapping[Point, tuple[Any, Callable[[], SearchStrategy[AskedCase]]]] = MappingProxyType(
    {
        Point.STRATEGY: (Strategy, queueing.strategies),
        Point.ORDER: (Order, queueing.orders),
        Point.ALLOCATION: (Allocation, queueing.allocations),
        Point.BATCH_ALLOCATION: (None, queueing.batch_allocations),  # recognised by `allot`
        Point.ENROLMENT: (EnrolmentPolicy, others.enrolments),
        Point.PACK_ALLOCATION: (AllocationPolicy, others.pack_allocations),
        Point.REDISTRIBUTION: (RedistributionPolicy, others.redistributions),
        Point.COPIES: (RedundancyPolicy, others.copies),
        Point.SERVICE: (ServiceOrder, others.services),
        Point.DEADLINE: (KindPolicy, others.deadlines),
        Point.PLACEMENT: (None, others.placements),  # recognised by `places`
        Point.RETIREMENT: (None, others.retirements),  # recognised by `retires`
        Point.AGENT: (None, agents.worlds),  # recognised by its class
    }
)
"""Maps each decision point to the Protocol of its policies, and to the strategy that draws
questions."""

TRIED = 20
"""Number of questions asked for each point that a policy may be meant for."""
MEMORY = 4 * 2**30
"""Largest number of bytes of data that the process may have while a policy is loaded or answers."""
LOADING = 20.0
"""Seconds granted to a policy's module and class, because libraries that they import take several;
and to our own work between two questions."""


class Wrong(enum.Enum):
    """Mistakes that a policy can make; the value says the mistake in words about the policy."""

    ANSWER = "its answer cannot be carried out"
    RAISES = "it raises"
    MUTATES = "it changes what it is shown"
    FICKLE = "asked the same again, it answers otherwise"
    STALLS = "its answer leads nowhere"
    SLOW = "it takes too long"
    HUGE = "it takes too much memory"
    ENDLESS = "its answer has no end"
    ENDS = "it ends the process"


LAST = frozenset((Wrong.SLOW, Wrong.HUGE, Wrong.ENDLESS))
"""Mistakes that end a trial: every further question could take as long."""


@frozen
class Finding:
    """One mistake of a policy, with the question that shows it."""

    wrong: Wrong
    problem: str
    """Details of the fault."""
    view: str
    """Smallest question that shows the fault."""


@frozen
class Tried:
    """The result of a trial of a policy; while the trial goes on, what it has found so far."""

    point: Point
    views: int
    """Number of questions that have been asked."""
    findings: list[Finding]
    view: str = ""
    """The question that is being asked."""


def untold(seconds: float, step: object) -> None:
    """Do nothing: the `Tell` of a trial that is not watched."""


@define
class Trial:
    """Asks one policy many random questions, and collects its mistakes.

    It ends only if the policy answers, or if it runs in a process that is `watched`.
    """

    policy: Any
    point: Point
    asked: int = 200
    """Largest number of questions."""
    patience: float = 1.0
    """Seconds allowed for one answer."""
    tell: Tell = untold
    """Function that is told each question before it is asked, as a Tried."""
    views: int = field(init=False, default=0)
    """Number of questions that `findings` has asked."""
    _first: dict[Wrong, Finding] = field(init=False, factory=dict)
    """Mistakes that `findings` has found so far."""

    def findings(self) -> list[Finding]:
        """Ask the questions, up to the first mistake that is in `LAST`, and return the policy's
        mistakes: of each kind one, with the smallest question found that shows it."""
        first = self._first
        for case in self.cases():
            self.views += 1
            for found in self.faults(case):
                shown = first.setdefault(found.wrong, found)
                first[found.wrong] = min(shown, found, key=lambda it: len(it.view))
            if LAST & first.keys():
                return list(first.values())
        return [self._smallest(found) for found in first.values()]

    def cases(self) -> Sequence[AskedCase]:
        """Return the random questions at the policy's decision point, which are the same each
        time."""
        self.tell(LOADING, Tried(self.point, self.views, list(self._first.values())))
        return questions(self.point, self.asked)

    def _smallest(self, found: Finding) -> Finding:
        def same(case: AskedCase) -> Finding | None:
            return next((it for it in self.faults(case) if it.wrong is found.wrong), None)

        search = _settings(self.asked, Phase.generate, Phase.shrink)
        try:
            case = find(POINTS[self.point][1](), lambda it: same(it) is not None, settings=search)
        except (NoSuchExample, Flaky):  # a fault that depends on the time, say, may not recur
            return found
        return same(case) or found

    def faults(self, case: AskedCase) -> Iterator[Finding]:
        """Ask the policy one question, and once more to see whether its answer is the same; yield
        its mistakes."""
        for wrong, details in self._faults(case):
            yield Finding(wrong, details, repr(case))

    def _faults(self, case: AskedCase) -> Iterator[tuple[Wrong, str]]:
        arguments = case.make()
        before, began = repr(arguments), time.perf_counter()
        try:
            answer = self._answer(case, arguments)
        except BadDecision as error:
            yield _kind_of(error), str(error)
            return
        except Exception as error:
            yield Wrong.RAISES, f"raised {type(error).__name__}: {error}"
            return
        took = time.perf_counter() - began
        if took > self.patience:
            yield Wrong.SLOW, f"{took:.2g} s, and {self.patience:g} s are granted"
            return
        # A repr shows a change only where fresh arguments have the same repr as the first ones had.
        if repr(case.make()) == before != repr(arguments):
            yield Wrong.MUTATES, f"afterwards it reads\n  {_changed(before, repr(arguments))}"
        if stalled := case.stalls(answer):
            yield Wrong.STALLS, stalled
        if (again := self._second_answer(case)) != repr(answer):
            yield Wrong.FICKLE, f"first {answer!r}, then {again}"

    def _second_answer(self, case: AskedCase) -> str:
        """Ask the same question again, and return the answer as text. If the policy raises an
        error, return the error's name and message."""
        try:
            return repr(self._answer(case, case.make()))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def _answer(self, case: AskedCase, arguments: tuple[Any, ...]) -> Any:
        # Twice the limit: an answer only a little late is reported with its time instead.
        self._tell(2 * self.patience, case)
        try:
            with memory_limit():
                return case.judge(self.policy, *arguments)
        finally:
            self._tell(LOADING, case)

    def _tell(self, seconds: float, case: AskedCase) -> None:
        known = list(self._first.values())
        self.tell(seconds, Tried(self.point, self.views, known, repr(case)))


def _settings(asked: int, *phases: Phase) -> settings:
    return settings(
        max_examples=asked,
        deadline=None,
        database=None,
        derandomize=True,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )


@cache
def questions(point: Point, asked: int) -> Sequence[AskedCase]:
    """Return at most `asked` random questions of a decision point, the same each time; they are
    made once, which takes longer than most answers."""
    found: list[AskedCase] = []

    def collect(case: AskedCase) -> None:
        found.append(case)

    _settings(asked, Phase.generate)(given(POINTS[point][1]())(collect))()
    return found


def _kind_of(error: BadDecision) -> Wrong:
    if isinstance(error, EndlessAnswer):
        return Wrong.ENDLESS
    if isinstance(error.__cause__, MemoryError):
        return Wrong.HUGE
    return Wrong.RAISES if error.__cause__ else Wrong.ANSWER


def tried(
    load: Callable[[], Any],
    named: str | None = None,
    asked: int = 200,
    patience: float = 1.0,
    loading: float = LOADING,
) -> Tried:
    """Load a policy and test it, in a process that is killed where the policy does not end.

    Raises Unfinished where it is not loaded within `loading` seconds, and the errors of `load` and
    `recognised`.
    """
    slow: set[Point] = set()
    while True:
        try:
            return watched(partial(_try, load, named, asked, patience, loading, frozenset(slow)))
        except Unfinished as error:
            if isinstance(error.step, Point):
                slow.add(error.step)
            elif isinstance(error.step, Tried):
                found = Finding(*_unfinished(error, patience), error.step.view)
                return evolve(error.step, findings=[*error.step.findings, found])
            else:
                raise


def _try(
    load: Callable[[], Any],
    named: str | None,
    asked: int,
    patience: float,
    loading: float,
    slow: Set[Point],
    tell: Tell,
) -> Tried:
    tell(loading, None)
    with memory_limit():
        policy = load()
    point = recognised(policy, named, patience, slow, tell)
    trial = Trial(policy, point, asked, patience, tell)
    findings = trial.findings()
    return Tried(point, trial.views, findings)


def _unfinished(error: Unfinished, patience: float) -> tuple[Wrong, str]:
    if error.code is None:
        return Wrong.SLOW, f"no answer within {patience:g} s"
    return Wrong.ENDS, error.how


def suits(policy: Any, point: Point, patience: float = 1.0, tell: Tell = untold) -> bool:
    """Return whether the policy answers at least one of some questions of this decision point, or
    takes more than it may.

    `tell` is told the point before each question.
    """
    trial = Trial(policy, point, TRIED, patience, lambda seconds, _: tell(seconds, point))
    wrong = {Wrong.RAISES, Wrong.ANSWER}
    found = ({it.wrong for it in trial.faults(case)} for case in trial.cases())
    return any(wrong.isdisjoint(it) for it in found)


def recognised(
    policy: Any,
    named: str | None = None,
    patience: float = 1.0,
    slow: Set[Point] = frozenset(),
    tell: Tell = untold,
) -> Point:
    """Return the decision point `named`, or else the only one that the policy fits.

    A policy fits a point if it has the parameters of the point's Protocol, and answers its
    questions or takes more than it may, as is known for `slow`. Raises InputError where no point,
    or more than one, fits.
    """
    known = ", ".join(point.value for point in Point)
    if named is not None:
        try:
            return Point(named)
        except ValueError:
            raise InputError(COMMAND_LINE, "--point", f"{named!r} is none", known) from None
    found = _candidates(policy)
    if not found:
        problem = f"{policy!r} has the signature of no decision point (policies/interface)"
        raise InputError(COMMAND_LINE, "POLICY", problem, known)
    if len(found) > 1:
        fits = (it for it in found if it in slow or suits(policy, it, patience, tell))
        found = list(fits) or found
    if len(found) > 1:
        several = " or ".join(point.value for point in found)
        problem = f"its signature suits {several}"
        raise InputError(COMMAND_LINE, "--point", problem, f"{several}, named")
    return found[0]


def _candidates(policy: Any) -> list[Point]:
    """Return the decision points that a policy may be for.

    The class of agents, or a method `allot`, `at`, `places` or `retires`, tells the point. Else the
    policy, if it can be called, fits the points whose Protocol has parameters of the same names or,
    if there are none, as many parameters.
    """
    if isinstance(policy, Agent):
        return [Point.AGENT]
    methods = {
        "allot": Point.BATCH_ALLOCATION,
        "at": Point.ORDER,
        "places": Point.PLACEMENT,
        "retires": Point.RETIREMENT,
    }
    for method, point in methods.items():
        if callable(getattr(policy, method, None)):
            return [point]
    if not callable(policy):
        return []
    mine = _parameters(policy)
    asked = {point: _parameters(it.__call__) for point, (it, _) in POINTS.items() if it}
    named = [point for point, theirs in asked.items() if theirs == mine]
    return named or [point for point, theirs in asked.items() if len(theirs) == len(mine)]


def _parameters(call: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters that have no default, without `self`."""
    taken = inspect.signature(call).parameters.items()
    return [name for name, it in taken if name != "self" and it.default is it.empty]


def _changed(before: str, after: str) -> str:
    """Return the part of the text `after` around the first place at which it differs from
    `before`."""
    pairs = enumerate(zip(before, after, strict=False))
    same = next((k for k, (old, new) in pairs if old != new), len(before))
    start = max(0, same - 60)
    return f"{'...' if start else ''}{after[start : same + 60]}..."


@contextmanager
def memory_limit() -> Iterator[None]:
    """Have MemoryError raised in a block that takes more than MEMORY; does nothing where the system
    has no such limit (Windows, macOS).

    A list without an end would take all memory before its time is over.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    finite = [it for it in (soft, hard, MEMORY) if it != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(finite), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
