"""Packs of malleable applications drawn as in 003, section 6.1."""

from __future__ import annotations

from attrs import field, frozen

from actors.runtime import stream
from sims.scenario.fields import Unacceptable, not_negative, positive

LARGEST = 2.0**63
"""Footprints are drawn as 64-bit integers."""


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
