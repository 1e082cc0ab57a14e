"""What 003's model says that things cost, from what the log says of pack and applications."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, expm1, isclose, sqrt

from attrs import frozen

from actors.malleable.events import PackDescribed
from policies.maths.redistribution import Link
from sims.audit.law import Law, Violation

TOLERANCE = 1e-9
"""Relative for times, absolute for fractions of the work."""


@frozen
class Model:
    """One application's costs, in s."""

    pack: PackDescribed
    footprint: float
    """m_i, data units."""

    @property
    def protected(self) -> bool:
        """Whether it takes checkpoints."""
        return self.pack.mtbf is not None

    def checkpoint(self, size: int) -> float:
        """C_ij, which is also R_ij (003, section 3.1); 0 without protection."""
        if not self.protected:
            return 0.0
        return self.footprint * self.pack.unit / size + self.pack.latency

    def period(self, size: int) -> float:
        """tau_ij, the checkpoint included (003, eq. 1)."""
        assert self.pack.mtbf is not None
        cost = self.checkpoint(size)
        return sqrt(2 * (1 / (size / self.pack.mtbf)) * cost) + cost

    def work(self, size: int) -> float:
        """Computation between two checkpoints."""
        return self.period(size) - self.checkpoint(size)

    def checkpoints(self, size: int, whole: float) -> int:
        """N_ff of `whole` s of computation (003, eq. 2)."""
        return int(whole / self.work(size)) if self.protected else 0

    def duration(self, size: int, whole: float) -> float:
        """Time of `whole` s of computation without a fault."""
        return whole + self.checkpoints(size, whole) * self.checkpoint(size)

    def redistribution(self, before: int, after: int) -> float:
        """RC (003, eq. 6)."""
        link = Link(self.pack.startup, self.pack.latency, self.pack.unit)
        return link.cost(self.footprint, before, after)

    def expected(self, size: int, whole: float) -> float:
        """t^R of `whole` s of computation (003, eq. 3)."""
        if self.pack.mtbf is None:
            return whole
        rate, count = size / self.pack.mtbf, self.checkpoints(size, whole)
        rest = expm1(rate * (whole - count * self.work(size)))
        scale = exp(rate * self.checkpoint(size)) * (1 / rate + self.pack.downtime)
        return scale * (count * expm1(rate * self.period(size)) + rest)


def close(one: float, other: float) -> bool:
    """Whether two times, or two fractions of the work, are one."""
    return isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def same(
    what: str, says: float, found: float, law: Law, events: tuple[int, ...]
) -> Iterator[Violation]:
    """A violation where the log says something else than what was found by it."""
    if not close(says, found):
        yield Violation(law, events, f"{what} is {found!r} by the log; it says {says!r}")
