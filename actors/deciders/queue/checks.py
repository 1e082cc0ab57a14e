"""Checks the answers of a user's order, strategy and allocation before they are used.

The papers' own policies are called directly, because checking an answer often takes longer than
computing it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import index
from typing import cast

from attrs import evolve, frozen

from actors.decisions import BadDecision, answer, finite, items, ours, refusal
from policies.interface.queue import (
    Allocation,
    Allotment,
    BatchAllocation,
    BatchJob,
    BatchPolicy,
    BatchView,
    Decision,
    Draw,
    Moment,
    Order,
    Queued,
    Reservation,
    Strategy,
    TimedOrder,
)
from policies.maths.speedup import usable
from policies.queue.preemption import Preemptive

SHOWN = 10
"""Largest number of jobs of a view that an error names."""


def checked(policy: BatchPolicy) -> BatchPolicy:
    """Return the policy with those of its parts (order, strategy, allocation) that are the user's
    wrapped, so that every answer is checked; a bad answer raises BadDecision. The papers' own parts
    stay as they are."""
    order, strategy, rule = policy.order, policy.strategy, policy.allocation
    if not ours(order):
        safe: Order | TimedOrder = CheckedOrder(cast(Order, order))
        if hasattr(order, "at"):
            safe = CheckedTimed(cast(TimedOrder, order))
        policy = evolve(policy, order=safe)
    if isinstance(strategy, Preemptive) and not ours(strategy.strategy):
        policy = evolve(policy, strategy=Preemptive(CheckedStrategy(strategy.strategy)))
    elif not ours(strategy):
        policy = evolve(policy, strategy=CheckedStrategy(strategy))
    if ours(rule):
        return policy
    if hasattr(rule, "allot"):
        return evolve(policy, allocation=CheckedBatches(cast(BatchAllocation, rule)))
    return evolve(policy, allocation=CheckedAllocation(rule))


@frozen
class CheckedOrder:
    """Calls a user's order and returns the priority that it answers. Raises BadDecision if that is
    no finite number."""

    order: Order

    def __call__(
        self, job: BatchJob, processors: int, time: float, platform: int, draw: Draw
    ) -> float:
        priority = answer(self.order, job, processors, time, platform, draw)
        if finite(priority):
            return priority
        view = f"{job.name} on {processors} of {platform} processors, of time {time!r}"
        raise refusal(self.order, repr(priority), "a priority is a finite number", view)


@frozen
class CheckedTimed:
    """Calls a user's order that changes with time; the order of a moment that it answers is checked
    as by CheckedOrder."""

    order: TimedOrder

    @property
    def half_life(self) -> float | None:
        return self.order.half_life

    def at(self, moment: Moment) -> Order:
        return CheckedOrder(answer(self.order.at, moment))


@frozen
class CheckedStrategy:
    """Calls a user's strategy and returns its decision with lists of its own. Raises BadDecision if
    the decision cannot be carried out: a start that does not wait or does not fit, a cancelled run
    that does not run, or a time that is no number."""

    strategy: Strategy

    def __call__(self, view: BatchView) -> Decision:
        decision = answer(self.strategy, view)
        if not isinstance(decision, Decision):
            problem = "an answer is a Decision, Decision() to start nothing now"
            raise refusal(self.strategy, repr(decision), problem, _seen(view))
        starts = items(self.strategy, decision.starts)
        promises = items(self.strategy, decision.reservations)
        promised = items(self.strategy, decision.promised)
        problem = (
            _starts_problem(starts, view)
            or _promises_problem(promises, view)
            or _promises_problem(promised, view)
            or _cancels_problem(items(self.strategy, decision.cancels), view)
            or _times_problem(decision, view)
        )
        if problem:
            raise refusal(self.strategy, _summary(decision, starts, promises), problem, _seen(view))
        # The decision gets lists of its own: if the answer were the queue itself, it would change
        # while it is read.
        return Decision(
            cast(list[Queued], starts),
            decision.shelf_end,
            cast(list[Reservation], promises),
            decision.wake,
            decision.memory,
            decision.cancels,
            cast(list[Reservation], promised),
        )


def _starts_problem(starts: list[object] | None, view: BatchView) -> str | None:
    if starts is None:
        return "`starts` is a sequence of members of view.queue"
    waiting, free = set(map(id, view.queue)), view.free
    for start in starts:
        if not isinstance(start, Queued) or id(start) not in waiting:
            return f"{_job(start)} is not in the queue; `starts` has members of view.queue"
        waiting.remove(id(start))
        if start.processors > free:
            return f"{_job(start)} needs {start.processors} processors, and {free} are left"
        free -= start.processors
    return None


def _promises_problem(promises: list[object] | None, view: BatchView) -> str | None:
    accepted = "`reservations` is a sequence of Reservation(start, a member of view.queue)"
    if promises is None:
        return accepted
    waiting = set(map(id, view.queue))
    for promise in promises:
        if not isinstance(promise, Reservation) or id(promise.waiting) not in waiting:
            return accepted
        if not finite(promise.start):
            return f"{promise.start!r} is no time of a reservation; a finite number is"
    return None


def _cancels_problem(cancels: list[object] | None, view: BatchView) -> str | None:
    running = {id(run) for run in view.running if run.entry is not None}
    if cancels is None or any(id(run) not in running for run in cancels):
        return "`cancels` is a sequence of members of view.running that are jobs' runs"
    return None


def _times_problem(decision: Decision, view: BatchView) -> str | None:
    if decision.shelf_end is not None and not finite(decision.shelf_end):
        return "`shelf_end` is None or a finite number"
    if decision.wake is not None and not (finite(decision.wake) and decision.wake > view.now):
        return f"`wake` is None or a time after now, {view.now!r}"
    return None


def _summary(
    decision: Decision, starts: Sequence[object] | None, promises: Sequence[object] | None
) -> str:
    """Return a short description of a decision, because a job's own repr takes several lines."""
    parts = [f"starts={_jobs(starts)}", f"shelf_end={decision.shelf_end!r}"]
    parts += [f"reservations={_jobs(promises)}", f"wake={decision.wake!r}"]
    given = [part for part in parts if not part.endswith(("=None", "=[]"))]
    return f"Decision({', '.join(given)})"


