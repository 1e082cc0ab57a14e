"""What the log records of redundant copies, beside the events that all kinds share.

A run is a copy between two checkpoints: it ends WITHDRAWN at the next one, and COMPLETED where it
ends its job. Under processor sharing without redundancy a run holds a share of several servers.
"""

from __future__ import annotations

from attrs import frozen

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
class CopiesCheckpointed(Event):
    """An arrival or a departure: every copy is settled and all jobs are placed afresh."""

    jobs: int
    """Jobs that were served until now."""


@frozen
class CopyPlaced(Event):
    """A copy begins from its job's furthest state (or from its own, without cloning)."""

    job: str
    run: int
    share: float
    """x: part of each of its servers that it gets."""
    progress: float
    """Work already done in the state that it starts from."""
    starts: float
    """When it computes: the checkpoint's and the clone's cost come first."""


@frozen
class CopySettled(Event):
    """How far a copy came; recorded before its run ends."""

    job: str
    run: int
    progress: float
    furthest: bool
    """Whether its state is the job's from now on (False: redundant work)."""


VOCABULARY: tuple[type[Event], ...] = (
    ClusterDescribed,
    JobSized,
    ServerSpeedChanged,
    ServerWentDown,
    ServerCameBack,
    CopiesCheckpointed,
    CopyPlaced,
    CopySettled,
)
