"""How long a job would take by itself: what its flowtime is measured against."""

from __future__ import annotations

from math import isnan, nan

from attrs import define, field

from actors.events import JobDescribed, RunStarted
from actors.runtime import Record


def own_time(work: float, described: JobDescribed | None, before: float = nan) -> float:
    """A job's own error-free time, once a run of so much `work` has started; `before`: as it was
    known from earlier runs.

    It is that of one run from scratch at speed 1, verification included and without checkpoints, on
    the workers of its last run (its first one where it is malleable: it changes their number while
    it runs). Not a number for iterative jobs: it would depend on which workers stay UP.
    """
    if described is None or described.kind == "iterative":
        return nan
    if described.kind == "malleable" and not isnan(before):
        return before
    return work + described.verification


@define
class OwnTimes:
    """Fold: job -> its own time, where the log knows one."""

    wants: frozenset[type] = frozenset((JobDescribed, RunStarted))
    times: dict[str, float] = field(factory=dict)
    _described: dict[str, JobDescribed] = field(factory=dict)

    def __call__(self, record: Record) -> None:
        event = record.event
        if isinstance(event, JobDescribed):
            self._described[event.job] = event
        elif isinstance(event, RunStarted):
            before = self.times.get(event.job, nan)
            own = own_time(event.work, self._described.get(event.job), before)
            if not isnan(own):
                self.times[event.job] = own
