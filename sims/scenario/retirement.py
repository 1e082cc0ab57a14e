"""The key `repair.retirement`: which units do not come back from their repair (rules.md, R8)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from policies.interface.retirement import RetirementPolicy
from policies.retirement import FaultsWithin, Never, Score
from sims.scenario.own_code import OwnCode, own
from sims.tables import OneOf, Section
from sims.tables.fields import Count, Duration, NotNegative, Number


class NeverRetire(Section):
    """`"never"`: every unit comes back from its repair."""

    kind: Literal["never"] = "never"

    def policy(self, folder: Path) -> RetirementPolicy:
        """Return the policy, which retires no unit."""
        return Never()


class RetireAfterFaults(Section):
    """`{kind = "faults-within", faults = 2, window = "7 d"}`: a unit on which so many faults were
    blamed within the window that ends with its repair does not come back."""

    kind: Literal["faults-within"] = "faults-within"
    faults: Count
    """Number of faults."""
    window: Duration
    """Length of the window, time units."""

    def policy(self, folder: Path) -> RetirementPolicy:
        """Return the policy, which retires a unit after so many faults within the window."""
        return FaultsWithin(self.faults, self.window)


class RetireByScore(Section):
    """`{kind = "score", period = "1 d"}`: a unit whose score is at the threshold or below does not
    come back."""

    kind: Literal["score"] = "score"
    initial: Number = 100.0
    """Score at the start."""
    penalty: NotNegative = 60.0
    """Points that a unit loses for a fault that is blamed on it."""
    credit: NotNegative = 10.0
    """Points that each whole period of a run earns its members, unless a fault that ended the run
    is blamed on them."""
    period: Duration
    """Computing time that earns the credit, time units."""
    threshold: Number = 0.0
    """Score at or below which the unit does not come back."""

    def policy(self, folder: Path) -> RetirementPolicy:
        """Return the policy, which retires a unit once its score is low enough."""
        return Score(self.initial, self.penalty, self.credit, self.period, self.threshold)


class OwnRetirement(OwnCode):
    """`{kind = "own", name = "package.module:Name", parameters = {...}}`: a policy of the user's
    own."""

    name: str
    """Name of a class with `retires(workers, view)` (`holdfast new policy retirement`)."""

    def policy(self, folder: Path) -> RetirementPolicy:
        """Return the policy; a module of the user's is looked for in `folder`.

        Raises InputError where it cannot be loaded.
        """
        found: RetirementPolicy = own(
            self.name, self.parameters, folder, "repair.retirement.name", RetirementPolicy
        )
        return found


Retirement = Annotated[
    NeverRetire | RetireAfterFaults | RetireByScore | OwnRetirement,
    OneOf(),
]
