"""What an enrolment policy sees, as its decider was told of one job and of the platform, and checks
of its decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from operator import index

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
"""What members fetch where there is no master: nothing."""


@define(eq=False)
class RunningConfiguration:
    """The job's configuration (satisfies policies.interface.RunningView)."""

    window: Window = field(repr=False)
    configuration: Configuration
    copy: int
    progress: RunProgress | None = field(default=None, repr=False)
    """What the job said last of its run; None: it does not report."""

    @property
    def waits(self) -> bool:
        """Whether its members are kept for the next run."""
        return self.progress is not None and self.progress.stage is None

    @property
    def work_left(self) -> int:
        progress = self._told()
        return ceil(progress.work - progress.at(self.window.now))

    @property
    def part_left(self) -> float:
        """The part of W that is still to be done."""
        progress = self._told()
        return 1 - progress.at(self.window.now) / progress.work

    def missing(self) -> Sequence[int]:
        members = self.configuration.members
        if self._told().stage is not Stage.STAGING_IN:
            return (0,) * len(members)
        return [self.window.missing(worker, tasks) for worker, tasks in members]

    def _told(self) -> RunProgress:
        assert self.progress is not None
        return self.progress


@define
class Window:
    """One job's policy's view (satisfies policies.interface.EnrolmentView)."""

    name: str
    """The job's."""
    enrolment: Enrolment = field(repr=False)
    needs: Needs = field(repr=False)
    known: Mapping[int, HoldingsChanged] = field(repr=False)
    """What workers told last of what they hold (the scheduler's own, live)."""
    reason: Reason = Reason.START
    elapsed: int = 0
    up: int = field(default=0, repr=bin)
    programmed: int = field(default=0, repr=bin)
    running: RunningConfiguration | None = field(default=None, repr=False)
    now: float = 0
    due_by: float = field(default=0, repr=False)
    """The latest time that is still `now`."""

    def missing(self, worker: int, tasks: int) -> int:
        held, programmed = self.known.get(worker), bool(self.programmed >> worker & 1)
        # A worker may hold another job's data until this instant is decided.
        if held is None or held.job not in (None, self.name):
            return int(time_missing(self.needs, tasks, programmed, 0, 0))
        data, passed = held.data, held.passed
        if held.until <= self.due_by:
            data, passed = data + held.unit, 0
        elif held.since is not None:
            passed += self.now - held.since
        return int(time_missing(self.needs, tasks, programmed, data, passed))


ACCEPTED = "an answer is None or a Configuration of (worker index, tasks) pairs"


def answer(policy: EnrolmentPolicy, view: EnrolmentView, rng: Generator) -> Configuration | None:
    """The policy's decision, its numbers plain ints.

    Raises BadDecision, naming the policy, where it raises or answers something else.
    """
    chosen = decisions.answer(policy, view, rng)
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
