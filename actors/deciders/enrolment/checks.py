"""Holds an enrolment policy's view, built from what its decider knows of one job and of the
platform, and checks the policy's decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from operator import index
from typing import Any

from attrs import define, field
from numpy.random import Generator

from actors import decisions
from actors.decisions import BadDecision, refusal
from actors.events import Stage
from actors.memory import time_missing
from actors.messages import RunProgress
from actors.worker_messages import HoldingsChanged, Needs
from policies.interface import Configuration, Enrolment, EnrolmentPolicy, EnrolmentView, Reason

FREE = Needs("")
"""The messages of members where there is no master: they fetch nothing."""


@define(eq=False)
class RunningConfiguration:
    """The configuration (workers, with a number of tasks each) on which a job runs at present, as
    its policy sees it (satisfies policies.interface.RunningView)."""

    window: Window = field(repr=False)
    configuration: Configuration
    copy: int
    progress: RunProgress | None = field(default=None, repr=False)
    """The last progress report of the job's run; None where it does not report."""

    @property
    def waits(self) -> bool:
        """Whether the job has no run now, because its members are kept and wait until all of them
        are UP. The policy is not asked about the job meanwhile."""
        return self.progress is not None and self.progress.stage is None

    @property
    def work_left(self) -> int:
        progress = self._last_report()
        return ceil(progress.work - progress.at(self.window.now))

    @property
    def part_left(self) -> float:
        """Part of the configuration's work W, from 0 to 1, that is still to be done."""
        progress = self._last_report()
        return 1 - progress.at(self.window.now) / progress.work

    def missing(self) -> Sequence[float]:
        members = self.configuration.members
        if self._last_report().stage is not Stage.STAGING_IN:
            return (0,) * len(members)
        return [self.window.missing(worker, tasks) for worker, tasks in members]

    def _last_report(self) -> RunProgress:
        assert self.progress is not None
        return self.progress


@define
class Window:
    """One job as its enrolment policy, which chooses the workers of iterative jobs, sees it at one
    instant (satisfies policies.interface.EnrolmentView)."""

    name: str
    """Name of the job."""
    enrolment: Enrolment = field(repr=False)
    needs: Needs = field(repr=False)
    known: Mapping[int, HoldingsChanged] = field(repr=False)
    """Maps each worker to its last report of what it holds; live, and the scheduler's own."""
    reason: Reason = Reason.START
    elapsed: int = 0
    up: int = field(default=0, repr=bin)
    programmed: int = field(default=0, repr=bin)
    running: RunningConfiguration | None = field(default=None, repr=False)
    now: float = 0
    due_by: float = field(default=0, repr=False)
    """The latest time that is still the instant `now`."""

    def missing(self, worker: int, tasks: int) -> float:
        held, programmed = self.known.get(worker), bool(self.programmed >> worker & 1)
        # A worker may hold another job's data until this instant is decided, which does not count
        # here.
        if held is None or held.job not in (None, self.name):
            return time_missing(self.needs, tasks, programmed, 0, 0)
        data, passed = held.data, held.passed
        # A message that ends at this very instant counts as received, before its end is reported.
        if held.until <= self.due_by:
            data, passed = data + held.unit, 0
        elif held.since is not None:
            passed += self.now - held.since
        return time_missing(self.needs, tasks, programmed, data, passed)


ACCEPTED = "an answer is None or a Configuration of (worker index, tasks) pairs"


def answer(policy: EnrolmentPolicy, view: EnrolmentView, rng: Generator) -> Configuration | None:
    """Call the policy and return its decision with plain ints; None if it decides to wait or to
    keep the running configuration.

    Raises BadDecision, which names the policy, where it raises an error or answers with something
    else than None or a Configuration.
    """
    chosen = decisions.answer(policy, view, rng)
    if chosen is None:
        return None
    try:
        members: Any = decisions.items(policy, chosen.members)
        return Configuration(tuple((index(q), index(tasks)) for q, tasks in members))
    except BadDecision:
        raise
    except (AttributeError, TypeError, ValueError):
        raise _refused(policy, chosen, ACCEPTED, view) from None


def check(policy: EnrolmentPolicy, chosen: Configuration, view: EnrolmentView) -> None:
    """Raise BadDecision, with the policy and its view, unless `chosen` can be enrolled: it places
    all tasks, on workers that are UP, sorted, each once and within its bound."""
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
