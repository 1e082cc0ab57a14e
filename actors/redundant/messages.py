"""What the actors of a cluster with redundant copies say to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from actors.runtime import message
from policies.interface.redundancy import CopyAllocation, Numbers

if TYPE_CHECKING:
    from actors.redundant.job import Job


@message
class Arrive:
    """Source to itself: the next job arrives."""


@message
class Submit:
    """Job to scheduler: I am here, and this large."""

    job: Job


@message
class Done:
    """Scheduler to job: your first copy has ended."""


@message
class ChangeSpeed:
    """Server to itself: the speed process moves on."""


@message
class Fail:
    """Server to itself: DOWN now."""


@message
class Repair:
    """Server to itself: back again."""


@message
class SpeedChanged:
    """Server to cluster: I deliver this much work per unit of time from now on."""

    server: int
    speed: float


@message
class ServerFailed:
    """Server to cluster: I am DOWN; what is lost is the cluster's rule."""

    server: int


@message
class EarliestCopyEnds:
    """Cluster to itself: the copy that is to end first ends now."""


@message
class CopiesEnded:
    """Cluster to scheduler: at least one job has a copy that ended."""


@message
class Decide:
    """Scheduler to itself: all that this instant brings is known."""


@message
class Checkpoint:
    """Scheduler to cluster: settle every copy, say how far each job is, withdraw all copies."""


@message
class Checkpointed:
    """Cluster to scheduler, in the order of the last placement."""

    remaining: Numbers
    """Work that each job's furthest copy lacks; 0 where it has ended."""


@message
class Clone:
    """Scheduler to cluster: run these copies, each from its job's furthest state."""

    allocation: CopyAllocation
    remaining: Numbers
    """Work that each job of the allocation still lacks."""
    sizes: Numbers
    """Their p_j."""
    names: Sequence[str]
    """Their names."""
