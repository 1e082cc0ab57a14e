"""An adversary, who takes the worker that hurts most."""

from typing import ClassVar

from attrs import define, field

from actors.acts import Act
from actors.agents.agent import Agent, Reminder
from actors.events import CheckpointTaken, RunEnded, RunStarted
from actors.intervals import count_in, numbers_in
from actors.runtime import handles
from policies.availability import WorkerState


@define(eq=False)
class Adversary(Agent):
    """Every `every` time units it takes a worker of the run that loses most by it: the one with the
    most processor-time since it began or was saved last. It keeps the worker DOWN for `keeps`, and
    does so `strikes` times."""

    does: ClassVar = (Act.TAKE,)
    every: float
    keeps: float = 1
    strikes: int = 10
    _workers: dict[tuple[str, int], str] = field(init=False, factory=dict)
    _safe: dict[tuple[str, int], tuple[float, int]] = field(init=False, factory=dict)
    """Maps each run to the time and the event up to which nothing can be lost."""

    def begin(self, cause: int) -> None:
        self.wait(self.every, cause)

    @handles(RunStarted, CheckpointTaken, RunEnded)
    def hear(self, event: RunStarted | CheckpointTaken | RunEnded, cause: int) -> None:
        run = event.job, event.run
        self._safe[run] = self.now, cause
        if isinstance(event, RunStarted):
            self._workers[run] = event.processors
        if isinstance(event, RunEnded):
            del self._workers[run], self._safe[run]

    @handles(Reminder)
    def strike(self, _: Reminder, cause: int) -> None:
        worst = max(self._workers, key=self._at_stake, default=None)
        if worst is not None and self._at_stake(worst):
            worker, seq = numbers_in(self._workers[worst])[0], self._safe[worst][1]
            self.take(worker, seq, state=WorkerState.DOWN)
            self.give_back(worker, seq, 1 + self.keeps)
            self.strikes -= 1
        if self.strikes:
            self.wait(self.every, cause)

    def _at_stake(self, run: tuple[str, int]) -> float:
        return count_in(self._workers[run]) * (self.now - self._safe[run][0])
