"""The `[protection]` section: what a job's runs save, and from what the next run continues
(rules.md, P)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Annotated, Literal, Self

from attrs import evolve

from actors.protection import ProtectionKind, Rules
from actors.protection.rules import BySize, on
from policies.maths.checkpoint import daly_work, young_work
from sims.errors import InputError, unfit
from sims.tables import Section
from sims.tables.fields import Accepts, Amount, Count, DurationOrInf, Part, Time

if TYPE_CHECKING:
    from policies.maths.cosched import Costs
    from sims.scenario.platform import StorageSection


class Fatal(enum.Enum):
    """Effect of a fault on a pack's job that is still busy with its last fault or
    redistribution."""

    IGNORED = "ignored"
    """The fault has no effect (malleable17, section 6.1)."""
    POSSIBLE = "possible"
    """The fault counts; on the buddy of a worker in recovery, it loses both copies of a
    checkpoint."""


CONTINUOUS = "continuous"
Period = Annotated[
    DurationOrInf | Literal["young", "daly", "continuous"],
    Accepts("a number above 0 (inf too), `young`, `daly`, or `continuous`"),
]


FREE = "a checkpoint that costs nothing would be taken all the time"
"""Reason why a formula gives no period where a checkpoint takes no time."""
FORMULAS = {"young": young_work, "daly": daly_work}
Failing = Sequence[tuple[int, float]]
"""Number of workers that fail together, and their MTBF, for each kind of faults."""


class OnNotice(enum.Enum):
    """Reaction of a run to an owner's notice that a member will be taken away."""

    NOTHING = "nothing"
    SAVE = "save"
    """The run takes a checkpoint at once, if it has computed since the last one."""


