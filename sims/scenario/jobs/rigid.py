"""Rigid jobs: one by one, or drawn as in rigid21, section 5.1."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from actors.runtime import stream
from policies.maths.speedup import Rigid
from sims.scenario.fields import countable, not_negative, positive, range_of_positives
from sims.scenario.jobs.common import ListedJob


@frozen(kw_only=True)
class RigidJob(ListedJob):
    """`[[job.jobs]]`: one rigid job."""

    kind: Literal["rigid"] = "rigid"
    """Default: that of [job]."""
    processors: int = field(validator=positive)
    """p_j."""
    time: float = field(validator=positive)
    """t_j: error-free time of one run, verification excluded."""


@frozen(kw_only=True)
class UniformJobs:
    """`[job.synthetic]`: jobs drawn as in rigid21, section 5.1."""

    count: int = field(default=100, validator=countable)
    """How many jobs."""
    processors: tuple[int, int] = field(default=(50, 2000), validator=range_of_positives)
    """p_j is a uniform integer between these, both included."""
    time: tuple[float, float] = field(default=(100, 20000), validator=range_of_positives)
    """t_j is uniform between these."""
    seed: int = field(default=0, validator=not_negative)
    """Which set of jobs is drawn; the scenario's own seed draws their failures."""

    def draw(self) -> list[Rigid]:
        """The set of jobs."""
        rng = stream(self.seed, "jobs")
        low, high = self.processors
        counts = rng.integers(low, high, size=self.count, endpoint=True)
        times = rng.uniform(*self.time, size=self.count)
        return [Rigid(p, t) for p, t in zip(counts.tolist(), times.tolist(), strict=True)]
