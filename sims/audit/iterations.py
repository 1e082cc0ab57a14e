"""Laws of an iterative application's iterations and configurations (002, III.A)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import JobCompleted, RunEnded, ScenarioStarted
from actors.runtime import Record
from actors.volatile.events import (
    ConfigurationChosen,
    IterationCompleted,
    IterationStarted,
    PlatformDescribed,
)
from sims.audit.law import Law, Violation
from sims.telling import counted


@define
class IterationAuditor:
    """Iterations follow each other; a configuration has all tasks, and no more than fit."""

    platform: PlatformDescribed | None = None
    index: dict[str, int] = field(factory=dict)
    """Worker -> its number."""
    iteration: int = -1
    iterating: bool = False
    running: bool = False

    def __call__(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case ScenarioStarted(workers=names):
                self.index = {name: k for k, name in enumerate(names)}
            case PlatformDescribed():
                self.platform = record.event
            case IterationStarted(iteration=iteration):
                yield from self._begin(iteration, record.seq)
            case IterationCompleted(iteration=iteration):
                yield from self._end(iteration, record.seq)
            case ConfigurationChosen():
                self.running = True
                yield from self._configure(record.event, record.seq)
            case RunEnded():
                self.running = False
            case JobCompleted():
                yield from self._complete(record.seq)

    def close(self, last: Record) -> Iterator[Violation]:
        return iter(())

    def _begin(self, iteration: int, seq: int) -> Iterator[Violation]:
        if self.iterating or iteration != self.iteration + 1:
            yield Violation(Law.SEQUENCE, (seq,), f"iteration {iteration} follows {self.iteration}")
        self.iteration, self.iterating = iteration, True

    def _end(self, iteration: int, seq: int) -> Iterator[Violation]:
        if not self.iterating or iteration != self.iteration or self.running:
            yield Violation(Law.SEQUENCE, (seq,), f"iteration {iteration} was not about to end")
        self.iterating = False

    def _complete(self, seq: int) -> Iterator[Violation]:
        wanted = self.platform.iterations if self.platform is not None else None
        if self.iterating or self.iteration + 1 != wanted:
            why = f"{counted(self.iteration + 1, 'iteration')} of {wanted}"
            yield Violation(Law.SEQUENCE, (seq,), why)

    def _configure(self, event: ConfigurationChosen, seq: int) -> Iterator[Violation]:
        if not self.iterating or event.iteration != self.iteration:
            yield Violation(Law.SEQUENCE, (seq,), f"iteration {event.iteration} is not under way")
        platform, index = self.platform, self.index
        if platform is None or not all(name in index for name, _ in event.members):
            yield Violation(Law.DECISION, (seq,), "a worker that is not of the platform")
            return
        if sum(tasks for _, tasks in event.members) != platform.tasks:
            yield Violation(Law.DECISION, (seq,), f"not {counted(platform.tasks, 'task')} in all")
        work = max(tasks * platform.speeds[index[name]] for name, tasks in event.members)
        if event.work != work:
            yield Violation(Law.LOCKSTEP, (seq,), f"W = {event.work}, max x_q w_q = {work}")
        for name, tasks in event.members:
            if tasks > platform.bounds[index[name]]:
                yield Violation(
                    Law.CAPACITY, (seq,), f"{name} cannot hold {counted(tasks, 'task')}"
                )
