"""How a job survives: what its runs save, and what the next one begins from (WORLD.md, P)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Annotated, Literal, Self

from attrs import evolve

from actors.protection import ProtectionKind, Rules
from actors.protection.rules import BySize
from policies.maths.checkpoint import daly_work, young_work
from sims.errors import unfit
from sims.tables import Section
from sims.tables.fields import Accepts, Count, DurationOrInf, Part, Time

if TYPE_CHECKING:
    from policies.maths.cosched import Costs


class Fatal(enum.Enum):
    """What a fault does to a pack's job still busy with its last fault or redistribution."""

    IGNORED = "ignored"
    """Nothing (malleable17, section 6.1)."""
    POSSIBLE = "possible"
    """It counts; one on the buddy of a worker in recovery loses both copies of a checkpoint."""


Period = Annotated[
    DurationOrInf | Literal["young", "daly"], Accepts("a number above 0, inf, young, or daly")
]


FREE = "a checkpoint that costs nothing would be taken all the time"
"""What is wrong with a period by a formula where a checkpoint takes no time."""
FORMULAS = {"young": young_work, "daly": daly_work}
Failing = Sequence[tuple[int, float]]
"""(workers that fail together, their mtbf) of each kind of faults."""


class OnNotice(enum.Enum):
    """What a run does when an owner announces that it takes a member away."""

    NOTHING = "nothing"
    SAVE = "save"
    """It takes a checkpoint at once, if it has computed since the last one."""


class ProtectionSection(Section):
    """`[protection]`: of every job that has no table of its own."""

    kind: ProtectionKind = ProtectionKind.NONE
    """Where checkpoints are kept: `none`, `buddies` or `images`."""
    period: Period = inf
    """Work between two checkpoints; `young`, `daly`: by that formula, from the workers' MTBF."""
    cost: Time | None = None
    """Time of a checkpoint, all members together, without a master; default: 0, in a pack what
    [link] says."""
    recovery: Time | None = None
    """Time to restore a checkpoint, likewise."""
    verified: bool = False
    """Whether a verification precedes each checkpoint."""
    copies: Count = 1
    """r: the most runs at once."""
    cloning: bool = False
    """Whether a copy begins from the furthest one's state."""
    delay: Time = 0
    """Time to fetch a clone without a master."""
    on_notice: OnNotice = OnNotice.NOTHING
    """What a run does when an owner gives notice: `nothing`, or `save` (it takes a checkpoint)."""
    blocking: bool = True
    """Whether a checkpoint stops the run; if not, work goes on while it is written."""
    slowdown: Part = 0
    """What work loses of its speed meanwhile."""
    images_every: Count | None = None
    """k: under buddies, each k-th checkpoint goes to shared storage too; default: none does."""
    image_cost: Time = 0
    """Time of that without a master, all members together."""
    replace_after: Time | None = None
    """Under buddies, after how long a member that is DOWN is replaced by a spare or a free worker;
    default: it is waited for."""
    mtbf: DurationOrInf | None = None
    """mu of one worker that formulas count with; default: that of [faults], else that of the
    workers' traces."""
    fatal: Fatal | None = None
    """Of a pack, whether every fault counts: `ignored` or `possible`; default: ignored where there
    is only what malleable17 has (buddies, and nothing but faults), elsewhere possible."""

    @property
    def by_formula(self) -> bool:
        """Whether its period is worked out from an MTBF."""
        return self.kind is not ProtectionKind.NONE and isinstance(self.period, str)

    @property
    def plain(self) -> bool:
        """Whether a run that ends early leaves nothing, and there is one at a time."""
        return self.kind is ProtectionKind.NONE and self.copies == 1

    def failing(self, mtbf: float) -> Self:
        """With the MTBF that its formula counts with, where it says none."""
        asking = self.by_formula and self.mtbf is None
        return self.model_copy(update={"mtbf": mtbf}) if asking else self

    def rules(
        self, verification: float, image: float | None, mtbf: float, failing: Failing = ()
    ) -> Rules:
        """As actors know it; `image`: its time on a channel, None without a master; `mtbf` of the
        faults. Raises InputError for a period that no formula gives."""
        cost, none = self.cost or 0, self.kind is ProtectionKind.NONE
        buddies = self.kind is ProtectionKind.BUDDIES
        taken = image if image and self.kind is ProtectionKind.IMAGES else cost
        return Rules(
            kind=self.kind,
            period=self._period(taken, mtbf),
            period_of=self._period_of(taken, failing),
            cost=cost,
            recovery=self.recovery or 0,
            verification=verification,
            verified=self.verified,
            copies=self.copies,
            cloning=self.cloning,
            delay=self.delay,
            image=image,
            blocking=self.blocking or none,
            slowdown=0 if none else self.slowdown,
            images_every=self.images_every if buddies else None,
            image_cost=self.image_cost if buddies else 0,
            on_notice=self.on_notice is OnNotice.SAVE and not none,
            replace_after=self.replace_after if buddies else None,
        )

    def rules_by_size(
        self, verification: float, image: float | None, costs: Costs, fatal: bool
    ) -> Rules:
        """The same of a pack's application, whose `costs` tell its periods by size and, of buddies,
        what this section does not say."""
        plain = self.model_copy(update={"period": inf}).rules(verification, image, inf)
        if self.kind is ProtectionKind.NONE:
            return plain
        linked = self.kind is ProtectionKind.BUDDIES
        return evolve(
            plain,
            period=costs.computing,
            cost=costs.saving if self.cost is None and linked else plain.cost,
            recovery=costs.saving if self.recovery is None and linked else plain.recovery,
            group=costs.pair,
            fatal=fatal,
        )

    def _period(self, cost: float, mtbf: float) -> BySize:
        period, mu = self.period, mtbf if self.mtbf is None else self.mtbf
        if self.kind is ProtectionKind.NONE:
            return lambda members: inf
        if not isinstance(period, str):
            return lambda members: period
        if mu == inf:
            raise unfit(
                "protection.period",
                f"{period!r} needs to know how often workers fail",
                "a number, or protection.mtbf, faults with an mtbf, or traces that go DOWN",
            )
        if not cost:
            raise unfit("protection.period", f"{period!r}: {FREE}", "a number, or a cost")
        formula = FORMULAS[period]
        return lambda members: formula(mu / members, cost)

    def _period_of(self, cost: float, failing: Failing) -> Callable[[Sequence[int]], float] | None:
        """By a formula, where workers do not fail each alone and all alike."""
        if not isinstance(self.period, str) or sum(together for together, _ in failing) <= 1:
            return None
        formula = FORMULAS[self.period]
        laws = failing if self.mtbf is None else [(failing[0][0], self.mtbf)]

        def period(members: Sequence[int]) -> float:
            rate = sum(len({n // together for n in members}) / mtbf for together, mtbf in laws)
            return formula(1 / rate, cost)

        return period
