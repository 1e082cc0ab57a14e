"""Finds what limits by user, group or queue leave to a waiting job, and puts into words which one
it would exceed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from attrs import frozen

from actors.events import ScenarioStarted
from actors.intervals import count_in
from sims.history.reader import Job, Run
from sims.scenario.policy import value_of
from sims.telling import counted


@frozen
class Left:
    """Processors that one limit leaves to further jobs of one name."""

    processors: float
    words: str
    """Words for what counts against the limit now."""


@frozen
class Room:
    """Processors that the limits of a job leave to it."""

    left: tuple[Left, ...] = ()

    def exceeded(self, processors: int) -> str:
        """Return the words for the first limit that a run on so many processors would exceed; empty
        where there is none."""
        return next((it.words for it in self.left if it.processors < processors), "")


@frozen
class LimitsTold:
    """The limits of a log's scenario, as its head has them."""

    rows: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, started: ScenarioStarted) -> Self:
        """Return the limits that the head of a log names."""
        found = (it for it in started.settings if it.startswith("limits="))
        rows: Any = value_of(next(found, "limits=[]"))[1]
        return cls(tuple(rows))

    def room(self, job: Job, runs: Iterable[Run]) -> Room:
        """Return what each limit of the job leaves to it beside the runs that hold workers."""
        return Room(tuple(self._left(job, list(runs))) if self.rows else ())

    def _left(self, job: Job, runs: list[Run]) -> Iterable[Left]:
        for row in self.rows:
            per, only = row["per"], [str(name) for name in row.get("only", ())]
            name = getattr(job.event, per)
            if not name or (only and name not in only):
                continue
            its = [it for it in runs if getattr(it.job.event, per) == name]
            about = f"above the limit of {per} {name}"
            if (most := row.get("jobs")) is not None:
                jobs = len({it.job.name for it in its})
                room = 0 if jobs >= most else float("inf")
                yield Left(room, f"{about}: {jobs:,} of {counted(most, 'job')}")
            if (most := row.get("processors")) is not None:
                size = sum(it.asked + count_in(it.rest) for it in its)
                yield Left(most - size, f"{about}: {size:,} of {counted(most, 'processor')}")
