"""Silent errors: what results they spoil, and how often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from policies.maths.silent_errors import failure_probabilities, rate_probabilities
from sims.errors import InputError
from sims.scenario.fields import not_negative, part


@frozen(kw_only=True)
class ErrorSection:
    """`[errors]`: silent errors; at most one of these. A job's own `failures` comes first."""

    rate: float | None = field(default=None, validator=optional(not_negative))
    """lambda: errors per worker and unit of computing time (rigid21)."""
    average: float | None = field(default=None, validator=optional(part))
    """q-bar: how often a run of mean area (rigid jobs) or mean work (others) fails; below 1."""
    per_work: float | None = field(default=None, validator=optional(not_negative))
    """lambda: errors per unit of a job's work on one worker (moldable21)."""

    @property
    def key(self) -> str:
        """Which one is given."""
        return next((key for key in ("average", "rate", "per_work") if self.of(key)), "rate")

    def of(self, key: str) -> float:
        """That one's value, 0 where it is not given."""
        value: float | None = getattr(self, key)
        return value or 0.0

    def check(self) -> None:
        """Raises InputError where several are given."""
        given = [k for k in ("average", "rate", "per_work") if getattr(self, k) is not None]
        if len(given) > 1:
            raise InputError("scenario", "errors", f"both {' and '.join(given)}", "one of them")

    def probabilities(self, works: Sequence[float]) -> list[float]:
        """q_j of each job, by its work: a rigid one's is its area."""
        if self.average is not None:
            return failure_probabilities(works, self.average)
        with np.errstate(over="ignore"):  # infinitely many errors: they fail for certain
            return rate_probabilities(works, self.rate or self.per_work or 0.0)

    def per_unit(self, works: Sequence[float]) -> float:
        """lambda per unit of work, where that is what is given."""
        if self.average is not None:
            return -float(np.log1p(-self.average)) / float(np.mean(works))
        return self.per_work or 0.0
