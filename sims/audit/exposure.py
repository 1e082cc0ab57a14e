"""Silent errors that are drawn: by which exposure, and what their verifications say (R3)."""

from __future__ import annotations

from math import isclose

from attrs import define, field

from actors.events import (
    CheckpointTaken,
    Outcome,
    RateChanged,
    RunEnded,
    Stage,
    StageStarted,
    VerificationEnded,
)
from sims.audit.facts import LoggedRun
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

ROUNDING = 1e-9
Key = tuple[str, int]
"""Job and run."""
FOUND = {Outcome.FAILED: True, Outcome.COMPLETED: False}
"""What the last verification of a run that ends so has found."""


@define(eq=False)
class Exposed:
    """Workers times computing time since the last verified point, of one run."""

    members: int
    value: float
    since: float = 0
    computes: bool = False
    points: list[tuple[float, float]] = field(factory=list)
    """(work done, exposure) of its checkpoints, and of its end: what others can begin from."""

    def settle(self, t: float, computes: bool) -> None:
        if self.computes:
            self.value += self.members * (t - self.since)
        self.since, self.computes = t, computes


@define(eq=False)
class ExposureAuditor(Auditor):
    """A verification says what follows from it, and by how much computing an error was drawn."""

    wakes = frozenset((StageStarted,))
    world: World
    runs: dict[Key, Exposed] = field(factory=dict)
    verdicts: dict[Key, tuple[int, bool]] = field(factory=dict)
    """Verifications that ended at this instant, of which nothing has followed: seq, what it
    found."""
    drawing: set[str] = field(factory=set)
    """Jobs that have told an exposure."""

    @property
    def handlers(self) -> Handlers:
        return {
            StageStarted: self._enter,
            RateChanged: self._change,
            VerificationEnded: self._verify,
            CheckpointTaken: self._save,
            RunEnded: self._end,
        }

    def passed(self, t: float, seq: int) -> None:
        for (job, run), (told, _) in self.verdicts.items():
            why = f"run {run} of {job} ends a verification, and nothing follows"
            self.world.breaks(Law.EXPOSURE, (told, seq), why)
        self.verdicts.clear()

    def _enter(self, event: StageStarted, t: float, seq: int) -> None:
        exposed = self._of(event.job, event.run, t)
        if exposed is not None:
            exposed.settle(t, event.stage is Stage.COMPUTING and event.rate > 0)
        self._follow(event.job, event.run, False, seq)

    def _change(self, event: RateChanged, t: float, seq: int) -> None:
        exposed, run = self._of(event.job, event.run, t), self.world.run(event.job, event.run)
        if exposed is not None and run is not None:
            exposed.settle(t, run.advancing and event.rate > 0)

    def _verify(self, event: VerificationEnded, t: float, seq: int) -> None:
        key = event.job, event.run
        exposed = self._of(*key, t)
        self.drawing.add(event.job)
        if key in self.verdicts or exposed is None:
            why = f"run {event.run} of {event.job} ends a verification that it did not begin"
            self.world.breaks(Law.EXPOSURE, (seq,), why)
            return
        exposed.settle(t, False)
        if not isclose(exposed.value, event.exposure, rel_tol=ROUNDING, abs_tol=ROUNDING):
            why = f"run {event.run} of {event.job} has exposure {event.exposure!r}"
            self.world.breaks(Law.EXPOSURE, (seq,), f"{why}; expected {exposed.value!r}")
        exposed.value = 0
        self.verdicts[key] = seq, event.error

    def _save(self, event: CheckpointTaken, t: float, seq: int) -> None:
        exposed = self._of(event.job, event.run, t)
        if exposed is not None:
            exposed.settle(t, False)
            exposed.points.append((event.done, exposed.value))
        self._follow(event.job, event.run, False, seq)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        key = event.job, event.run
        exposed = self.runs.get(key)
        if exposed is not None:
            exposed.settle(t, False)
            exposed.points.append((event.done, exposed.value))
        expected = FOUND.get(event.outcome)
        if expected is not None and event.job in self.drawing and key not in self.verdicts:
            why = f"run {event.run} of {event.job} is {event.outcome.value} without a verification"
            self.world.breaks(Law.EXPOSURE, (seq,), why)
        self._follow(*key, expected, seq)

    def _follow(self, job: str, run: int, expected: bool | None, seq: int) -> None:
        """What follows a verification is what it has found."""
        told, error = self.verdicts.pop((job, run), (seq, expected))
        if error is not expected:
            why = f"a verification of run {run} of {job} says error = {error}, and it goes on so"
            self.world.breaks(Law.EXPOSURE, (told, seq), why)

    def _of(self, job: str, number: int, t: float) -> Exposed | None:
        exposed = self.runs.get((job, number))
        run = self.world.run(job, number) if exposed is None else None
        if run is not None:
            exposed = self.runs[job, number] = Exposed(run.copy.full, self._begun(run, t), t)
        return exposed

    def _begun(self, run: LoggedRun, t: float) -> float:
        """What the state that it begins from was exposed to."""
        event = run.event
        source = self.runs.get((event.job, event.source)) if event.source is not None else None
        if source is None:
            return 0
        for done, exposure in source.points:
            if isclose(done, event.saved, rel_tol=ROUNDING, abs_tol=ROUNDING):
                return exposure
        source.settle(t, source.computes)
        return source.value
