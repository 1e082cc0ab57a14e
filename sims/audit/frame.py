"""Laws of every log: its numbers, times and causes; its beginning and its end."""

from __future__ import annotations

from attrs import define

from actors.events import End, JobSubmitted, ScenarioEnded, ScenarioStarted, WorkloadEnded
from actors.runtime import Record
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World


@define(eq=False)
class OrderAuditor:
    """Numbers, times, causes. It is asked of each record, before all others."""

    world: World

    def check(self, last: Record | None, record: Record) -> None:
        """Report what is wrong with `record`, which comes after `last`."""
        seq, cause, breaks = record.seq, record.cause, self.world.breaks
        starts = isinstance(record.event, ScenarioStarted)
        if last is None:
            if seq != 0 or not starts:
                breaks(Law.FRAME, (seq,), "the first event is not ScenarioStarted as #0")
            return
        if seq != last.seq + 1:
            breaks(Law.ORDER, (last.seq, seq), f"#{seq} follows #{last.seq}")
        if record.t < last.t:
            breaks(Law.ORDER, (last.seq, seq), f"time {record.t} follows {last.t}")
        if cause is None or not 0 <= cause < seq:
            breaks(Law.ORDER, (seq,), f"its cause is {cause}")
        if self.world.ended:
            breaks(Law.FRAME, (seq,), f"{type(record.event).__name__} comes after the end")


@define(eq=False)
class FrameAuditor(Auditor):
    """A log ends once, and says how; it completes when its last job does."""

    world: World
    ended: int | None = None
    """seq of ScenarioEnded."""
    over: int | None = None
    """seq of WorkloadEnded."""

    @property
    def handlers(self) -> Handlers:
        return {
            ScenarioStarted: self._begin,
            JobSubmitted: self._submit,
            WorkloadEnded: self._end_workload,
            ScenarioEnded: self._end,
        }

    def passed(self, t: float, seq: int) -> None:
        if self.over is not None:
            why = "something happens after the workload's end"
            self.world.breaks(Law.FRAME, (self.over, seq), why)
            self.over = None

    def close(self, t: float, seq: int) -> None:
        if self.ended is None:
            self.world.breaks(Law.FRAME, (seq,), "the log does not end with ScenarioEnded")

    def _begin(self, event: ScenarioStarted, t: float, seq: int) -> None:
        if t != 0 or event.processors < 1 or not event.kinds:
            why = f"{event.processors} workers, jobs of kinds {event.kinds}, at {t}"
            self.world.breaks(Law.FRAME, (seq,), why)
        if event.workers and len(event.workers) != event.processors:
            why = f"{len(event.workers)} names for {event.processors} workers"
            self.world.breaks(Law.FRAME, (seq,), why)

    def _submit(self, event: JobSubmitted, t: float, seq: int) -> None:
        if self.over is not None:
            why = f"{event.job} is submitted after the workload's end"
            self.world.breaks(Law.FRAME, (self.over, seq), why)

    def _end_workload(self, event: WorkloadEnded, t: float, seq: int) -> None:
        if self.over is not None:
            self.world.breaks(Law.FRAME, (self.over, seq), "the workload ends twice")
        self.over = seq

    def _end(self, event: ScenarioEnded, t: float, seq: int) -> None:
        self.ended, self.world.ended = seq, True
        self.world.cut = event.end is not End.COMPLETED
        if (self.over is not None) != (event.end is End.COMPLETED):
            over = "has not ended" if self.over is None else "has ended"
            why = f"the scenario is {event.end.value} and the workload {over}"
            self.world.breaks(Law.FRAME, (seq,), why)
        self.over = None
