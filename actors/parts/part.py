"""A part of a job is one mechanism of its runs, with its own state; `Part` has the questions that a
job asks its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from attrs import define

from actors.copy import Copy
from actors.events import Outcome
from actors.messages import (
    MemberReady,
    MemberSpeedChanged,
    MemberStateChanged,
    ReplaceMember,
    StartCopy,
)
from actors.protection import Protection
from actors.run import PartDue, Run
from actors.runtime import Actor, Phase, Timer
from actors.runtime.actor import Home, Recorder
from actors.worker_messages import Needs
from policies.interface.queue import BatchJob

MemberMessage = MemberStateChanged | MemberSpeedChanged | MemberReady
"""A message by which a job learns of a worker that one of its copies holds."""
NONE_HIDDEN: Mapping[int, float] = {}
KEPT = "keeps it as a member, and replaces none (protection.replace_after)"
"""Problem, for an error, of a job that waits for a member that is DOWN for ever."""


class Others(Protocol):
    """The parts of a job, as far as one of them may ask the others."""

    def hidden(self, copy: Copy[Run]) -> Mapping[int, float]:
        """Return the members of the copy that went DOWN by a fault that is not known yet, each with
        the time at which it did."""

    def doubts(self, copy: Copy[Run]) -> bool:
        """Return whether the copy's run stands still for a reason that the job does not know
        yet."""

    def retired(self, copy: Copy[Run], worker: int) -> bool:
        """Return whether the copy can do without this worker, which is DOWN for ever, or has asked
        for another one."""

    def substitute(self, copy: Copy[Run], workers: Sequence[int]) -> Mapping[int, int]:
        """Give the places of these members, which are DOWN, to workers that are at hand, as far as
        there are any. Return each replaced member with the number of the event that logs it."""

    def known(self, copy: Copy[Run], worker: int) -> None:
        """Let the parts know that a member's fault is known now, before its run is ended by it."""

    def set_aside(self, run: Run) -> None:
        """Let the parts know that the run no longer computes on some of its copy's members."""


class Host(Protocol):
    """The job of a part, as far as its parts may use it. Methods take the number (seq) of the event
    that causes what they do, and return that of the last event that follows from it."""

    name: str
    system: Home
    record: Recorder
    index: int
    described: BatchJob
    scheduler: Actor
    protection: Protection
    needs: Needs | None
    killed_at: float | None
    copies: dict[int, Copy[Run]]

    @property
    def parts(self) -> Others:
        """The job's parts."""

    @property
    def now(self) -> float:
        """The current virtual time, in the scenario's unit."""

    @property
    def due_by(self) -> float:
        """The latest time that still belongs to the present instant."""

    def send(self, target: Actor, message: object, cause: int) -> None:
        """Deliver a message; see `Actor.send`."""

    def at(self, time: float, message: object, cause: int, phase: Phase = ...) -> Timer:
        """Send a message to the job itself at a time; see `Actor.at`."""

    def later(self, message: object, cause: int, phase: Phase) -> None:
        """Send a message to the job itself in a later phase of this instant."""

    def replace(self, copy: Copy[Run], message: ReplaceMember) -> None:
        """Give the place of one of the copy's members to another worker."""

    # --- what happens to its runs --------------------------------------------------------------

    def fail(self, copy: Copy[Run], run: Run, worker: int, cause: int) -> int:
        """Act on a fault or hang of the member `worker` that is known now: the run is lost, unless
        a part has it go on."""

    def end_run(self, copy: Copy[Run], outcome: Outcome, cause: int) -> int:
        """End the copy's run, which is lost or has failed."""

    def drop(self, copy: Copy[Run], outcome: Outcome, cause: int, early: bool = False) -> int:
        """End the copy, and release its members."""

    def end_all(self, copies: Sequence[Copy[Run]], cause: int) -> None:
        """End the job uncompleted, with its copies in this order."""

    def resume_soon(self) -> None:
        """Ask the parts, and start next runs, later in this instant."""

    def report_progress(self, copy: Copy[Run], cause: int) -> None:
        """Send the scheduler the progress of a copy whose stage or rate has changed."""

    def stage_in(
        self, copy: Copy[Run], image: bool, cause: int, workers: Sequence[int] | None = None
    ) -> None:
        """Have the copy's members, or these of them, fetch what they lack for its run."""

    def pass_parts(self, message: PartDue, cause: int) -> None:
        """End the parts, and the pauses, of all the job's runs that are due at this instant."""


