"""How long a job would take by itself: what its flowtime is measured against."""

from __future__ import annotations

from attrs import define, field

from actors.batch.events import AttemptSized
from actors.malleable.events import ProgressSettled
from actors.redundant.events import JobSized
from actors.runtime import Record


@define
class OwnTimes:
    """Fold: job -> its own error-free time, where the log knows one.

    Rigid and moldable: one attempt, verification included, on the processors of its last one.
    Malleable: the whole work on the processors that it began with, without checkpoints. Redundant:
    its size, the time on a machine of unit speed. Iterative applications have none: it would
    depend on which workers stay UP.
    """

    times: dict[str, float] = field(factory=dict)

    def __call__(self, record: Record) -> None:
        match record.event:
            case AttemptSized(job=job, time=time, verification=verification):
                self.times[job] = time + verification
            case ProgressSettled(job=job, time=time):
                self.times.setdefault(job, time)
            case JobSized(job=job, size=size):
                self.times[job] = size
