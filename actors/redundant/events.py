"""What the log records of redundant copies, beside the events that all kinds share.

A run is a copy between two checkpoints: it ends WITHDRAWN at the next one, and COMPLETED where it
ends its job. Under processor sharing without redundancy a run holds a share of several servers.
All copies start at once and end at once, so one line tells them all; its parts are the RunStarted
and RunEnded of each.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from actors.events import Compound, Outcome, RunEnded, RunStarted
from actors.runtime import Event


@frozen
class ClusterDescribed(Event):
    """The model that the run follows; once, before all jobs."""

    augmentation: float
    """Multiplies all service (004, III.C)."""
    mean: bool
    """Whether jobs progress by g(r, t) (004, Assumption 2), and servers have no speeds."""
    checkpoint: float
    """Time before each copy of a job with progress computes again, time units."""
    clone: float
    """Further time where the server did not hold the job's furthest state."""
    lost: float
    """Part of a server's service since the last checkpoint that its failure undoes."""


@frozen
class JobSized(Event):
    """How large a submitted job is."""

    job: str
    size: float
    """p_j, time on a machine of unit speed."""


@frozen
class ServerSpeedChanged(Event):
    """A server's speed, speed augmentation left out, from now on."""

    server: int
    speed: float


@frozen
class ServerWentDown(Event):
    """A server fails; it delivers nothing until it is back."""

    server: int


@frozen
class ServerCameBack(Event):
    """A failed server serves again, at this speed."""

    server: int
    speed: float


@frozen
class CopyPlaced(RunStarted):
    """A copy begins from its job's furthest state (or from its own, without cloning)."""

    share: float
    """x: part of each of its servers that it gets."""
    progress: float
    """Work already done in the state that it starts from."""
    starts: float
    """When it computes: the checkpoint's and the clone's cost come first."""


@frozen
class CopySettled(RunEnded):
    """How far a copy came."""

    progress: float
    furthest: bool
    """Whether its state is the job's from now on (False: redundant work)."""


@frozen
class CopiesPlaced(Compound):
    """The policy has chosen: all copies of all jobs that are served begin."""

    jobs: tuple[str, ...]
    runs: tuple[int, ...]
    """Per job: the run of its first copy; its other copies' follow."""
    copies: tuple[int, ...]
    """Per job: r."""
    servers: tuple[int, ...]
    """Per copy, job after job: its (first) server."""
    width: int
    """Servers that each copy is on: 1, or all where copies go round them."""
    share: float
    """x, of every copy."""
    progress: tuple[float, ...]
    """Per copy, as in CopyPlaced."""
    starts: tuple[float, ...]
    """Per copy, as in CopyPlaced."""

    def parts(self) -> Iterator[CopyPlaced]:
        """A CopyPlaced each."""
        runs = _runs(self.jobs, self.runs, self.copies)
        copies = zip(runs, self.servers, self.progress, self.starts, strict=True)
        for (job, run), first, progress, starts in copies:
            where = str(first) if self.width == 1 else f"{first}-{first + self.width - 1}"
            yield CopyPlaced(job, run, where, self.share, progress, starts)


@frozen
class CopiesSettled(Compound):
    """A checkpoint: an arrival or a departure ends all copies, and all jobs are placed afresh."""

    jobs: tuple[str, ...]
    """Those that were served until now."""
    runs: tuple[int, ...]
    copies: tuple[int, ...]
    """Both as in the CopiesPlaced before."""
    progress: tuple[float, ...]
    """Per copy: work done."""
    furthest: tuple[int, ...]
    """Per job: the run whose state is the job's from now on."""
    completed: tuple[str, ...]
    """Jobs that their furthest copy completes."""

    def parts(self) -> Iterator[CopySettled]:
        """A CopySettled each."""
        best = dict(zip(self.jobs, self.furthest, strict=True))
        runs = _runs(self.jobs, self.runs, self.copies)
        for (job, run), progress in zip(runs, self.progress, strict=True):
            furthest = best[job] == run
            ended = furthest and job in self.completed
            outcome = Outcome.COMPLETED if ended else Outcome.WITHDRAWN
            yield CopySettled(job, run, outcome, progress, furthest)


def _runs(
    jobs: tuple[str, ...], first: tuple[int, ...], copies: tuple[int, ...]
) -> Iterator[tuple[str, int]]:
    """Job and run of each copy, job after job."""
    for job, start, count in zip(jobs, first, copies, strict=True):
        for run in range(start, start + count):
            yield job, run


VOCABULARY: tuple[type[Event], ...] = (
    ClusterDescribed,
    JobSized,
    ServerSpeedChanged,
    ServerWentDown,
    ServerCameBack,
    CopiesPlaced,
    CopiesSettled,
)
"""What a log may hold; CopyPlaced and CopySettled are parts of others."""
