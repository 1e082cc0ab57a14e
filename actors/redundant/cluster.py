"""The servers together: what runs where, how far it is, and when the first copy ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import define, field

from actors.redundant.costs import Costs, Starts
from actors.redundant.events import CopiesPlaced, CopiesSettled
from actors.redundant.mean import RunningMean
from actors.redundant.messages import (
    Checkpoint,
    Checkpointed,
    Clone,
    CopiesEnded,
    EarliestCopyEnds,
    ServerFailed,
    SpeedChanged,
)
from actors.redundant.placed import Placed
from actors.redundant.placement import Placer
from actors.redundant.runlog import RunLog
from actors.redundant.running import Rotation, Running, RunningCopies
from actors.redundant.service import NEVER, Service
from actors.redundant.states import OwnStates
from actors.runtime import Actor, Phase, Timer, handles
from policies.interface.redundancy import WHOLE, Counts, Numbers, Sharing
from policies.maths.gains import Gain

NOBODY = np.zeros(0)


@define(eq=False)
class Cluster(Actor):
    """M servers, each of which runs copies at its own speed.

    One actor for all copies of all servers: an arrival and the departure that it brings move every
    copy twice, and a message to each of M servers would cost more than all the rest (measured:
    `sims.bench redundancy`).
    """

    scheduler: Actor
    service: Service
    placer: Placer
    costs: Costs
    speed: float = 1.0
    """Speed augmentation: multiplies all service."""
    gain: Gain | None = None
    """g(r, t) for mean semantics; None: sample path."""
    starts: Starts = field(init=False)
    states: OwnStates = field(init=False, factory=OwnStates)
    placed: Placed | None = field(init=False, default=None)
    timer: Timer | None = field(init=False, default=None)
    due: float = field(init=False, default=NEVER)
    """When `timer` comes."""
    log: RunLog = field(init=False)

    def started(self) -> None:
        self.starts = Starts(self.costs, self.service.servers)
        self.log = RunLog(self.service.servers)

    # --- servers ------------------------------------------------------------------------------

    @handles(SpeedChanged)
    def change_speed(self, message: SpeedChanged) -> None:
        self.service.change(message.server, self.now, message.speed)
        self._changed(message.server)

    @handles(ServerFailed)
    def lose(self, message: ServerFailed) -> None:
        now = self.now
        self.service.lose(message.server, now, 1 - self.costs.lost)
        self.service.change(message.server, now, 0.0)
        self._changed(message.server)

    def _changed(self, server: int) -> None:
        if self.placed is not None:
            self.placed.running.change(server, self.now)
            self._aim(self.placed.running.earliest())

    @handles(EarliestCopyEnds)
    def end_copies(self, message: EarliestCopyEnds) -> None:
        if self.placed is not None:
            self.placed.running.mark_ended(self.now)
            self.send(self.scheduler, CopiesEnded())

    def _aim(self, end: float) -> None:
        """Have one timer, for the copy that ends first: whatever ends, all copies are placed
        afresh, so that no later end ever counts."""
        if end == self.due:
            return
        if self.timer is not None:
            self.cancel(self.timer)
        self.timer = self.at(end, EarliestCopyEnds(), Phase.WORK_ENDS) if end < NEVER else None
        self.due = end

    # --- checkpoints --------------------------------------------------------------------------

    @handles(Checkpoint)
    def checkpoint(self, message: Checkpoint) -> None:
        placed = self.placed
        if placed is None:
            self.send(self.scheduler, Checkpointed(NOBODY))
            return
        lefts = placed.running.lefts(self.now)
        left = placed.left(lefts, self.service.exact)
        self.system.journal.record_costly(
            CopiesSettled, lambda: self.log.settlement(placed, lefts, left)
        )
        self._keep(placed, lefts, left)
        self.placed = None
        self._aim(NEVER)
        self.send(self.scheduler, Checkpointed(left))

    def _keep(self, placed: Placed, lefts: Numbers, left: Numbers) -> None:
        """Store what outlives the placement, beside each job's furthest state."""
        clone, own = placed.clone, not placed.clone.allocation.cloning
        if not (own or self.costs.delay):
            return
        over = (left == 0).tolist()
        if own:
            self.states.keep(clone.names, clone.allocation.copies, lefts, over)
        if self.costs.delay:
            self._note_holders(placed, lefts, over)

    def _note_holders(self, placed: Placed, lefts: Numbers, over: list[bool]) -> None:
        names = placed.clone.names
        self.starts.held(names, placed.servers, placed.first, lefts)
        for name, gone in zip(names, over, strict=True):
            if gone:
                self.starts.forget(name)

    @handles(Clone)
    def clone(self, message: Clone) -> None:
        copies = message.allocation.copies
        first = copies.cumsum() - copies
        servers = self._servers(message)
        running = self._running(message, servers, first)
        self.placed = placed = Placed(message, servers, first, running)
        # Before the timer is set: the copies' end has their beginning for its cause.
        self.system.journal.record_costly(
            CopiesPlaced, lambda: self.log.placement(placed, self.now)
        )
        self._aim(running.earliest())

    def _servers(self, clone: Clone) -> Counts:
        """Server of each copy; a rotating job counts as being on the first of its servers."""
        if clone.allocation.sharing is Sharing.ROTATION:
            return np.zeros(len(clone.names), dtype=np.intp)
        return self.placer.place(clone.allocation, clone.names)

    def _running(self, clone: Clone, servers: Counts, first: Counts) -> Running:
        factor = self.speed * self._number(clone.allocation.share)
        rotating = clone.allocation.sharing is Sharing.ROTATION
        if self.gain is not None:
            return self._mean(self.gain, clone, factor * (self.service.servers if rotating else 1))
        if rotating:
            begun = bool((clone.remaining < clone.sizes).any())
            self.service.restart(self.starts.together(self.now, begun), self.costs.delay)
            return Rotation(self.service, clone.remaining, factor)
        left = self._lefts(clone)
        self.service.restart(self._starts(clone, servers), self.costs.delay)
        return RunningCopies(self.service, servers, first, left, factor)

    def _mean(self, gain: Gain, clone: Clone, factor: float) -> Running:
        begun = (clone.remaining < clone.sizes).tolist()
        starts = [self.starts.together(self.now, has) for has in begun]
        exact = self.service.exact
        times = np.array(starts, dtype=object if exact else float)
        copies = clone.allocation.copies
        return RunningMean(gain, copies, clone.remaining, factor, times)

    def _lefts(self, clone: Clone) -> Numbers:
        copies = clone.allocation.copies
        if clone.allocation.cloning:
            return np.repeat(clone.remaining, copies)
        return self.states.starts(clone.names, clone.sizes, copies)

    def _starts(self, clone: Clone, servers: Counts) -> float | Numbers:
        if not self.costs.delay:
            return self.now
        copies = clone.allocation.copies
        return self.starts.per_server(self.now, clone.names, servers, copies)

    def _number(self, value: Fraction | float) -> float:
        if value is WHOLE:
            return 1
        return value if self.service.exact else float(value)  # type: ignore[return-value]
