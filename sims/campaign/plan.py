"""The cells of a campaign: every variant at every point of its axes, each scenario resolved."""

from __future__ import annotations

import inspect
import sys
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import frozen

from sims.campaign.axes import Axis, Settings, points, told
from sims.campaign.campaign import Campaign
from sims.campaign.cells import seeded
from sims.campaign.kit import OWN, Kit, digest, kit_of
from sims.errors import InputError
from sims.options import COMMAND_LINE
from sims.scenario.header import SEEDS
from sims.scenario.loader import parse, put, read
from sims.scenario.policies import imported
from sims.scenario.scenario import Scenario


@frozen(eq=False)
class Case:
    """One variant in one cell."""

    point: Settings
    """Where on the axes."""
    variant: str
    scenarios: tuple[Scenario, ...]
    """The one of all replications, or each one's."""
    folder: Path
    """Where its files are sought."""
    kit: Kit
    roots: tuple[str, ...]
    """Digest of all but the seed that a run follows from, by scenario."""
    first: int
    """Seed of replication 0."""

    def scenario(self, replication: int) -> Scenario:
        """At the seed of a replication."""
        return seeded(self.scenarios[self.index(replication)], self.seed(replication))

    def index(self, replication: int) -> int:
        """Of a replication's scenario."""
        return replication if len(self.scenarios) > 1 else 0

    def seed(self, replication: int) -> int:
        """Of a replication."""
        return self.first + replication

    def key(self, replication: int) -> str:
        """Names the content of a replication: same key, same result."""
        return digest(f"{self.roots[self.index(replication)]} {self.seed(replication)}".encode())

    def __str__(self) -> str:
        return f"{self.variant}, {told(self.point)}" if self.point else self.variant


@frozen
class Plan:
    """All cases of a campaign, by point and then by variant."""

    points: tuple[Settings, ...]
    cases: tuple[Case, ...]

    @classmethod
    def of(cls, campaign: Campaign) -> Plan:
        """Raises InputError where a case is no scenario."""
        places = points([Axis(key, values) for key, values in campaign.axes.items()])
        cases = tuple(
            _case(campaign, point, name) for point in places for name in campaign.variants
        )
        last = max(case.seed(campaign.most - 1) for case in cases)
        if last not in SEEDS:
            problem, accepted = f"{last} is no seed", "seeds of 0 or above, below 2**64"
            key = "--runs" if campaign.source == COMMAND_LINE else "seed"
            raise InputError(campaign.source, key, problem, accepted)
        return cls(tuple(places), cases)

    @cached_property
    def kit(self) -> Kit:
        """What all of them need."""
        whole = Kit()
        for kit in {case.kit for case in self.cases}:
            whole = kit | whole
        return whole


def settings(campaign: Campaign, point: Settings, variant: str) -> Settings:
    """All that a case sets in the base scenario, in order."""
    return (*campaign.set.items(), *point, *campaign.variants[variant].items())


def _case(campaign: Campaign, point: Settings, variant: str) -> Case:
    given = settings(campaign, point, variant)
    if OWN.fullmatch(campaign.scenario):
        folder, scenarios = Path(campaign.folder), _made(campaign, given)
    else:
        path = Path(campaign.folder, campaign.scenario)
        folder, scenarios = path.parent, (_read(parse(path), given, campaign, str(path)),)
    folder = folder.absolute()
    kit = kit_of(scenarios[0], folder) | kit_of(campaign.measures, Path(campaign.folder).absolute())
    asked = (campaign.until, campaign.gauges, kit.code, sorted(kit.digests().values()))
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        roots = tuple(digest(repr((seeded(it, 0), *asked)).encode()) for it in scenarios)
    first = scenarios[0].seed if campaign.seed is None else campaign.seed
    return Case(point, variant, scenarios, folder, kit, roots, first)


def _read(table: dict[str, Any], given: Settings, campaign: Campaign, source: str) -> Scenario:
    own = deepcopy(table)
    option = "--vary" if campaign.source == COMMAND_LINE else "set, axes or variants"
    for key, value in given:
        try:
            put(own, key, value, option)
        except InputError as error:
            raise attrs.evolve(error, source=campaign.source) from None
    return read(own, source)


def _made(campaign: Campaign, given: Settings) -> tuple[Scenario, ...]:
    """What the user's function makes of the settings."""
    make = imported(campaign.scenario, Path(campaign.folder), "scenario")
    known = inspect.signature(make).parameters
    arguments = {key: value for key, value in given if key in known}
    rest = tuple((key, value) for key, value in given if key not in known)
    first = campaign.seed or 0
    each = [{"seed": first + k} for k in range(campaign.most)] if "seed" in known else [{}]
    return tuple(_one(campaign, make(**arguments, **seed), rest) for seed in each)


def _one(campaign: Campaign, made: Any, rest: Settings) -> Scenario:
    if isinstance(made, dict):
        return _read(made, rest, campaign, campaign.scenario)
    if not isinstance(made, Scenario) or rest:
        problem = f"{rest[0][0]} is no argument of it" if rest else f"it made {made!r:.60}"
        raise InputError(campaign.source, "scenario", problem, "a scenario file's table")
    return made
