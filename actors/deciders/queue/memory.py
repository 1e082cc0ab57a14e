"""Users' usage and past run times, recorded from the queue's runs."""

from __future__ import annotations

from bisect import insort

from attrs import define, field

from actors.deciders.queue.intake import Entries
from actors.deciders.queue.state import QueueState
from actors.events import Outcome
from policies.interface.queue import Moment, Queued, Run, TimedOrder
from policies.queue.estimates import Estimates
from policies.queue.orders import Usage


@define(eq=False)
class QueueMemory:
    """Keeps the queue sorted by an order that changes with time, and predictions in step."""

    state: QueueState
    entries: Entries
    order: TimedOrder | None
    estimates: Estimates | None
    usage: Usage | None = field(init=False, default=None)
    begun: dict[int, float] = field(init=False, factory=dict)
    """By copy."""
    _due: list[tuple[float, int, float]] = field(init=False, factory=list)
    """(expected end, copy, time believed), where experience predicts; the next one first."""

    def __attrs_post_init__(self) -> None:
        if self.order is not None and self.order.half_life is not None:
            self.usage = Usage(self.order.half_life)

    def started(self, run: Run) -> None:
        """A run has begun."""
        end, _, processors, waiting, _, copy = run
        assert waiting is not None
        self.begun[copy] = now = self.state.now
        if self.usage is not None:
            self.usage.change(waiting.job.user, processors, now)
        if self.estimates is not None:
            insort(self._due, (end, copy, waiting.held - waiting.job.verification))

    def ended(self, run: Run, outcome: Outcome) -> None:
        """A run is over."""
        _, _, processors, waiting, _, copy = run
        assert waiting is not None
        now, begun = self.state.now, self.begun.pop(copy)
        if self.usage is not None:
            self.usage.change(waiting.job.user, -processors, now)
        if self.estimates is not None and outcome is Outcome.COMPLETED:
            self.estimates.completed(waiting.job, now - begun - waiting.job.verification)

    def refresh(self) -> None:
        """A decision is near."""
        if self.estimates is not None:
            self._lengthen(self.estimates)
        if self.order is not None:
            self._sort(self.order)

    def _lengthen(self, estimates: Estimates) -> None:
        """Extend the expected end of runs that have outlived their estimates."""
        due, runs, due_by = self._due, self.state.runs, self.state.loop.due_by
        while due and due[0][0] <= due_by:
            _, copy, believed = due.pop(0)
            run = runs.get(copy)
            if run is None or run[3] is None:
                continue
            longer = estimates.longer(run[3].job, believed)
            if longer is not None:
                end = self.begun[copy] + longer + run[3].job.verification
                self.state.replace((end, *run[1:]))
                insort(due, (end, copy, longer))

    def _sort(self, order: TimedOrder) -> None:
        now, usage, entries = self.state.now, self.usage, self.entries
        moment = Moment(now, lambda user: usage.of(user, now)) if usage else Moment(now)
        entries.order = current = order.at(moment)

        platform, draw = entries.platform, entries.draw

        def key(it: Queued) -> tuple[float, int]:
            job = it.job
            return -current(
                job, it.processors, it.held - job.verification, platform, draw
            ), job.index

        self.state.sort(key)
