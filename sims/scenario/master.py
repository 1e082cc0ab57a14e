"""What moving data takes: the master's bounded multi-port link (volatile13, section III.B;
WORLD.md, L), and the link between workers (malleable17, sections 3.1 and 3.3)."""

from __future__ import annotations

import enum
from math import inf

from actors.worker_messages import Needs
from policies.interface import ServiceOrder
from sims.errors import InputError
from sims.scenario.platform import Platform
from sims.tables.fields import Count, Time
from sims.tables.section import Section


class Service(enum.Enum):
    """Whom the master serves first."""

    STARTED_FIRST = "started-first"
    """Messages in progress, then the lowest worker index."""
    LONGEST_FIRST = "longest-first"
    """Whoever lacks most communication, in every slot."""


class MasterSection(Section):
    """`[master]`: whom jobs' runs fetch what they need from; sizes are every job's that says
    nothing else."""

    channels: Count
    """n_com: messages under way at once, in both directions together."""
    program: Time = 0
    """T_prog: time units to send a job's program to a worker."""
    data: Time = 0
    """T_data: time units to send a unit of data: a task's, or all of a job that has no tasks."""
    image: Time = 0
    """Time units to send, or to fetch, one worker's checkpoint image."""
    order: Service = Service.STARTED_FIRST
    """Who is served first."""
    timetable: tuple[tuple[str, ...], ...] = ()
    """Names of the workers to serve in each slot from 0 on; overrides `order` where given."""
    shared_program: bool = False
    """Whether all jobs have one program; else each has its own."""

    def needs(
        self,
        job: str,
        program: float | None = None,
        data: float | None = None,
        image: float | None = None,
    ) -> Needs:
        """What members of a job's runs fetch, which may say so itself."""
        return Needs(
            "program" if self.shared_program else job,
            self.program if program is None else program,
            self.data if data is None else data,
            self.image if image is None else image,
        )

    @property
    def served(self) -> str:
        """How the log calls its order of service."""
        return "timetable" if self.timetable else self.order.value

    def service(self, platform: Platform, cap: float) -> ServiceOrder:
        """The order of service. Raises InputError for a timetable that cannot be kept."""
        from policies.service import LongestFirst, StartedFirst, Timetable

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


class LinkSection(Section):
    """`[link]`: between workers, for buddies' checkpoints and redistributions alike
    (malleable17)."""

    unit: Time = 1.0
    """c = 1 / bandwidth: s per data unit, for checkpoints and redistributions alike."""
    latency: Time = 0.0
    """beta: s for each message."""
    startup: Time = 0.0
    """S: s for each redistribution."""
