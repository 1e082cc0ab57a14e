"""The `[repair]` section: stages that repair what faults strike, and what faults are blamed on
(rules.md, R6 and R7)."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from pydantic import Field

from actors.chance import Chance
from actors.events.repair import RepairLaw
from sims.errors import InputError
from sims.scenario.fault_fields import Asked
from sims.scenario.fault_laws import Gap
from sims.scenario.retirement import NeverRetire, Retirement
from sims.tables import Section
from sims.tables.fields import Count, Duration

if TYPE_CHECKING:
    from actors.blame import Blame
    from actors.repair import Stage


class RepairStage(Section):
    """`[[repair.stages]]`: one stage of repair."""

    time: Duration
    """Mean time of a repair in this stage, time units."""
    law: RepairLaw = RepairLaw.EXPONENTIAL
    """Law of the time of a repair: `exponential` or `fixed`."""
    passes_on: Asked = 0.0
    """Probability that the stage hands a repair on to the next one; or a list of outcomes in the
    order in which repairs end, 1 for each that is handed on, after which none is. The last stage
    has none."""
    fixes: Asked = 1.0
    """Probability that a repair that the stage does not hand on has removed the cause of the fault;
    or a list of outcomes in that order, after which none has."""
    crews: Count | None = None
    """Number of repairs that the stage can do at once, first come, first served; default: any
    number."""
    times: tuple[Gap, ...] = ()
    """Times of the first repairs, in the order in which they begin, in place of those that are
    drawn; under the law `exponential` only."""

    @property
    def begun(self) -> Stage:
        """A fresh state of this stage, for a simulation that begins."""
        from actors.repair import Stage  # a scenario is often read, and repairs seldom made

        chances = Chance(self.passes_on), Chance(self.fixes)
        crews = inf if self.crews is None else self.crews
        return Stage(self.law, self.time, *chances, crews, iter(self.times))


class RepairSection(Section):
    """`[repair]`: what a fault strikes is DOWN until it is repaired, in place of a downtime."""

    stages: tuple[RepairStage, ...] = Field(min_length=1)
    """Stages of a repair, the first stage first."""
    blamed: Asked = 1.0
    """Probability that a fault is blamed on a unit, which is then repaired; if it is not, what it
    has struck is back at once. Or a list of outcomes in the order in which faults become known,
    after which each is blamed."""
    mistaken: Asked = 0.0
    """Probability that a fault that is blamed is blamed on another unit of the run than it has
    struck; or a list of outcomes, in that order, after which none is."""
    others: tuple[int, ...] = ()
    """Places, from 0, of the units that are blamed by mistake among those that may be, by number;
    after the end of the list they are drawn."""

    retirement: Retirement = Field(default_factory=NeverRetire)
    """Policy that says which units do not come back from their repair; default: every unit does."""

    def check(self) -> None:
        if self.stages[-1].passes_on != 0:
            problem = "the last stage hands no repair on"
            raise InputError(
                "", f"stages.{len(self.stages) - 1}.passes_on", problem, "0, or no key"
            )
        for number, stage in enumerate(self.stages):
            if stage.times and stage.law is RepairLaw.FIXED:
                problem = "each repair takes `time` under the law fixed: none is drawn"
                accepted = 'no key, or law = "exponential"'
                raise InputError("", f"stages.{number}.times", problem, accepted)
        if any(place < 0 for place in self.others):
            raise InputError("", "others", f"{self.others!r} is not accepted", "places from 0 on")

    @property
    def blame(self) -> Blame:
        """A fresh state of how faults are blamed on units, for a simulation that begins."""
        from actors.blame import Blame

        chances = Chance(self.blamed, after=True), Chance(self.mistaken)
        return Blame(*chances, iter(self.others))

    @property
    def mean(self) -> float:
        """Mean duration of a repair, time units, if no repair waits for a crew. A stage that lists
        its outcomes in place of a probability counts as the last."""
        time, reached = 0.0, 1.0
        for stage in self.stages:
            time += reached * stage.time
            reached *= stage.passes_on if isinstance(stage.passes_on, float | int) else 0.0
        return time
