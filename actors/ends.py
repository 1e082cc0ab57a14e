"""Parts of a job's runs that end at one instant end by run number, not in the order of their
timers: what one run saves then can be what another begins from (rules.md, R4)."""

from __future__ import annotations

from math import inf
from typing import Protocol

from attrs import define, field

from actors.copy import Copy
from actors.parts.asked import Parts
from actors.parts.part import Part
from actors.protection.saving import CheckpointDue
from actors.run import Run
from actors.runtime import NOTHING, Phase, handles, message
from actors.runtime.actor import Home
from actors.steps import LAST_VERIFICATION, READY, SAVED


@message
class PassMessages:
    """A job tells itself to let those runs go on whose last awaited messages have ended at this
    instant."""


PASS_MESSAGES = PassMessages()


def phase_of(run: Run) -> Phase:
    """Return the phase of an instant in which the run's present part, or its pause, ends: last
    verifications end after all other parts."""
    last = run.step is LAST_VERIFICATION and (run.still is None or not run.still.pauses)
    return Phase.RUNS_END if last else Phase.PARTS_END


def _end(run: Run) -> float:
    """Return the time at which the run's pause ends, or its present part if it does not pause; inf
    where that is not known."""
    if run.still is None or run.still.pause is None:
        return run.due
    end = run.still.pause.end
    return inf if end is None else end


class Host(Protocol):
    """The job, as far as the ends of its runs' parts concern it."""

    system: Home
    copies: dict[int, Copy[Run]]

    @property
    def due_by(self) -> float:
        """The latest time that still belongs to the present instant."""

    def later(self, message: object, cause: int, phase: Phase) -> None:
        """Send a message to the job itself in a later phase of this instant."""

    def pass_part(self, run: Run) -> None:
        """End the run's present part, whose time has passed, and go on with the next one."""

    @property
    def parts(self) -> Parts:
        """The job's parts."""

    def report_progress(self, copy: Copy[Run], cause: int) -> None:
        """Send the scheduler the progress of a copy, if it wants such reports."""


@define(eq=False)
class Ends:
    """Ends the parts and pauses of one job's runs, and the checkpoints that they take meanwhile,
    when their time has passed."""

    job: Host
    passed: dict[int, int] = field(init=False, factory=dict)
    """Maps the number of each run whose last awaited message has ended at this instant to that
    event's number, until the run goes on."""

    def messages_end(self, run: Run, cause: int) -> None:
        """Let the run go on, whose last awaited message has ended, with all others that do at this
        instant. `cause` is the number of the event that ended it."""
        self.passed[run.number] = cause
        self.job.later(PASS_MESSAGES, NOTHING, Phase.PARTS_END)

    @handles(PassMessages)
    def pass_messages(self, _: PassMessages, __: int) -> None:
        """Let runs whose last messages have ended at this instant go on, by run number: which of
        two equal images is kept does not depend on the members that have sent them."""
        self.pass_all(Phase.PARTS_END)

    def pass_all(self, phase: Phase) -> None:
        """End the parts and pauses of all the job's runs that are due in this phase of the instant,
        by run number."""
        job, due_by = self.job, self.job.due_by
        for run in self._by_number():
            if run.number in self.passed and not run.ended:
                job.report_progress(run.copy, run.react(READY, self.passed[run.number]))
            if not run.ended and _end(run) <= due_by and phase_of(run) is phase:
                end = self.job.pass_part if run.pause is None else self.end_pause
                end(run)
        self.passed.clear()

    def end_pause(self, run: Run) -> None:
        """End the run's pause, whose time has passed."""
        cause = run.standstill.end_pause()
        for part in self.job.parts.to[Part.pause_over]:
            cause = part.pause_over(run, cause)
        self.job.report_progress(run.copy, cause)

    def _by_number(self) -> list[Run]:
        runs = [copy.run for copy in self.job.copies.values() if copy.run is not None]
        return sorted(runs, key=lambda run: run.number)

    @handles(CheckpointDue)
    def pass_checkpoints(self, message: CheckpointDue, cause: int) -> None:
        """Complete, by run number, all checkpoints that runs of this job take while they compute
        on, and whose time has passed at this instant. With real processes that keep to no nominal
        times, only the one of the message's run is complete."""
        due_by, together = self.job.due_by, self.job.system.loop.together
        for run in self._by_number():
            beside = run.saving.under_way
            if beside is None or beside.end is None:
                continue
            if beside.end <= due_by if together else run.number == message.run:
                self.job.report_progress(run.copy, run.react(SAVED, beside.cause))
