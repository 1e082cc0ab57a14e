"""How a pack fares from fault to fault (malleable17, section 6, figure 11)."""

from __future__ import annotations

from attrs import define, field, frozen

from actors.events import EndExpected, JobCompleted, Outcome, RunEnded
from actors.runtime import Record


@frozen
class CoursePoint:
    """The platform after the decision on one fault (malleable17, figure 11)."""

    time: float
    makespan: float
    """The latest expected end, in s."""
    spread: float
    """Standard deviation of the running applications' sizes, in processors."""


@define
class Course:
    """Expected makespan and spread of sizes after each fault that counted (malleable17,
    figure 11)."""

    wants: frozenset[type] = frozenset((JobCompleted, EndExpected, RunEnded))
    moments: list[CoursePoint] = field(factory=list)
    _expected: dict[str, float] = field(factory=dict)
    _sizes: dict[str, int] = field(factory=dict)
    _ended: float = 0.0
    _fault: float | None = None

    def __call__(self, record: Record) -> None:
        if self._fault is not None and record.t > self._fault:
            self._take(self._fault)
        match record.event:
            case RunEnded(outcome=Outcome.LOST):
                self._fault = record.t
            case EndExpected(job=job, processors=size, expected=expected):
                self._sizes[job] = size
                if expected is not None:
                    self._expected[job] = expected
            case JobCompleted(job=job):
                self._ended = record.t
                del self._expected[job], self._sizes[job]

    def _take(self, time: float) -> None:
        self._fault = None
        sizes = list(self._sizes.values())
        mean = sum(sizes) / len(sizes)
        variance = sum((size - mean) ** 2 for size in sizes) / len(sizes)
        latest = max(self._ended, *self._expected.values())
        self.moments.append(CoursePoint(time, latest, variance**0.5))
