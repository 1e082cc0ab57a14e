"""The saved states from which a run can continue, and the plan of a run (rules.md, P)."""

from __future__ import annotations

import math

from attrs import define

from actors.events import Stage
from actors.protection.rules import Rules
from policies.maths.tolerance import ROUNDING


@define(eq=False)
class State:
    """A state from which a run can continue: one that was saved, or that of a copy under way.

    It is read only, but not frozen at run time: one is made for each run that is lost, and freezing
    doubles its cost.
    """

    run: int
    """Number of the run that computed it."""
    done: float
    """Work done, in the units of that run."""
    work: float
    """Whole work of that run. A run on other members continues with the same fraction of its own
    work (P3)."""
    exposed: float = 0
    """Workers x computing time since the last verified point (R3)."""

    @property
    def fraction(self) -> float:
        """The fraction of the work that is done, from 0 to 1."""
        return self.done / self.work

    def beyond(self, other: State) -> bool:
        """Return whether a larger fraction of the work is done in this state than in the other, by
        more than 1e-12."""
        return self.fraction - other.fraction > ROUNDING

    def of(self, work: float) -> float:
        """Return the work that this state amounts to for a run whose whole work is `work`: the same
        fraction is done."""
        # Equal works are not scaled: rounding could make done * work / work differ from done.
        return self.done if work == self.work else self.done * work / self.work


@define(eq=False)
class Plan:
    """The plan of one run: the state that it begins from, the parts that it passes before it
    computes, and how often it takes checkpoints.

    It is read only, but not frozen at run time, as a `State` is not.
    """

    rules: Rules
    begins: State | None = None
    """The state that the run continues from; None: it starts from scratch."""
    fetches: bool = False
    """Whether each member fetches the state `begins` from the master."""
    loads: int | None = None
    """Number of parts in `before` after which the members load the state `begins` from shared
    storage (S1); None: they load nothing."""
    before: tuple[tuple[Stage, float], ...] = ()
    """Parts between staging in and computing, each with its length in time units: recovery, a
    clone's delay, a redistribution."""
    period: float = math.inf
    """Work between two checkpoints, with this run's members; 0: the state is always saved."""
    cost: float | None = None
    """Time of a checkpoint with this run's members; None: each of them sends its image to the
    master."""
    closes: bool = False
    """Whether a checkpoint is taken after the parts in `before`, as a redistribution spreads the
    state over other members (malleable17, section 3.3.2)."""

    def beginning(
        self,
        state: State | None,
        before: tuple[tuple[Stage, float], ...] | None = None,
        fetches: bool = False,
        loads: int | None = None,
    ) -> Plan:
        """Return this plan, one from scratch, changed so that the run begins from `state`; the
        other parameters are fields of the plan. One is made for each run that is lost: attrs'
        `evolve` takes five times as long."""
        before = self.before if before is None else before
        return Plan(self.rules, state, fetches, loads, before, self.period, self.cost, self.closes)

    def ahead(self, passed: int = 0) -> tuple[float, ...]:
        """Return the durations, in time units, of the parts that come before computing, in order,
        staging in aside: those of `before` without the first `passed`, then, if it `closes`, the
        checkpoint that closes a redistribution, with its verification if it has one."""
        times = [length for _, length in self.before[passed:]]
        if self.closes:
            closing = (self.rules.verification, self.cost or 0)
            times.extend(closing if self.rules.verified else closing[1:])
        return tuple(times)