class ProtectionSection(Section):
    """`[protection]`: how jobs survive failures; applies to every job that has no table of its
    own."""

    kind: ProtectionKind = ProtectionKind.NONE
    """Place where checkpoints are kept: `none`, `buddies` or `images`."""
    period: Period = inf
    """Work between two checkpoints, time units; `young`, `daly`: given by that formula, from the
    workers' MTBF; `continuous`: images that cost nothing are always there, so that a run that ends
    loses no work; default: inf, no checkpoint."""
    cost: Time | None = None
    """Time of a checkpoint, for all members together and without a master, time units; default: 0,
    in a pack the time that `[link]` gives."""
    recovery: Time | None = None
    """Time to restore a checkpoint, for all members together and without a master, time units;
    default as for `cost`."""
    verified: bool = False
    """Whether a verification precedes each checkpoint."""
    copies: Count = 1
    """r: largest number of a job's runs (copies) at once."""
    cloning: bool = False
    """Whether a new copy starts from the furthest copy's state."""
    delay: Time = 0
    """Time to fetch a copy's state for cloning without a master, time units."""
    on_notice: OnNotice = OnNotice.NOTHING
    """Reaction of a run to an owner's notice: `nothing`, or `save`, which takes a checkpoint."""
    blocking: bool = True
    """Whether a checkpoint stops the run; if not, the run computes while the checkpoint is
    written."""
    slowdown: Part = 0
    """Fraction of its speed that a run loses while a non-blocking checkpoint is written."""
    images_every: Count | None = None
    """k: under buddies, every k-th checkpoint also goes to shared storage; default: none does."""
    bytes: Amount | None = None
    """V: size of a checkpoint on shared storage, for all members together, bytes; takes the place
    of the times of saving and loading, and needs `[storage]`."""
    image_cost: Time = 0
    """Time of a checkpoint to shared storage under `images_every`, without a master, for all
    members together, time units."""
    replace_after: Time | None = None
    """Time after which, under buddies, a member that is DOWN is replaced by a spare or a free
    worker, time units; default: the run waits for the member."""
    mtbf: DurationOrInf | None = None
    """mu: MTBF of one worker that formulas use, time units; default: that of `[faults]`, or else
    that of the workers' traces."""
    fatal: Fatal | None = None
    """Whether, in a pack, every fault counts: `ignored` or `possible`; default: ignored where a
    scenario has only what malleable17 has (buddies, and nothing but faults), otherwise possible."""

    def check(self) -> None:
        if not self.continuous:
            return
        if self.kind is not ProtectionKind.IMAGES:
            problem = f"'{CONTINUOUS}' is of images: buddies that fail together lose what they keep"
            raise InputError("", "period", problem, 'a number, young, daly, or kind = "images"')
        takes = ("cost", "bytes", "verified", "slowdown"), ("on_notice", "blocking", "copies")
        for key in (key for keys in takes for key in keys if self.differs(key)):
            if getattr(self, key):
                problem = f"stands beside period = '{CONTINUOUS}', by which nothing is taken"
                raise InputError("", key, problem, f"{key} left out, or another period")

    @property
    def continuous(self) -> bool:
        """Whether images that cost nothing are always there."""
        return self.period == CONTINUOUS

    @property
    def formula(self) -> str | None:
        """Name of the formula that gives the period, `young` or `daly`; None where none does."""
        return self.period if isinstance(self.period, str) and self.period in FORMULAS else None

    @property
    def by_formula(self) -> bool:
        """Whether the period is given by Young's or Daly's formula, from an MTBF."""
        return self.kind is not ProtectionKind.NONE and self.formula is not None

    @property
    def asks_rate(self) -> bool:
        """Whether the period is given by a formula whose MTBF the section does not set, so that it
        is that of the faults or the traces."""
        return self.by_formula and self.mtbf is None

    @property
    def periodic(self) -> bool:
        """Whether checkpoints are taken after each period: there are checkpoints, and the period is
        not inf."""
        return self.kind is not ProtectionKind.NONE and self.period != inf

    @property
    def stores(self) -> bool:
        """Whether some checkpoints leave the members' memory, for the shared storage or the master:
        not images that cost nothing."""
        if self.kind is ProtectionKind.BUDDIES:
            return self.images_every is not None
        return self.kind is ProtectionKind.IMAGES and not self.continuous

    @property
    def plain(self) -> bool:
        """Whether there is no protection: a run that ends early leaves nothing behind, and a job
        has one run at a time."""
        return self.kind is ProtectionKind.NONE and self.copies == 1

    def failing(self, mtbf: float) -> Self:
        """Return the section with `mtbf` as the mean time between a worker's faults, if its formula
        needs one that it does not set; otherwise the section itself."""
        return self.model_copy(update={"mtbf": mtbf}) if self.asks_rate else self

    def rules(
        self,
        verification: float,
        image: float | None,
        mtbf: float,
        failing: Failing = (),
        storage: StorageSection | None = None,
        node: int = 1,
    ) -> Rules:
        """Return this protection as the rules that the actors of jobs and runs follow.

        `verification` is the time of a verification. `image` is the time of a checkpoint on a
        channel of the master (None: no master). `mtbf` is the mean time between faults of one
        worker by all laws, and `failing` has (number of workers that fail together, mean time
        between faults) for each law. `storage` is the shared storage (None: there is none), and
        `node` the number of workers in a node. Raises InputError for a period that no formula
        gives.
        """
        cost, none = self.cost or 0, self.kind is ProtectionKind.NONE
        buddies = self.kind is ProtectionKind.BUDDIES
        if self.continuous and image:
            problem = f"'{CONTINUOUS}': images take time on the master's channels"
            raise unfit("protection.period", problem, "a number, young, or job.image = 0")
        taken: float | BySize = image if image and self.kind is ProtectionKind.IMAGES else cost
        if storage is not None and self.kind is ProtectionKind.IMAGES and self.bytes:
            taken = partial(storage.time, self.bytes)
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
            bytes=None if storage is None or not self.stores else self.bytes,
            worker_bandwidth=inf if storage is None else storage.each,
            images_every=self.images_every if buddies else None,
            image_cost=self.image_cost if buddies else 0,
            on_notice=self.on_notice is OnNotice.SAVE and not none,
            replace_after=self.replace_after if buddies else None,
            node=node,
        )

    def rules_by_size(
        self,
        verification: float,
        image: float | None,
        costs: Costs,
        fatal: bool,
        storage: StorageSection | None,
        node: int,
    ) -> Rules:
        """Return this protection as the rules that a pack's application follows, whose number of
        workers changes.

        `verification`, `image`, `storage` and `node` are as in `rules`. `costs` gives the period
        for each size and, for buddies, the costs that this section does not set. `fatal` says
        whether a fault can lose the buddies' checkpoints.
        """
        unplanned = self.model_copy(update={"period": inf})
        plain = unplanned.rules(verification, image, inf, storage=storage, node=node)
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

    def _period(self, cost: float | BySize, mtbf: float) -> BySize:
        period, mu = self.period, mtbf if self.mtbf is None else self.mtbf
        if self.kind is ProtectionKind.NONE:
            return lambda members: inf
        formula_name = self.formula
        if formula_name is None:
            fixed = 0.0 if isinstance(period, str) else period
            return lambda members: fixed
        if mu == inf:
            raise unfit(
                "protection.period",
                f"{period!r} needs to know how often workers fail",
                "a number, or protection.mtbf, faults with an mtbf, or traces that go DOWN",
            )
        if not cost:
            raise unfit(
                "protection.period", f"{period!r}: {FREE}", "a number, continuous, or a cost"
            )
        formula = FORMULAS[formula_name]
        return lambda members: formula(mu / members, on(cost, members))

    def _period_of(
        self, cost: float | BySize, failing: Failing
    ) -> Callable[[Sequence[int]], float] | None:
        """Return the function that computes the period from the members' numbers, by Young's or
        Daly's formula; None where the period depends on the members' count alone.

        The members matter where workers fail together, as nodes, or by several laws. `cost` is the
        time of a checkpoint, or a function of the members' count, and `failing` as in `rules`.
        """
        if self.formula is None or sum(together for together, _ in failing) <= 1:
            return None
        formula = FORMULAS[self.formula]
        # An `mtbf` in this section replaces those of all laws.
        laws = failing if self.mtbf is None else [(failing[0][0], self.mtbf)]

        def period(members: Sequence[int]) -> float:
            # A node fails as one unit: its members count once in the rate of failures.
            rate = sum(len({n // together for n in members}) / mtbf for together, mtbf in laws)
            return formula(1 / rate, on(cost, len(members)))

        return period
