"""The scheduler: one checkpoint and one decision for all arrivals and departures of an instant."""

from __future__ import annotations

import numpy as np
from attrs import define, field
from numpy.random import Generator

from actors.redundant.active import ActiveTable
from actors.redundant.decisions import check, typed
from actors.redundant.job import Job
from actors.redundant.messages import (
    Checkpoint,
    Checkpointed,
    Clone,
    CopiesEnded,
    Decide,
    Done,
    Submit,
)
from actors.runtime import Actor, Phase, handles
from policies.interface.redundancy import Counts, RedundancyPolicy


@define(eq=False)
class Scheduler(Actor):
    """Knows the active jobs, oldest first, and asks the policy whenever one comes or goes."""

    policy: RedundancyPolicy
    servers: int
    expected: int
    """Jobs that will come; the run is over when they have all left."""
    rng: Generator
    multitasking: bool = True
    """Whether a server may run several copies at once."""
    exact: bool = False
    cluster: Actor = field(init=False)
    jobs: list[Job] = field(init=False, factory=list)
    """Active jobs, oldest first."""
    table: ActiveTable = field(init=False)
    """Their numbers, in the same order."""
    served: Counts = field(init=False)
    """Columns of the jobs that the last decision serves, in its order."""
    arrived: list[Job] = field(init=False, factory=list)
    ask: RedundancyPolicy = field(init=False)
    deciding: bool = field(init=False, default=False)
    completed: int = field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self.table = ActiveTable(self.exact)
        self.served = np.zeros(0, dtype=np.intp)
        self.ask = typed(self.policy)

    @handles(Submit)
    def submit(self, message: Submit) -> None:
        self.arrived.append(message.job)
        self._decide_soon()

    @handles(CopiesEnded)
    def note_end(self, message: CopiesEnded) -> None:
        self._decide_soon()

    def _decide_soon(self) -> None:
        if not self.deciding:
            self.deciding = True
            self.at(self.now, Decide(), Phase.DECISION)

    @handles(Decide)
    def take_checkpoint(self, message: Decide) -> None:
        self.deciding = False
        self.send(self.cluster, Checkpoint())

    @handles(Checkpointed)
    def decide(self, message: Checkpointed) -> None:
        remaining = message.remaining
        self.table.update(self.served, remaining)
        if np.count_nonzero(remaining) < len(remaining):
            self._depart(self.served[remaining == 0])
        if self.arrived:
            self._admit()
        if self.jobs:
            self._place()
        else:
            self.served = self.served[:0]
        if self.completed == self.expected:
            self.system.finish()

    def _depart(self, columns: Counts) -> None:
        for column in sorted(columns.tolist(), reverse=True):
            self.send(self.jobs.pop(column), Done())
            self.table.remove(column)
        self.completed += len(columns)

    def _admit(self) -> None:
        for job in self.arrived:
            self.jobs.append(job)
            self.table.add(job.name, job.arrival, job.size)
        self.arrived = []

    def _place(self) -> None:
        view = self.table.view(self.servers)
        allocation = self.ask(view, self.rng)
        check(allocation, view, self.policy, self.multitasking)
        served = self.served = allocation.jobs
        names = list(map(self.table.names.__getitem__, served.tolist()))
        clone = Clone(allocation, view.remaining[served], view.sizes[served], names)
        self.send(self.cluster, clone)

    def waits_for(self) -> str | None:
        missing = self.expected - self.completed
        return f"{missing} jobs of {self.expected} to end" if missing else None
