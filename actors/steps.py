"""The steps of a run, what halts it, and what happens to it: the two sides of its tables."""

from __future__ import annotations

import enum


class Step(enum.IntEnum):
    """A state of a run, in the run's table of answers. Several steps may be one `Stage` in the log:
    a run goes on from each of them in another way.

    The order counts: a run has begun to compute from COMPUTING on. Steps are integers, because
    other enums hash in Python code, once for each look into the table.
    """

    STARTING = 0
    """Workers are chosen, and processes start, before members fetch anything (rules.md, R5)."""
    STAGING_IN = 1
    """Members fetch what they lack (L2)."""
    LOADING = 2
    """The members load the state from which the run continues from shared storage (S1)."""
    PREPARING = 3
    """A part of `Plan.before` passes: recovery, a clone's delay, a redistribution."""
    CLOSING_VERIFICATION = 4
    """A verification precedes the checkpoint that closes a redistribution."""
    CLOSING_CHECKPOINT = 5
    """A checkpoint closes a redistribution (malleable17, section 3.3.2)."""
    CLOSING_STORE = 6
    """The checkpoint that closes a redistribution goes to the master too (P9)."""
    COMPUTING = 7
    OVERDUE = 8
    """The run computes, and another checkpoint falls due as soon as the one beside it is complete
    (P8)."""
    VERIFICATION = 9
    """A verification precedes a checkpoint (P4)."""
    CHECKPOINT = 10
    """The run stands still while a checkpoint is taken."""
    STORE = 11
    """The run stands still while a complete checkpoint goes to the master too (P9)."""
    LAST_VERIFICATION = 12
    """All work is done; a verification decides whether it is sound (R3)."""
    ENDED = 13


class Stimulus(enum.IntEnum):
    """A thing that happens to a run and that each step answers in its own way. Changes of members'
    state and speed are not among them: all steps answer these alike (`Run.review`)."""

    OVER = 0
    """The time of the present part has passed."""
    READY = 1
    """The last member has reported that it holds what it needs, or has sent its image."""
    NOTICE = 2
    """A member's owner announces that it takes the member DOWN (O1)."""
    SAVED = 3
    """The time of a checkpoint beside the work has passed (P8)."""
    HANGS = 4
    """A member hangs (F6)."""
    FREED = 5
    """The member that hangs is one that the run no longer computes on."""
    PAUSES = 6
    """The run is to stand still, whatever its present part is."""
    GOES_ON = 7
    """The pause is over."""


class Halt(enum.IntEnum):
    """State of a run beside its step: it can stand still in every step, though its members are UP.
    While it is halted, its last awaited message does not make it go on."""

    MOVING = 0
    HUNG = 1
    """A member hangs (rules.md, F6)."""
    PAUSED = 2
    """The run pauses, for as long as its job says."""
    HUNG_PAUSED = 3
    """Both: the time of the pause does not pass either."""


# Members under names of their own: reading one off its class takes 80 ns (Python 3.11).
STARTING, STAGING_IN, LOADING, PREPARING = list(Step)[:4]
CLOSING_VERIFICATION, CLOSING_CHECKPOINT, CLOSING_STORE = list(Step)[4:7]
COMPUTING, OVERDUE, VERIFICATION, CHECKPOINT, STORE, LAST_VERIFICATION, ENDED = list(Step)[7:]
OVER, READY, NOTICE, SAVED, HANGS, FREED, PAUSES, GOES_ON = Stimulus
MOVING, HUNG, PAUSED, HUNG_PAUSED = Halt
HALTS = {
    (MOVING, HANGS): HUNG,
    (MOVING, PAUSES): PAUSED,
    (HUNG, FREED): MOVING,
    (HUNG, PAUSES): HUNG_PAUSED,
    (PAUSED, HANGS): HUNG_PAUSED,
    (PAUSED, PAUSES): PAUSED,
    (PAUSED, GOES_ON): MOVING,
    (HUNG_PAUSED, FREED): PAUSED,
    (HUNG_PAUSED, PAUSES): HUNG_PAUSED,
    (HUNG_PAUSED, GOES_ON): HUNG,
}
"""Maps a halt and a stimulus to the halt that follows; any other pair is an error."""
