"""The master and its bounded multi-port link (volatile13, section III.B; WORLD.md, L)."""

from __future__ import annotations

import enum
from math import inf

from attrs import field, frozen

from policies.interface import ServiceOrder
from policies.service import LongestFirst, StartedFirst, Timetable
from sims.errors import InputError
from sims.scenario.fields import not_negative, positive
from sims.scenario.platform import Platform


class Service(enum.Enum):
    """Whom the master serves first."""

    STARTED_FIRST = "started-first"
    """Messages in progress, then the lowest worker index."""
    LONGEST_FIRST = "longest-first"
    """Whoever lacks most communication, in every slot."""


@frozen(kw_only=True)
class MasterSection:
    """`[master]`: whom jobs' runs fetch what they need from; sizes are every job's that says
    nothing else."""

    channels: int = field(validator=positive)
    """n_com: messages under way at once, in both directions together."""
    program: float = field(default=0, validator=not_negative)
    """T_prog: time units to send a job's program to a worker."""
    data: float = field(default=0, validator=not_negative)
    """T_data: time units to send a unit of data: a task's, or all of a job that has no tasks."""
    image: float = field(default=0, validator=not_negative)
    """Time units to send, or to fetch, one worker's checkpoint image."""
    order: Service = Service.STARTED_FIRST
    """Who is served first."""
    timetable: tuple[tuple[str, ...], ...] = ()
    """Names of the workers to serve in each slot from 0 on; overrides `order` where given."""
    shared_program: bool = False
    """Whether all jobs have one program; else each has its own."""

    @property
    def served(self) -> str:
        """How the log calls its order of service."""
        return "timetable" if self.timetable else self.order.value

    def service(self, platform: Platform, cap: float) -> ServiceOrder:
        """The order of service. Raises InputError for a timetable that cannot be kept."""
        if not self.timetable:
            return LongestFirst() if self.order is Service.LONGEST_FIRST else StartedFirst()
        if cap == inf:
            problem = "inf, with a timetable: nobody is served after its end"
            raise InputError("scenario", "job.cap", problem, "a number of slots")
        index = {platform.name(k): k for k in range(platform.size)}
        unknown = [name for slot in self.timetable for name in slot if name not in index]
        if unknown:
            problem = f"there is no worker {unknown[0]!r}"
            raise InputError("scenario", "master.timetable", problem, ", ".join(index))
        return Timetable(tuple(tuple(index[name] for name in slot) for slot in self.timetable))
