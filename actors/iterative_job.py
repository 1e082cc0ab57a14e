"""An iterative job: m tasks in lockstep, iteration after iteration (volatile13, section III.A)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from actors.copy import Copy
from actors.events import IterationCompleted, IterationStarted, TasksDealt, TasksDescribed
from actors.intervals import grouped
from actors.job import WAITING
from actors.messages import StartCopy
from actors.run import Run
from actors.runs import JobOfRuns


@define(eq=False)
class IterativeJob(JobOfRuns):
    """A job of several iterations in a row, each of m tasks that run in lockstep (rules.md, R1).
    Each iteration is work of its own: at its end the members are released, and what was saved is
    discarded."""

    tasks: int = field(kw_only=True)
    """Number of tasks per iteration, m."""
    iterations: int = field(kw_only=True)
    task_times: Sequence[float] = field(kw_only=True)
    """Time units per task, w_q, of each worker."""
    iteration: int = field(init=False, default=0)

    def describe(self, cause: int) -> int:
        """Log the job's parameters, its tasks, and the beginning of the first iteration. `cause` is
        the number of the event that logs its submission. Return the number (seq) of the last
        event."""
        super().describe(cause)
        times = grouped(self.task_times) if self.system.journal.wants(TasksDescribed) else ()
        self.record(cause, TasksDescribed, self.name, self.tasks, self.iterations, times)
        return self.record(cause, IterationStarted, self.name, self.iteration)

    def logged_work(self) -> float:
        """Return 0, because the work of an iteration depends on the workers that run it."""
        return 0

    def units(self, message: StartCopy) -> tuple[int, ...]:
        """Return the number of tasks of each member of a new copy, in the order of its workers.
        These are the numbers in the scheduler's message, if it has any; else all m tasks are dealt
        out in turn, one by one."""
        if message.tasks:
            return message.tasks
        whole, rest = divmod(self.tasks, message.processors)
        return tuple(whole + (k < rest) for k in range(message.processors))

    def work(self, copy: Copy[Run]) -> float:
        """Return the time of one iteration at speed 1 on the copy's members q: W = max x_q w_q, the
        number of tasks times the time per task of the member for which that is largest (R1)."""
        pairs = zip(copy.members, copy.units, strict=True)
        return max(units * self.task_times[worker] for worker, units in pairs)

    def log_tasks(self, copy: Copy[Run], message: StartCopy | None, cause: int) -> int:
        wanted = self.system.journal.wants(TasksDealt)
        tasks = tuple(sorted(zip(copy.members, copy.units, strict=True))) if wanted else ()
        reason = message.reason if message is not None else None
        return self.record(cause, TasksDealt, self.name, self.iteration, copy.last, tasks, reason)

    def last_work(self) -> bool:
        return self.iteration + 1 == self.iterations

    def complete_work(self, cause: int) -> int:
        cause = self.record(cause, IterationCompleted, self.name, self.iteration)
        self.iteration += 1
        if self.iteration < self.iterations:
            cause = self.record(cause, IterationStarted, self.name, self.iteration)
        return cause

    def waits_for(self) -> str | None:
        if self.state is WAITING:
            return f"workers for iteration {self.iteration}"
        return super().waits_for()