@define(eq=False)
class Part:
    """Base class of the mechanisms of a job's runs, such as late detection of faults. A job
    asks its parts these questions, in the order of `actors.parts.ORDER`, and knows none of them by
    name. A part answers those that its mechanism is about, and serves the messages that its methods
    handle.

    A part keeps what it knows of each copy by the copy's number, and forgets it when asked `left`.
    """

    job: Host
    late: ClassVar[tuple[type, ...]] = ()
    """Messages for the part that may come when their copy has ended at the same instant; they are
    ignored then."""
    keeps: ClassVar[bool] = False
    """Whether a copy keeps its members when its run is lost."""

    @classmethod
    def wanted(cls, job: Host) -> bool:
        """Return whether the job has this part because of what it, or its protection, says. Other
        parts come from the builder, or once the first message for them comes."""
        return False

    # --- a copy and its runs begin and end ------------------------------------------------------

    def placed(self, copy: Copy[Run], message: StartCopy) -> None:
        """Prepare for a copy which the scheduler places by this message; it has no run yet."""

    def before(self, first: bool) -> float:
        """Return the time that passes before the members of a run fetch anything. `first`: the run
        is its copy's first."""
        return 0

    def equip(self, run: Run, cause: int) -> None:
        """Give a run that begins what it needs of the mechanism. `cause` is the number of the event
        that logs its start."""

    def started(self, copy: Copy[Run], message: StartCopy, cause: int) -> None:
        """React to the start of the copy's first run, which has been logged. `cause` is the number
        of that event."""

    def staged_in(self, copy: Copy[Run], workers: Sequence[int]) -> None:
        """Note that these members have been asked to fetch for the copy's run."""

    def computes(self, run: Run, computes: bool) -> None:
        """Note that the run begins to compute, or ceases to."""

    def run_ended(self, run: Run, kept: bool, cause: int) -> None:
        """Forget what was of the run, which has ended. `kept`: its copy keeps the members. `cause`
        is the number of the event that logs the end."""

    def released(self, copy: Copy[Run], end: int) -> bool:
        """Return whether the part dismisses the members of a copy that ended early, in place of the
        job. `end` is the number of the event that ended it."""
        return False

    def left(self, copy: Copy[Run], cause: int) -> None:
        """Forget the copy, which has ended, and release what the part holds for it. `cause` is the
        number of the event that ended it."""

    # --- its members change ---------------------------------------------------------------------

    def takes(self, copy: Copy[Run], message: MemberMessage, cause: int) -> bool:
        """Act on a message about a worker that the copy's run does not compute on, and return True;
        False: the job acts on it."""
        return False

    def down(self, copy: Copy[Run], worker: int, hidden: bool, cause: int) -> int | None:
        """React to a member that has gone DOWN. Return the number (seq) of the last event if the
        part acts on that in place of the job, else None. `hidden`: the fault is not known yet."""
        return None

    def known(self, copy: Copy[Run], worker: int) -> None:
        """React to a member's fault that is known now, before the copy's run is ended by it."""

    def goes_on(self, copy: Copy[Run], run: Run, worker: int, cause: int) -> int | None:
        """Return the number (seq) of the last event if the run goes on although the member `worker`
        has failed or hangs, else None: the run is lost."""
        return None

    def retired(self, copy: Copy[Run], worker: int) -> bool:
        """Return whether the copy can do without this worker, which is DOWN for ever, or has asked
        for another one."""
        return False

    def hidden(self, copy: Copy[Run]) -> Mapping[int, float]:
        """Return the members of the copy that went DOWN by a fault that the job must not know of
        yet, each with the time at which it did."""
        return NONE_HIDDEN

    def doubts(self, copy: Copy[Run]) -> bool:
        """Return whether the copy's run stands still for a reason that the job does not know yet,
        so that nothing may be built on its state."""
        return False

    # --- all changes of the instant are known ---------------------------------------------------

    def resumes(self, copy: Copy[Run]) -> None:
        """Prepare the copy for its next run, or its run for what is to come, now that all changes
        of this instant are known."""

    def settled(self, copy: Copy[Run]) -> None:
        """React to what has become of the copy at this instant, once its next run has begun if it
        can."""

    def substitute(self, copy: Copy[Run], workers: Sequence[int]) -> Mapping[int, int]:
        """Give the places of these members, which are DOWN, to workers that the copy holds ready.
        Return each replaced member with the number of the event that logs it."""
        return {}

    def replaced(self, copy: Copy[Run], worker: int, other: int) -> None:
        """Note that the worker `other` has the place of the member `worker` from now on."""

    def set_aside(self, run: Run) -> None:
        """Note that the run no longer computes on some of its copy's members."""

    def pause_over(self, run: Run, cause: int) -> int:
        """Have the run go on whose pause is over. `cause` is the number of the event for which the
        pause's timer was set; return that of the last event that follows."""
        return cause
