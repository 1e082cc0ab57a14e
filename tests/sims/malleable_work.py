"""Does the work of malleable applications add up? The log, replayed without the simulator."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    CheckpointTaken,
    JobCompleted,
    MembersChanged,
    MembersJoined,
    MembersPromised,
    MembersReleased,
    Outcome,
    RateChanged,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    WorkerChanged,
)
from actors.runtime import Event, Record
from policies.availability import WorkerState


def numbers(text: str) -> set[int]:
    """The workers of an interval set such as `0-3 6`."""
    pairs = (word.partition("-") for word in text.split())
    return {n for first, _, last in pairs for n in range(int(first), int(last or first) + 1)}


@define
class _Run:
    work: float
    done: float
    members: set[int]
    stage: Stage | None = None
    rate: float = 0
    spent: float = 0
    """In the present stage, at its rate."""
    since: float = 0
    saved: list[float] = field(factory=list)
    """States of its checkpoints, then what it ended with where it was cancelled."""


@define
class WorkReplay:
    """Rebuilds every run's work from the times in the log and compares; sees who holds whom.

    `problems` has one sentence for each disagreement beyond `tolerance` (of the whole work).
    """

    tolerance: float = 1e-9
    problems: list[str] = field(factory=list)
    away: set[int] = field(factory=set)
    holders: dict[int, tuple[str, int]] = field(factory=dict)
    """Worker -> the run that holds it, or for which it was kept."""
    completed: list[str] = field(factory=list)
    _runs: dict[tuple[str, int], _Run] = field(factory=dict)

    def __call__(self, record: Record) -> None:
        event, now = record.event, record.t
        match event:
            case WorkerChanged(worker=worker, state=state):
                (self.away.discard if state is WorkerState.UP else self.away.add)(worker)
            case RunStarted():
                self._start(record, event)
            case MembersJoined(job=job, run=run, processors=text):
                self._hold(record, (job, run), numbers(text))
                self._runs[job, run].members |= numbers(text)
            case MembersChanged(job=job, run=run, processors=text):
                self._leave((job, run))
                self._hold(record, (job, run), numbers(text))
            case MembersPromised() | MembersReleased():
                self._leave((event.job, event.run))
            case JobCompleted(job=job):
                self.completed.append(job)
            case StageStarted() | RateChanged() | CheckpointTaken() | RunEnded():
                run = self._runs[event.job, event.run]
                self._settle(run, now)
                self._follow(record, event, run)

    def _start(self, record: Record, event: RunStarted) -> None:
        if event.keeps is not None:
            self._leave((event.job, event.keeps))
        held = numbers(event.processors)
        self._hold(record, (event.job, event.run), held)
        self._runs[event.job, event.run] = _Run(event.work, event.begun, held)
        self._tell(record, bool(held & self.away), f"{sorted(held & self.away)} are not UP")
        fraction = 0.0
        if event.source is not None:
            source = self._runs[event.job, event.source]
            self._settle(source, record.t)  # a copy under way can be cloned
            states = (*source.saved, source.done)
            known = any(self._same(source.work, event.saved, state) for state in states)
            self._tell(record, not known, f"nothing saved {event.saved!r}: {source.saved}")
            fraction = event.saved / source.work
        same = self._same(event.work, event.begun, fraction * event.work)
        self._tell(record, not same, f"begins with {event.begun!r}, which is not {fraction!r}")

    def _follow(self, record: Record, event: Event, run: _Run) -> None:
        match event:
            case StageStarted(stage=stage, rate=rate, done=done):
                run.stage, run.rate, run.spent = stage, rate, 0
            case RateChanged(rate=rate, done=done):
                run.rate = rate
            case CheckpointTaken(done=done):
                run.saved.append(done)
                run.stage = None
            case RunEnded(done=done):
                self._end(record, event, run)
        same = self._same(run.work, run.done, done)
        self._tell(record, not same, f"{run.done!r} is done")
        absent = bool(run.members & self.away)
        idle = isinstance(event, RunEnded)
        self._tell(record, absent and run.rate > 0 and not idle, "advances without a member")

    def _end(self, record: Record, event: RunEnded, run: _Run) -> None:
        if event.outcome is Outcome.CANCELLED:
            if run.stage is Stage.CHECKPOINTING and event.done > run.done:
                # Read literally, malleable17 counts the part of a checkpoint that has passed as
                # work.
                run.done = min(run.done + run.spent, run.work)
            run.saved.append(event.done)
        if event.outcome is Outcome.COMPLETED:
            self._tell(record, not self._same(run.work, run.done, run.work), "is not done")
        run.rate = 0
        if not event.kept:
            self._leave((event.job, event.run))

    def _settle(self, run: _Run, now: float) -> None:
        passed = run.rate * (now - run.since)
        run.since, run.spent = now, run.spent + passed
        if run.stage is Stage.COMPUTING:
            run.done += passed

    def _hold(self, record: Record, run: tuple[str, int], held: set[int]) -> None:
        twice = held & self.holders.keys()
        self._tell(record, bool(twice), f"{sorted(twice)} are held already")
        self.holders.update(dict.fromkeys(held, run))

    def _leave(self, run: tuple[str, int]) -> None:
        self.holders = {n: holder for n, holder in self.holders.items() if holder != run}

    def _same(self, work: float, a: float, b: float) -> bool:
        return abs(a - b) <= self.tolerance * max(work, 1)

    def _tell(self, record: Record, wrong: bool, problem: str) -> None:
        if wrong:
            self.problems.append(f"{record.t!r} {record.event}: {problem}")
