"""An operator, who drains a node that has failed too often."""

from collections import deque
from typing import ClassVar

from attrs import define, field

from actors.acts import Act
from actors.agents.agent import Agent, Reminder
from actors.events import WorkerChanged
from actors.runtime import handles
from policies.availability import WorkerState
from policies.maths.tolerance import ROUNDING

DOWN = WorkerState.DOWN


@define(eq=False)
class Operator(Agent):
    """Takes all workers of a node DOWN for `service` time units once the node has had `faults`
    faults within `window` time units. Faults are those with a downtime of their own."""

    does: ClassVar = (Act.TAKE,)
    service: float = 86_400
    faults: int = 2
    window: float = 604_800
    """Default: a week of seconds."""
    _known: dict[int, deque[float]] = field(init=False, factory=dict)
    """Maps each node to the times of its last faults."""
    _drained: set[int] = field(init=False, factory=set)

    @handles(WorkerChanged)
    def worker_changed(self, event: WorkerChanged, cause: int) -> None:
        node = event.worker // self.world.node
        times = self._known.setdefault(node, deque(maxlen=self.faults))
        fault = event.state is DOWN and event.until is not None
        if not fault or self.now in times or node in self._drained:
            return  # the workers of a node fail together
        times.append(self.now)
        if len(times) == self.faults and self.now <= (times[0] + self.window) * (1 + ROUNDING):
            self._drained.add(node)
            for worker in self._workers(node):
                self.take(worker, cause, state=DOWN)
            self.wait(1 + self.service, cause, node)

    @handles(Reminder)
    def serviced(self, reminder: Reminder, cause: int) -> None:
        self._drained.discard(reminder.about)
        self._known.pop(reminder.about)
        for worker in self._workers(reminder.about):
            self.give_back(worker, cause)

    def _workers(self, node: int) -> range:
        size = self.world.node
        return range(node * size, min((node + 1) * size, self.world.workers))
