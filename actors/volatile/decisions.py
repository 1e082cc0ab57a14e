"""Policies propose, actors dispose: what a decision must respect before it is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from pathlib import Path
from traceback import extract_tb
from types import FunctionType

from numpy.random import Generator

from policies.interface import Configuration, Enrolment, EnrolmentPolicy, EnrolmentView


class BadDecision(ValueError):
    """A policy's decision cannot be carried out, or it raised instead of deciding."""


def answer(policy: EnrolmentPolicy, view: EnrolmentView, rng: Generator) -> Configuration | None:
    """The policy's decision, its numbers plain ints.

    Raises BadDecision, naming the policy, where it raises or answers something else.
    """
    try:
        chosen = policy(view, rng)
    except Exception as error:
        problem = f"raised {type(error).__name__}: {error}{_place(error)}"
        raise BadDecision(f"policy {_name(policy)} {problem}") from error
    if chosen is None:
        return None
    try:
        return Configuration(tuple((index(q), index(tasks)) for q, tasks in chosen.members))
    except (AttributeError, TypeError, ValueError):
        problem = "an answer is None or a Configuration of (worker index, tasks) pairs"
        raise _refused(policy, chosen, problem, view) from None


def check(policy: EnrolmentPolicy, chosen: Configuration, view: EnrolmentView) -> None:
    """Raises BadDecision, naming the policy and what it saw, unless `chosen` can be enrolled."""
    problem = _problem(chosen.members, view.enrolment, view.up)
    if problem:
        raise _refused(policy, chosen, problem, view)


def _refused(
    policy: EnrolmentPolicy, chosen: object, problem: str, view: EnrolmentView
) -> BadDecision:
    return BadDecision(f"policy {_name(policy)} answered {chosen}: {problem}; it saw {view}")


def _name(policy: EnrolmentPolicy) -> str:
    """Its repr, but for those that would tell no more than an address in memory."""
    kind = policy if isinstance(policy, FunctionType) else type(policy)
    tells = kind is not policy and type(policy).__repr__ is not object.__repr__
    return repr(policy) if tells else f"{kind.__module__}:{kind.__qualname__}"


def _place(error: Exception) -> str:
    """Where the policy raised: the last line of its own file that was being run."""
    frames = extract_tb(error.__traceback__)[1:]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def _problem(members: Sequence[tuple[int, int]], enrolment: Enrolment, up: int) -> str | None:
    if sum(tasks for _, tasks in members) != enrolment.tasks:
        return f"it must place {enrolment.tasks} tasks in all"
    if [q for q, _ in members] != sorted({q for q, _ in members}):
        return "workers must be sorted by index, each once"
    for q, tasks in members:
        if not 0 <= q < len(enrolment.bounds):
            return f"there is no worker {q}"
        if not up >> q & 1:
            return f"worker {q} is not UP"
        if not 1 <= tasks <= enrolment.bounds[q]:
            return f"worker {q} takes 1 to {enrolment.bounds[q]} tasks"
    return None
