"""A run in a few numbers: one fold over its events, in memory or from a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

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
            *(JobSubmitted, JobCompleted, JobKilled, RunEnded, CopiesSettled, IterationCompleted),
            *(JobsLeftOut, JobsChanged, ScenarioStarted, ScenarioEnded),
        )
    )

    def __call__(self, record: Record) -> None:
        self.time, self.events = record.t, record.seq + 1
        match event := record.event:
            case JobSubmitted():
                self.submitted[event.job] = record.t
            case RunEnded():
                self.outcomes[event.outcome] += 1
            case JobCompleted():
                self.completed[event.job] = record.t
            case JobKilled():
                self.killed[event.job] = record.t
            case _:
                self._tell(event)

    def _tell(self, event: Event) -> None:
        match event:
            case IterationCompleted():
                self.iterations += 1
            case CopiesSettled():
                completed = sum(run is not None for run in event.completed)
                self.outcomes[Outcome.COMPLETED] += completed
                self.outcomes[Outcome.CANCELLED] += sum(event.copies) - completed
            case JobsLeftOut():
                self.left_out[event.reason] = event.jobs
            case JobsChanged():
                self.changed[event.how] = event.jobs
            case ScenarioStarted():
                self.started = event
            case ScenarioEnded():
                self.end = event.end

    @property
    def makespan(self) -> float | None:
        """When the last job was completed or killed; None where one is left."""
        gone = len(self.completed) + len(self.killed)
        if not gone or gone != len(self.submitted):
            return None
        return max(chain(self.completed.values(), self.killed.values()))

    @property
    def flowtimes(self) -> list[float]:
        """Completion minus submission of each completed job, in order of submission."""
        done = self.completed
        return [done[job] - then for job, then in self.submitted.items() if job in done]

    def as_json(self) -> dict[str, object]:
        """The summary as data; the keys that `--json` prints."""
        started = self.started
        whole = {it: getattr(started, it, None) for it in ("scenario", "seed", "policy", "unit")}
        lists = {it: list(getattr(started, it, ())) for it in ("kinds", "settings")}
        return {
            **whole,
            **lists,
            "makespan": self.makespan,
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

    @property
    def unit(self) -> str:
        """Of all times: `s` or `slot`; empty where the log does not tell."""
        return self.started.unit if self.started else ""

    def rows(self) -> Iterator[tuple[str, str]]:
        """The summary for people: names, and what they are."""
        yield "end", self.end.value if self.end else "interrupted: the log stops early"
        makespan = self.makespan
        yield "makespan", "not reached" if makespan is None else _exactly(makespan, self.unit)
        killed = f", {len(self.killed):,} killed" if self.killed else ""
        yield "jobs", f"{len(self.completed):,} of {len(self.submitted):,} completed{killed}"
        if self.iterations:
            yield "iterations", f"{self.iterations:,}"
        runs = (f"{self.outcomes[it]:,} {it.value}" for it in Outcome if self.outcomes[it])
        yield "runs", ", ".join(runs) or "none ended"
        yield "events", f"{self.events:,}"
        yield from (("left out", f"{jobs:,}: {why}") for why, jobs in self.left_out.items())
        yield from (("changed", f"{jobs:,}: {how}") for how, jobs in self.changed.items())

    @property
    def title(self) -> str:
        """What was run, in a line."""
        return title_of(self.started) if self.started else "?"

    def lines(self) -> list[str]:
        """The summary for people."""
        return [self.title, *map(line_of, self.rows())]


def line_of(row: tuple[str, str]) -> str:
    """A name, and what it is."""
    return "  {:<12}{}".format(*row)


def _exactly(time: float, unit: str) -> str:
    """`89 d 2 h 8 min 12 s (7,697,292 s)`: as people read it, and as others state it."""
    told, whole = in_units(time, unit), counted(time, unit, units(unit))
    return told if told == whole else f"{told} ({whole})"
