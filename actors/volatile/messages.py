"""What master, workers, job and scheduler of a volatile platform say to each other.

Requests are imperative, facts past tense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.runtime import message
from policies.availability import WorkerState
from policies.interface import Configuration, Reason, RunningView

if TYPE_CHECKING:
    from actors.volatile.holding import Holding
    from actors.volatile.job import IterativeJob
    from actors.volatile.worker import Worker

# --- to a worker ------------------------------------------------------------------------------


@message
class Enrol:
    """Job to worker: hold yourself ready for `tasks` tasks of my run `run`."""

    job: IterativeJob
    run: int
    tasks: int


@message
class Release:
    """Job to worker: you are not enrolled any more; keep the program, if you have all of it."""


@message
class Granted:
    """Master to worker: one of my channels is yours from now on."""


@message
class Preempted:
    """Master to worker: your channel serves somebody else from now on."""


@message
class StateDue:
    """Worker to itself: my owner's next decision takes effect."""


@message
class TransferDue:
    """Worker to itself: the message that I receive is complete."""


# --- to the master ----------------------------------------------------------------------------


@message
class Fetch:
    """Worker to master: I am UP and lack something of what `tasks` tasks need."""

    worker: Worker
    index: int
    tasks: int
    holding: Holding
    """Live: what the worker holds."""


@message
class Drop:
    """Worker to master: I need no channel (now)."""

    index: int


@message
class Serve:
    """Master to itself: deal out the channels, once, for the time that begins now."""


# --- to the job -------------------------------------------------------------------------------


@message
class Configure:
    """Scheduler to job: go on with this configuration; None: there is none for now."""

    configuration: Configuration | None
    reason: Reason


@message
class MemberReady:
    """Worker to job: I am UP, with the program and all the data of my tasks."""

    index: int


@message
class MemberStopped:
    """Worker to job: I was ready and am RECLAIMED now."""

    index: int


@message
class MemberLost:
    """Worker to job: I went DOWN; what I held is lost."""

    index: int


@message
class WorkDue:
    """Job to itself: the iteration's computation is complete."""


@message
class CapReached:
    """Job to itself: the makespan has reached its cap."""


# --- to the scheduler -------------------------------------------------------------------------


@message
class WorkerJoined:
    """Worker to scheduler: I exist; this is what I hold (live)."""

    index: int
    state: WorkerState
    holding: Holding


@message
class WorkerMoved:
    """Worker to scheduler: I changed state."""

    index: int
    state: WorkerState


@message
class ProgramReceived:
    """Worker to scheduler: I hold the complete program now."""

    index: int


@message
class ConfigurationNeeded:
    """Job to scheduler: nothing is configured, and why; `running` shows what will be (live)."""

    job: IterativeJob
    reason: Reason
    running: RunningView


@message
class Decide:
    """Scheduler to itself: all else of this instant has been handled."""


@message
class SlotBegan:
    """Scheduler or master to itself: the policy wants to be asked in every slot."""
