"""A run in a few numbers: one fold over its events, in memory or from a log."""

from __future__ import annotations

from collections import Counter

from attrs import define, field

from actors.events import (
    CopiesSettled,
    End,
    IterationCompleted,
    JobCompleted,
    JobKilled,
    JobsChanged,
    JobsLeftOut,
    JobSubmitted,
    Outcome,
    RunEnded,
    ScenarioEnded,
    ScenarioStarted,
)
from actors.runtime import Event, Record
from sims.telling import counted, in_units, title_of, units


@define
class Summary:
    """Fold: call it with each record of a run, then read it. A sink that wants few events."""

    started: ScenarioStarted | None = None
    end: End | None = None
    """None: the log stops before the run's end."""
    time: float = 0
    """Virtual time of the last record seen."""
    events: int = 0
    submitted: dict[str, float] = field(factory=dict)
    """Job -> when it was submitted."""
    completed: dict[str, float] = field(factory=dict)
    """Job -> when it was completed."""
    killed: dict[str, float] = field(factory=dict)
    """Job -> when it had reached the user's estimate and was cancelled for it."""
    iterations: int = 0
    left_out: dict[str, int] = field(factory=dict)
    """Why jobs of a workload do not take part -> how many."""
    changed: dict[str, int] = field(factory=dict)
    """How jobs of a workload were changed before the run -> how many."""
    outcomes: Counter[Outcome] = field(factory=Counter)
    """How the runs ended."""

    wants = frozenset(
        (
            *(ScenarioStarted, ScenarioEnded, JobSubmitted, JobCompleted, JobKilled),
            *(RunEnded, CopiesSettled, IterationCompleted, JobsLeftOut, JobsChanged),
        )
    )

    def __call__(self, record: Record) -> None:
        self.time, self.events = record.t, record.seq + 1
        self._fold(record.t, record.event)

    def _fold(self, t: float, event: Event) -> None:
        match event:
            case RunEnded() | CopiesSettled():
                self._count(event)
            case IterationCompleted():
                self.iterations += 1
            case JobSubmitted(job=job):
                self.submitted[job] = t
            case JobCompleted() | JobKilled():
                gone = self.completed if isinstance(event, JobCompleted) else self.killed
                gone[event.job] = t
            case ScenarioStarted():
                self.started = event
            case ScenarioEnded(end=end):
                self.end = end
            case JobsLeftOut(reason=told, jobs=jobs) | JobsChanged(how=told, jobs=jobs):
                (self.left_out if isinstance(event, JobsLeftOut) else self.changed)[told] = jobs

    def _count(self, event: RunEnded | CopiesSettled) -> None:
        if isinstance(event, RunEnded):
            self.outcomes[event.outcome] += 1
        else:
            completed = sum(run is not None for run in event.completed)
            self.outcomes[Outcome.COMPLETED] += completed
            self.outcomes[Outcome.CANCELLED] += sum(event.copies) - completed

    @property
    def makespan(self) -> float | None:
        """When the last job was completed or killed; None where one is left."""
        gone = [*self.completed.values(), *self.killed.values()]
        return max(gone) if gone and len(gone) == len(self.submitted) else None

    @property
    def flowtimes(self) -> list[float]:
        """Completion minus submission of each completed job, in order of submission."""
        done = self.completed
        return [done[job] - then for job, then in self.submitted.items() if job in done]

    def as_json(self) -> dict[str, object]:
        """The summary as data; the keys that `--json` prints."""
        started = self.started
        return {
            "scenario": started.scenario if started else None,
            "seed": started.seed if started else None,
            "kinds": list(started.kinds) if started else [],
            "policy": started.policy if started else None,
            "settings": list(started.settings) if started else [],
            "makespan": self.makespan,
            "unit": started.unit if started else None,
            "iterations": self.iterations,
            "jobs": len(self.submitted),
            "left_out": self.left_out,
            "changed": self.changed,
            "killed": len(self.killed),
            "completed": self.end is End.COMPLETED,
            "end": self.end.value if self.end else None,
            "runs": {outcome.value: self.outcomes[outcome] for outcome in Outcome},
            "events": self.events,
        }

    def lines(self) -> list[str]:
        """The summary for people."""
        started = self.started
        unit = started.unit if started else ""
        title = title_of(started) if started else "?"
        makespan = "not reached" if self.makespan is None else _exactly(self.makespan, unit)
        killed = f", {len(self.killed):,} killed" if self.killed else ""
        runs = ", ".join(f"{self.outcomes[it]:,} {it.value}" for it in Outcome if self.outcomes[it])
        lines = [
            title,
            f"  end         {self.end.value if self.end else 'interrupted: the log stops early'}",
            f"  makespan    {makespan}",
            f"  jobs        {len(self.completed):,} of {len(self.submitted):,} completed{killed}",
            f"  runs        {runs or 'none ended'}",
            f"  events      {self.events:,}",
        ]
        if self.iterations:
            lines.insert(4, f"  iterations  {self.iterations:,}")
        lines += [f"  left out    {jobs:,}: {reason}" for reason, jobs in self.left_out.items()]
        lines += [f"  changed     {jobs:,}: {how}" for how, jobs in self.changed.items()]
        return lines


def _exactly(time: float, unit: str) -> str:
    """`89 d 2 h 8 min 12 s (7,697,292 s)`: as people read it, and as others state it."""
    told, whole = in_units(time, unit), counted(time, unit, units(unit))
    return told if told == whole else f"{told} ({whole})"
