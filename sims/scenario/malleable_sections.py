"""What a scenario file may say of a pack of malleable applications (003)."""

from __future__ import annotations

import enum
import math
from typing import Literal

from attrs import Factory, field, frozen
from attrs.validators import deep_iterable, optional

from actors.runtime import stream
from policies.malleable import LookAhead
from sims.scenario import faults
from sims.scenario.fields import Unacceptable, not_negative, positive, positive_or_inf
from sims.scenario.malleable_profiles import Profile, Synthetic
from sims.scenario.policies import PolicySection

LARGEST = 2.0**63
"""Footprints are drawn as 64-bit integers."""

# --- the pack ------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Draw:
    """`[job.draw]`: applications drawn as in 003, section 6.1."""

    count: int = field(validator=positive)
    """n: applications."""
    smallest: float = field(default=1_500_000.0, validator=positive)
    """m_inf: data units of the smallest application."""
    largest: float = field(default=2_500_000.0, validator=positive)
    """m_sup: data units of the largest."""
    seed: int = field(default=0, validator=not_negative)
    """Which pack is drawn; the scenario's own seed draws its faults."""

    def __attrs_post_init__(self) -> None:
        if not self.largest < LARGEST:
            raise Unacceptable("largest", self.largest, "a number below 2^63, about 9.2e18")
        if not int(self.smallest) <= int(self.largest):
            accepted = f"a number up to largest, {self.largest!r}"
            raise Unacceptable("smallest", self.smallest, accepted)

    def footprints(self) -> tuple[float, ...]:
        """Whole numbers of data units, uniform between the two."""
        rng = stream(self.seed, "pack")
        low, high = int(self.smallest), int(self.largest)
        return tuple(map(float, rng.integers(low, high, size=self.count, endpoint=True).tolist()))


@frozen(kw_only=True)
class MalleableSection:
    """`[job]`: a pack of malleable applications that start together (003, section 3)."""

    kind: Literal["malleable"]
    processors: int = field(validator=positive)
    """p, processors of the platform."""
    pair: int = field(default=2, validator=positive)
    """Processors per group of buddies; 1: each keeps its own checkpoint only."""
    footprints: tuple[float, ...] = field(default=(), validator=deep_iterable(not_negative))
    """m_i: data units of each application."""
    draw: Draw | None = None
    """More applications, drawn at random."""
    profile: Profile = Factory(Synthetic)
    """How execution times depend on processors."""

    def pack(self) -> tuple[float, ...]:
        """All footprints, those listed first."""
        return (*self.footprints, *(self.draw.footprints() if self.draw else ()))


@frozen(kw_only=True)
class LinkSection:
    """`[link]`: what moving data costs (003, sections 3.1 and 3.3)."""

    unit: float = field(default=1.0, validator=not_negative)
    """c = 1 / bandwidth: s per data unit, for checkpoints and redistributions alike."""
    latency: float = field(default=0.0, validator=not_negative)
    """beta: s for each message."""
    startup: float = field(default=0.0, validator=not_negative)
    """S: s for each redistribution."""


@frozen(kw_only=True)
class CheckpointSection:
    """`[checkpoints]`: buddy checkpoints with Young's period (003, section 3.1)."""

    mtbf_years: float | None = field(default=None, validator=optional(positive_or_inf))
    """mu of one processor that periods and expectations count with; default: that of the faults;
    `inf`: no checkpoints, a fault restarts the application."""
    downtime: float = field(default=60.0, validator=not_negative)
    """D: s between a fault and the start of the recovery."""


# --- faults --------------------------------------------------------------------------------------


class Fatal(enum.Enum):
    """What a fault does to an application still busy with its last fault or redistribution."""

    IGNORED = "ignored"
    """Nothing (003, section 6.1)."""
    POSSIBLE = "possible"
    """It counts; one on the buddy of a processor in recovery loses both copies of a checkpoint."""


@frozen(kw_only=True)
class NoFaults(faults.NoFaults):
    """`"none"`: no processor fails."""

    fatal = Fatal.IGNORED


@frozen(kw_only=True)
class Exponential(faults.Exponential):
    """`{kind = "exponential", mtbf_years = 100}`."""

    fatal: Fatal = Fatal.IGNORED
    """Whether faults count everywhere: `ignored` or `possible`."""


@frozen(kw_only=True)
class Weibull(faults.Weibull):
    """`{kind = "weibull", mtbf_years = 100, shape = 0.7}`."""

    fatal: Fatal = Fatal.IGNORED
    """Whether faults count everywhere: `ignored` or `possible`."""


@frozen(kw_only=True)
class Listed(faults.Listed):
    """`{kind = "list", strikes = [[3.5e6, 14], [7.1e6, 7]], mtbf_years = 100}`."""

    mtbf_years: float = field(default=math.inf, validator=positive_or_inf)
    """What periods and expectations count with; `inf`: no checkpoints."""
    fatal: Fatal = Fatal.IGNORED
    """Whether faults count everywhere: `ignored` or `possible`."""


Faults = NoFaults | Exponential | Weibull | Listed


@frozen(kw_only=True)
class MalleablePolicy(PolicySection):
    """`[policy]`: who redistributes processors, and when."""

    allocation: str = "Opt-NoRedistrib"
    """Who shares them out before the start: `Opt-NoRedistrib`, `GreedySpeedupProfile`, or your
    `package.module:Name`."""
    look: LookAhead = LookAhead.ANY
    """When EndLocal and ShortestApplicationsFirst see an application as improvable: `any` number
    of pairs would help, or the `next-pair` alone."""
