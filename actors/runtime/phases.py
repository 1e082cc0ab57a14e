"""Within one instant of virtual time: which times are one instant, and what happens first."""

from __future__ import annotations

import enum
import math

INSTANT = 1 + 1e-12
"""Times up to so many times the earliest are one instant, that of the earliest: sums of decimals
coincide as they do on paper."""


def end_of_instant(now: float) -> float:
    """The latest time that is one instant with `now`."""
    return now * INSTANT if now > 0 else now


def after_instant(now: float, when: float) -> float:
    """`when`, or if that is one instant with `now`, the first time that is not: whoever waits until
    then and looks at the time again would else wait for ever."""
    end = end_of_instant(now)
    return math.nextafter(end, math.inf) if when <= end else when


class Phase(enum.IntEnum):
    """The order of one instant; a phase begins when all messages of the one before are handled.

    Without it, whether a worker that goes DOWN at the very end of an attempt loses that attempt,
    or whether a freed processor is seen by a decision, would depend on who was started first.
    """

    WORK_ENDS = 0
    """Work that ends now is complete: intervals are half-open. Messages on the link first."""
    PARTS_END = 1
    """Parts of runs that end, but the last verification."""
    RUNS_END = 2
    """Last verifications end, and with them runs and jobs."""
    FAULTS_OCCUR = 3
    """Workers hear of faults, before they change state: two reasons for one change are one."""
    STATES_CHANGE = 4
    """Workers change state; runs are lost."""
    NOTICES = 5
    """Owners announce that they take workers away."""
    RUNS_RESUME = 6
    """A job that kept its workers starts its next run if all of them are UP."""
    DECISION = 7
    """The scheduler decides, once."""
    SERVICE = 8
    """What a decision asked for is served: the master deals out its channels."""


PHASE_SHIFT = 50
"""order = phase << 50 | sequence number: one comparison instead of two (2^50 events suffice)."""


def end_of_phase(order: int) -> int:
    """What every order of its phase is below."""
    return ((order >> PHASE_SHIFT) + 1) << PHASE_SHIFT
