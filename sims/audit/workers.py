"""A worker's states and speeds (WORLD.md, W1)."""

from __future__ import annotations

from math import isclose

from attrs import define

from actors.events import WorkerChanged, WorkerSpeedChanged
from policies.availability import WorkerState
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

UP, DOWN = WorkerState.UP, WorkerState.DOWN


@define(eq=False)
class WorkerAuditor(Auditor):
    """The state machine; a fault keeps a worker DOWN for as long as any other."""

    world: World
    downtime: float | None = None
    """What a fault's lasts, once one has told."""

    @property
    def handlers(self) -> Handlers:
        return {WorkerChanged: self._change, WorkerSpeedChanged: self._speed}

    def _known(self, number: int, seq: int) -> bool:
        known = 0 <= number < self.world.processors
        if not known:
            why = f"worker {number} of {self.world.processors}"
            self.world.breaks(Law.CAPACITY, (seq,), why)
        return known

    def _change(self, event: WorkerChanged, t: float, seq: int) -> None:
        number, state = event.worker, event.state
        if not self._known(number, seq):
            return
        new = number not in self.world.workers
        worker = self.world.worker(number)
        self._follow(event, None if t == 0 and new and event.was is None else worker.state, seq)
        if worker.until is not None:
            self._return(event, worker.seq, worker.until, t, seq)
        worker.until = event.until
        if event.until is not None:
            self._fail(event, event.until, t, seq)
        worker.state, worker.seq = state, seq
        if state is UP:
            self.world.away.discard(number)
        else:
            self.world.away.add(number)
        self._tell(number, state)

    def _follow(self, event: WorkerChanged, was: WorkerState | None, seq: int) -> None:
        before = self.world.workers[event.worker]
        if event.was is not was or event.state is before.state:
            why = f"worker {event.worker} leaves {event.was} for {event.state}; it was {was}"
            self.world.breaks(Law.STATE, (before.seq, seq), why)

    def _fail(self, event: WorkerChanged, until: float, t: float, seq: int) -> None:
        if until <= t:
            why = f"worker {event.worker} goes DOWN at {t}, until {until}"
            self.world.breaks(Law.DURATION, (seq,), why)
            return
        if self.downtime is None:
            self.downtime = until - t
        if event.state is not DOWN or not isclose(until, t + self.downtime, rel_tol=1e-9):
            why = f"it is {event.state} until {until}, where a fault takes {self.downtime:g}"
            self.world.breaks(Law.DURATION, (seq,), why)

    def _return(self, event: WorkerChanged, down: int, until: float, t: float, seq: int) -> None:
        """It leaves the DOWN that was to last until then. Its owner may have taken it meanwhile, or
        a fault at the very end: then its return is not caused by the first."""
        if t < until and not isclose(t, until, rel_tol=1e-12):
            why = f"worker {event.worker} is back at {t}, before {until}"
            self.world.breaks(Law.STATE, (down, seq), why)

    def _tell(self, number: int, state: WorkerState) -> None:
        """Its holders have a member more that is UP, or less."""
        for copy in self.world.held.on(number):
            self.world.touched[copy] = None
            if state is UP:
                copy.away -= {number}
            else:
                copy.away |= {number}

    def _speed(self, event: WorkerSpeedChanged, t: float, seq: int) -> None:
        if not self._known(event.worker, seq):
            return
        if event.speed < 0:
            why = f"worker {event.worker} has speed {event.speed}"
            self.world.breaks(Law.SPEED, (seq,), why)
        self.world.sped = True
        self.world.worker(event.worker).speed = event.speed
        for copy in self.world.held.on(event.worker):
            self.world.touched[copy] = None
