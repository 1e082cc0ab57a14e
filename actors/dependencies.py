"""Dependencies between jobs: a job that follows others is submitted once all of them have ended."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from attrs import define, field, frozen

from actors.messages import Arrive
from actors.runtime import Actor, handles, message

ARRIVE = Arrive()


@frozen
class Dependence:
    """Conditions of a job's submission: the ends of other jobs (completed or killed), then a time
    to think, and the job's own release."""

    after: tuple[int, ...]
    """Indices of the jobs that it follows; each once, and at least one."""
    think: float
    """Time from the last of these ends to the submission, in time units."""
    release: float
    """Time before which the job is not submitted."""


@message
class SubmissionHeld:
    """Job to the actor that submits it: I follow other jobs; send me `Arrive` when I am due."""

    index: int
    job: Actor


@message
class JobEnded:
    """Job to the actor that submits those that follow it: I have completed, or I was killed."""

    index: int


@message
class Due:
    """The actor tells itself that the job with this index is to be submitted now."""

    index: int


@define(eq=False)
class Dependencies(Actor):
    """Submits each job that follows others: at the latest of its release and, for each job that it
    follows, the end of that job and the time to think."""

    waits: Mapping[int, Dependence]
    """Maps the index of each job that follows others to the conditions of its submission."""
    held: dict[int, Actor] = field(init=False, factory=dict)
    """Maps indices to the jobs that are not yet submitted."""
    due: dict[int, tuple[float, int]] = field(init=False, factory=dict)
    """Maps the index of each job whose predecessors have all ended to the time of its submission
    and the event that causes it."""
    left: dict[int, int] = field(init=False)
    """Maps the index of each job to the number of jobs that it follows and that have not ended."""

    def started(self) -> None:
        self.left = {index: len(it.after) for index, it in self.waits.items()}

    @cached_property
    def followers(self) -> Mapping[int, list[int]]:
        """Maps the index of each job that others follow to the indices of those."""
        found: dict[int, list[int]] = {}
        for index, it in self.waits.items():
            for before in it.after:
                found.setdefault(before, []).append(index)
        return found

    @handles(SubmissionHeld)
    def hold(self, message: SubmissionHeld, cause: int) -> None:
        self.held[message.index] = message.job
        self._plan(message.index)

    @handles(JobEnded)
    def end(self, message: JobEnded, cause: int) -> None:
        for index in self.followers.get(message.index, ()):
            self.left[index] -= 1
            if not self.left[index]:
                wait = self.waits[index]
                ready = self.now + wait.think
                late = ready < wait.release
                self.due[index] = (wait.release, self.system.origin) if late else (ready, cause)
                self._plan(index)

    def _plan(self, index: int) -> None:
        """Submit the job with this index when it is due, if that is known and the job exists."""
        if index in self.due and index in self.held:
            time, cause = self.due.pop(index)
            if time > self.now:
                self.at(time, Due(index), cause)
            else:
                self.submit(Due(index), cause)

    @handles(Due)
    def submit(self, message: Due, cause: int) -> None:
        self.send(self.held.pop(message.index), ARRIVE, cause)

    def waits_for(self) -> str | None:
        held = [job.name for job in self.held.values()]
        return f"the ends of the jobs that {', '.join(held)} follow" if held else None
