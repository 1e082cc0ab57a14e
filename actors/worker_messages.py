"""Messages of workers and of the master. Requests are imperative, facts past tense; a message's
first words say who sends it to whom."""

from __future__ import annotations

from math import inf

from attrs import frozen

from actors.repair_messages import Unit
from actors.runtime import Actor, message
from policies.availability import WorkerState

# --- to a worker ------------------------------------------------------------------------------


@message
class Turn:
    """A worker tells itself to settle its state now, from all that is due: a change of the owner's
    state, a fault, a hang, a repair, or the end of a downtime."""


@message
class SpeedDue:
    """A worker tells itself that the next change of its speed is due."""

    speed: float | None = None
    """The speed, where an agent sets it; None: the next one of the worker's own law."""


@message
class Fail:
    """Hazard to worker: a fault strikes you now. You go DOWN, unless you are DOWN at this instant
    anyway."""

    downtime: float = 0
    """Time for which the fault keeps the worker DOWN."""
    detection: float = 0
    """Time after which the fault is detected at the latest (F1)."""
    logs_detection: bool = False
    """Whether the log gives this detection time, because other kinds of faults have another."""
    law: int = 0
    """Number of the law; -1 where an agent brings the fault about. At one instant, faults and hangs
    strike in the order of these numbers."""
    unit: Unit | None = None
    """Unit that the fault has struck: the worker is DOWN until its repair is over (rules.md, R6).
    None: the fault has a downtime."""


@message
class Hang:
    """Hazard to worker: the run that holds you stops advancing, unless you are RECLAIMED or DOWN.
    You stay UP, with your memory whole."""

    detection: float
    """Time after which the hang is detected."""
    law: int
    """Number of the law."""


@message
class KeepFor:
    """Door to worker: an agent keeps you in this state from now on, as an owner does, except while
    you are DOWN for another reason. The state UP means that the agent needs you no longer."""

    state: WorkerState


@message
class SetSpeed:
    """Door to worker: this is your speed from now on."""

    speed: float


@message
class ComeInTime:
    """Scheduler to a worker that its owner keeps RECLAIMED until it is called: you are called, and
    are available after this delay."""

    delay: float


@message
class NoticeDue:
    """A worker tells itself that its owner gives its next notice now: that it will take the worker
    DOWN."""

    time: float | None
    """Time at which the owner takes the worker DOWN; None: the owner's next change is another, and
    no notice is given."""


@message
class ToldToEnd:
    """Outside world to worker, in runs with real processes: your process was told to end, and will
    be killed soon."""


@frozen
class Needs:
    """Sizes of the messages that each member of a job's runs fetches from the master, in time units
    of a channel. A message of size 0 is held from the start (rules.md, L2)."""

    label: str
    """Name of the program: jobs with one label share it."""
    program: float = 0
    data: float = 0
    """Size of one unit of data, which is a message of its own."""
    image: float = 0


@message
class StageIn:
    """Job to worker: you are a member of this run, or a standby (ready to replace a member) of its
    copy; fetch from the master what you lack of its needs."""

    job: Actor
    copy: int
    run: int
    needs: Needs
    units: int
    """Number of units of data that the worker needs."""
    image: bool
    """Whether the run begins from an image, which the worker fetches from the master."""
    standby: bool = False
    """Whether the worker is a standby of the copy, not a member: the program is all that it
    fetches, once the master has served all members (rules.md, P12)."""


@message
class AwaitRun:
    """Job to worker: you were a standby (ready to replace a member) of this copy and are a member
    now. Stop fetching until your run asks you to."""

    copy: int


@message
class SendImage:
    """Job to worker: send your image to the master."""


@message
class LeaveRun:
    """Job to worker: your run has ended; stop fetching for it. What has passed of an incomplete
    message is lost."""

    copy: int
    """The copy whose run has ended: another copy may hold the worker by now."""
    keep: bool
    """Whether the job still holds the worker, with the data in its memory."""


@message
class Granted:
    """Master to worker: one of my channels is yours from now on."""


@message
class Preempted:
    """Master to worker: you lose your channel to another worker; suspend your message."""


@message
class TransferDue:
    """A worker tells itself that the message under way has passed completely."""


# --- to the scheduler --------------------------------------------------------------------------


@message
class StateChanged:
    """Worker to scheduler: my state is `state` from now on."""

    index: int
    state: WorkerState
    until: float | None
    """Time at which the worker will be UP again; None: it is not known."""
    hidden: bool = False
    """Whether a job that holds me does not know yet that I am DOWN."""
    repaired: bool = False
    """Whether I am UP again because a fault's downtime, or a repair, is over."""


@message
class SpeedChanged:
    """Worker to scheduler: I changed speed."""

    index: int
    speed: float


@message
class ReserveAsked:
    """Door to scheduler: call the next worker that its owner keeps until then, for this agent."""

    agent: str


@message
class CalledButDown:
    """Worker to scheduler: I have been called and should come now, but I am DOWN."""


@message
class HiddenFaultDetected:
    """Worker to scheduler: the fault that made me go DOWN, which was hidden from my job, is
    detected now."""

    index: int


@message
class WorkerHung:
    """Worker to scheduler: the run that holds me, if there is one, stops advancing."""

    index: int
    hang: Hang


@message
class OwnerGaveNotice:
    """Worker to scheduler: my owner has announced that it will take me DOWN."""

    index: int


@message
class FaultComes:
    """Hazard to scheduler: a fault strikes this worker now. Send the worker `fault`, unless the
    decider's model of faults ignores faults at this time (malleable17, section 6.1)."""

    worker: int
    fault: Fail


@message
class ProgramReceived:
    """Worker to scheduler: I hold this program now."""

    index: int
    label: str


# --- to the master ----------------------------------------------------------------------------


@message
class AskForChannel:
    """Worker to master: I am UP and have something to fetch or to send."""

    worker: Actor
    index: int
    begun: bool
    """Whether a part of the message that the worker fetches or sends next has passed already."""
    left: float
    """Channel time of all messages that the worker lacks."""
    from_scratch: bool
    """Whether the worker gives up a channel that it has, and asks anew."""
    standby: bool = False
    """Whether the worker asks as a standby, which is served after all members."""


@message
class YieldChannel:
    """Worker to master: I have suspended my message, so the channel that you took from me is
    free."""

    index: int


@message
class MessageLost:
    """Worker to master: the message on my channel is lost, because a fault that is not detected yet
    has struck me. The channel stays taken until I send NeedNoChannel (rules.md, F1)."""

    index: int


@message
class NeedNoChannel:
    """Worker to master: forget my request, and free the channel if I have one: I have nothing to
    fetch or send, or am not UP."""

    index: int


@message
class Serve:
    """The master tells itself to assign its channels, once for all requests of this instant."""


@message
class SlotBegan:
    """The master or the scheduler tells itself to ask its policy, which wants to be asked in every
    slot."""


@message
class HoldingsChanged:
    """Worker to scheduler: what I hold of a run's input (program and data) has changed to this. I
    do not report that going DOWN empties my memory, nor that a message ends at the time `until`
    that I have reported."""

    index: int
    job: str | None
    """Name of the job that holds the worker; None: no job does."""
    data: int
    """Number of complete units of data."""
    passed: float
    """Time for which the incomplete message, of the program or of data, had passed by `since`."""
    since: float | None = None
    """Time since which that message has been passing; None: it does not pass now."""
    until: float = inf
    """Time at which that message will have passed whole; inf: it does not pass now."""
    unit: bool = False
    """Whether that message is one more unit of data, not the program."""
