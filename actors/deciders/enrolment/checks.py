"""Checks of an enrolment policy's decision before it is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from numpy.random import Generator

from actors.decisions import BadDecision, blame, refusal
from policies.interface import Configuration, Enrolment, EnrolmentPolicy, EnrolmentView

ACCEPTED = "an answer is None or a Configuration of (worker index, tasks) pairs"


def answer(policy: EnrolmentPolicy, view: EnrolmentView, rng: Generator) -> Configuration | None:
    """The policy's decision, its numbers plain ints.

    Raises BadDecision, naming the policy, where it raises or answers something else.
    """
    try:
        chosen = policy(view, rng)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        blame(policy, error)
    if chosen is None:
        return None
    try:
        return Configuration(tuple((index(q), index(tasks)) for q, tasks in chosen.members))
    except (AttributeError, TypeError, ValueError):
        raise _refused(policy, chosen, ACCEPTED, view) from None


def check(policy: EnrolmentPolicy, chosen: Configuration, view: EnrolmentView) -> None:
    """Raises BadDecision, naming the policy and what it saw, unless `chosen` can be enrolled."""
    problem = _problem(chosen.members, view.enrolment, view.up)
    if problem:
        raise _refused(policy, chosen, problem, view)


def _refused(
    policy: EnrolmentPolicy, chosen: object, problem: str, view: EnrolmentView
) -> BadDecision:
    return refusal(policy, repr(chosen), problem, repr(view))


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
