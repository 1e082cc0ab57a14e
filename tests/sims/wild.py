"""An agent that does anything, at any time: random scenarios have it among their actors."""

from __future__ import annotations

from attrs import define, field
from holdfast.agents import Act, Agent

from actors.events import (
    CheckpointTaken,
    JobCompleted,
    JobSubmitted,
    RunEnded,
    RunStarted,
    WorkerChanged,
)
from actors.intervals import numbers_in
from actors.runtime import Event, handles
from policies.availability import WorkerState

HEARD = CheckpointTaken, JobCompleted, JobSubmitted, RunEnded, RunStarted, WorkerChanged


@define(eq=False)
class Wild(Agent):
    """Does what it may to workers, at times of its own and when it hears of something; submits its
    jobs one by one, and cancels some of them."""

    does: tuple[Act, ...] = (Act.TAKE,)
    most: int = 10
    """Acts in all."""
    _acts: list[Act] = field(init=False)
    _last: dict[int, float] = field(init=False, factory=dict)
    """Worker -> time until which nothing more is done to it."""

    def begin(self, cause: int) -> None:
        self._acts = [act for act in self.does if act not in (Act.SUBMIT, Act.CANCEL)]
        for job in self.world.jobs:
            comes = self._time(after=0)
            self.submit(job, cause, comes)
            if Act.CANCEL in self.does and self.rng.random() < 0.4:
                self.cancel_job(job, cause, comes + self._time())
        for _ in range(int(self.rng.integers(4))):
            self._do(int(self.rng.integers(self.world.workers)), cause, 0)

    @handles(*HEARD)
    def hear(self, event: Event, cause: int) -> None:
        job = getattr(event, "job", "")
        if Act.CANCEL in self.does and job in self.world.jobs and self.rng.random() < 0.15:
            self.cancel_job(job, cause, self._time())
        if self.rng.random() < 0.3:
            among = numbers_in(getattr(event, "processors", "")) or range(self.world.workers)
            worker = getattr(event, "worker", int(self.rng.choice(among)))
            self._do(worker, cause, 1)

    def _time(self, after: float = 0.5) -> float:
        steps = int(self.rng.integers(1 if after else 0, 12))
        return float(steps) if self.world.slotted else steps / 2

    def _do(self, worker: int, cause: int, least: int) -> None:
        if not self._acts or not self.most:
            return
        act, after, lasts = self._acts[int(self.rng.integers(len(self._acts)))], 0.0, 0.0
        after = self._time() if least else self._time(0)
        if self.now + after <= self._last.get(worker, -1):
            return
        self.most -= 1
        match act:
            case Act.TAKE:
                lasts = self._time()
                states = WorkerState.RECLAIMED, WorkerState.DOWN
                self.take(worker, cause, after, states[int(self.rng.integers(2))])
                self.give_back(worker, cause, after + lasts)
            case Act.FAIL:
                self.inject_fault(worker, self._time(), cause, after)
            case Act.HANG:
                self.inject_hang(worker, self._time(), cause, after)
            case Act.SPEED:
                lasts = self._time()
                self.set_speed(worker, float(self.rng.choice([0, 0.5, 2])), cause, after)
                self.set_speed(worker, 1, cause, after + lasts)
            case Act.CALL:
                self.call_reserve(cause, after)
                return
        self._last[worker] = self.now + after + lasts