def _jobs(them: Sequence[object] | None) -> str:
    return "no sequence" if them is None else f"[{', '.join(map(_job, them))}]"


def _job(it: object) -> str:
    """Return the name of the job that `it` (a reservation, an entry of the queue or a job) is
    about; the repr of anything else."""
    waiting = getattr(it, "waiting", it)
    job = getattr(waiting, "job", waiting)
    return job.name if isinstance(job, BatchJob) else repr(it)


def _seen(view: BatchView) -> str:
    first = [f"{_job(waiting)} ({waiting.processors})" for waiting in view.queue[:SHOWN]]
    queue = _some(first, view.queue)
    free = f"{view.free} of {view.processors} processors free"
    return f"now = {view.now!r}, {free}, queue: {queue or 'empty'}"


Refusal = Callable[[str], BadDecision]
"""Function that makes the error to raise from a text that says what is wrong with a rule's
answer."""


@frozen
class CheckedAllocation:
    """Calls a user's local rule and returns the numbers of processors that it gives to jobs, as
    plain ints. Raises BadDecision unless there is one for each job, from 1 to the most that the job
    can use."""

    rule: Allocation

    def __call__(self, jobs: Sequence[BatchJob], processors: int) -> list[int]:
        answered = answer(self.rule, jobs, processors)
        refused = partial(_refused, self.rule, answered, jobs, processors)
        counts = items(self.rule, answered)
        if counts is None or len(counts) != len(jobs):
            raise refused(f"an answer is {len(jobs)} numbers of processors, one for each job")
        pairs = zip(jobs, counts, strict=True)
        return [_count(job, count, processors, refused) for job, count in pairs]


@frozen
class CheckedBatches:
    """Calls a user's batch rule, which allots processors to the attempts of all jobs of a batch
    together, and returns its allotments. Raises BadDecision unless each job has its number of
    attempts, each on a number of processors that it can use."""

    rule: BatchAllocation

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> list[Allotment]:
        answered = answer(self.rule.allot, jobs, attempts, processors)
        refused = partial(_refused, self.rule, answered, jobs, processors)
        given = items(self.rule, answered)
        if given is None or len(given) != len(jobs):
            raise refused(f"an answer is {len(jobs)} allotments, one for each job")
        rows = zip(jobs, attempts, given, strict=True)
        return [_allotment(*row, processors, refused) for row in rows]


def _allotment(
    job: BatchJob, attempts: int, given: object, processors: int, refused: Refusal
) -> Allotment:
    try:
        pairs = [(index(times), count) for times, count in cast(Allotment, given)]
    except (TypeError, ValueError):
        pairs = []
    if any(times < 1 for times, _ in pairs) or sum(times for times, _ in pairs) != attempts:
        number = f"{attempts} attempt{'s' if attempts > 1 else ''}"
        raise refused(f"{job.name}'s is of (attempts, processors) pairs, {number} in all")
    return tuple((times, _count(job, count, processors, refused)) for times, count in pairs)


def _count(job: BatchJob, given: object, processors: int, refused: Refusal) -> int:
    """Return a job's number of processors, `given` by a user's rule, as a plain int. If it is not
    from 1 to the largest number that the job can use, up to `processors`, raise the error that
    `refused` makes."""
    try:
        count = index(given)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    most = usable(job.profile, processors)
    if not 1 <= count <= most:
        raise refused(f"{job.name} was allotted {given!r}; accepted: 1 to {most} processors")
    return count


def _refused(
    rule: object, answered: object, jobs: Sequence[BatchJob], processors: int, problem: str
) -> BadDecision:
    names = _some([job.name for job in jobs[:SHOWN]], jobs)
    return refusal(rule, repr(answered), problem, f"{processors} processors, jobs: {names}")


def _some(shown: list[str], them: Sequence[object]) -> str:
    """Return the names `shown` as one text; if `them`, the whole list, has more than SHOWN items,
    say how many more."""
    more = [f"{len(them) - SHOWN} more"] if len(them) > SHOWN else []
    return ", ".join(shown + more)
