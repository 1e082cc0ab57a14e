"""Laws of every log: its numbers, times and causes; its beginning and its end."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from actors.events import (
    SCHEMA,
    BatchOpened,
    BoundsDescribed,
    ChainsBelieved,
    CopiesPlaced,
    CopiesSettled,
    DeciderKind,
    End,
    EndExpected,
    JobDescribed,
    JobSubmitted,
    PackDescribed,
    RedistributionDecided,
    ReservationMade,
    ScenarioEnded,
    ScenarioStarted,
    ShelfOpened,
    WorkloadEnded,
)
from actors.runtime import Event, Record
from policies.copies import named
from policies.enrolment import CATALOGUE as ENROLMENT
from policies.pack.names import NAMES as PACK
from policies.queue.names import is_strategy
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World


def _of_copies(name: str) -> bool:
    try:
        named(name)
    except ValueError:
        return False
    return True


UNITS = ("s", "slot")
FIXED = "FIXED"
POLICIES: dict[DeciderKind, Callable[[str], bool]] = {
    DeciderKind.QUEUE: is_strategy,
    DeciderKind.ENROLMENT: lambda name: name in ENROLMENT or name == FIXED,
    DeciderKind.PACK: lambda name: name in PACK,
    DeciderKind.COPIES: _of_copies,
}
"""By decider, whether a name is that of a policy of it."""
KINDS = {
    DeciderKind.ENROLMENT: "iterative",
    DeciderKind.PACK: "malleable",
    DeciderKind.COPIES: "rigid",
}
"""By decider, the jobs that it decides for; a queue takes all kinds."""
DECIDED: dict[type[Event], DeciderKind] = {
    ShelfOpened: DeciderKind.QUEUE,
    BatchOpened: DeciderKind.QUEUE,
    ReservationMade: DeciderKind.QUEUE,
    BoundsDescribed: DeciderKind.ENROLMENT,
    ChainsBelieved: DeciderKind.ENROLMENT,
    PackDescribed: DeciderKind.PACK,
    EndExpected: DeciderKind.PACK,
    RedistributionDecided: DeciderKind.PACK,
    CopiesPlaced: DeciderKind.COPIES,
    CopiesSettled: DeciderKind.COPIES,
}
"""What only one way of deciding tells."""


@define(eq=False)
class OrderAuditor:
    """Numbers, times, causes. It is asked before all others, of a record that seems wrong."""

    world: World

    def check(self, last: Record | None, record: Record, problem: str | None) -> None:
        """Report what is wrong with `record`, which comes after `last`; `problem`: its cause's, by
        the law of causes."""
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
        elif problem is not None:
            breaks(Law.CAUSE, (cause, seq), problem)
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
    kinds: set[str] = field(factory=set)
    """Of the jobs that have been described."""

    @property
    def handlers(self) -> Handlers:
        return {
            ScenarioStarted: self._begin,
            JobSubmitted: self._submit,
            JobDescribed: self._describe,
            **dict.fromkeys(DECIDED, self._note),
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
        elif not self.world.cut:
            self._all_told(seq)

    def _all_told(self, seq: int) -> None:
        """The log holds what its first record says."""
        started = self.world.started
        if started is None:
            return
        if self.kinds != set(started.kinds):
            why = f"the scenario has jobs of kinds {started.kinds}; there are {sorted(self.kinds)}"
            self.world.breaks(Law.FRAME, (0, seq), why)
        if started.decider is DeciderKind.PACK and self.world.pack is None:
            self.world.breaks(Law.FRAME, (0, seq), "a pack decides, and no pack is described")

    def _describe(self, event: JobDescribed, t: float, seq: int) -> None:
        self.kinds.add(event.kind)

    def _note(self, event: Event, t: float, seq: int) -> None:
        started, decider = self.world.started, DECIDED[type(event)]
        if started is not None and started.decider is not decider:
            told = f"{type(event).__name__} is told by {decider.value}"
            why = f"{told}, and {started.decider.value} decides"
            self.world.breaks(Law.FRAME, (0, seq), why)

    def _begin(self, event: ScenarioStarted, t: float, seq: int) -> None:
        if t != 0 or event.processors < 1 or not event.kinds:
            why = f"{event.processors} workers, jobs of kinds {event.kinds}, at {t}"
            self.world.breaks(Law.FRAME, (seq,), why)
        if event.schema != SCHEMA or event.unit not in UNITS:
            why = f"format {event.schema}, unit {event.unit}"
            self.world.breaks(Law.FRAME, (seq,), why)
        elif ":" not in event.policy and not POLICIES[event.decider](event.policy):
            why = f"{event.policy} is no policy of {event.decider.value}"
            self.world.breaks(Law.FRAME, (seq,), why)
        only = KINDS.get(event.decider)
        if only is not None and set(event.kinds) != {only}:
            why = f"{event.decider.value} decides for {only} jobs; there are {event.kinds}"
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
