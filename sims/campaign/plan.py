"""Plan the cases of a campaign: every variant at every point of its axes.

Scenarios are made when they are asked for, and few are kept: a campaign may have millions of cases.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import define, field, frozen

from sims.campaign import Campaign
from sims.campaign.axes import Settings, as_toml, is_object, objects, settings_text, within
from sims.campaign.batches import OwnMeasure, seeded
from sims.campaign.follows import FORM, followed, names_in
from sims.errors import COMMAND_LINE, InputError
from sims.own_modules import running
from sims.packing import Dependencies, dependencies_of, digest
from sims.scenario import Scenario
from sims.scenario.loader import parse, read, words
from sims.scenario.own_code import imported
from sims.scenario.tables import leaves, put
from sims.world import checked_seed, with_given

LOOKED_AT = 256
"""Number of cases that are checked before anything runs, unless there are more variants, or values
of an axis: making a case takes a millisecond or more."""
KEPT = 2000
"""Number of scenarios that are kept at a time."""
NAMES = {"name", "log"}
"""Keys of a scenario whose values are not names of files that it reads."""


@frozen
class Made:
    """A scenario, with everything else that a run of it needs: its first seed, its files and
    modules, and a digest that identifies it."""

    scenario: Scenario
    root: str
    """Digest of everything but the seed on which a run depends."""
    first: int
    """Seed of replication 0."""
    dependencies: Dependencies
    """Files and modules that a worker needs."""


@frozen(eq=False)
class Case:
    """One variant of a campaign at one point of its axes. Each replication of a case is a run."""

    plan: Cases
    number: int
    """Number of the case in the plan."""
    place: int
    """Number of its point in the plan."""
    point: Settings
    """Settings of its point on the axes."""
    variant: str
    """Name of the variant."""

    def scenario(self, replication: int) -> Scenario:
        """Return the scenario with the seed of a replication (numbered from 0). Raises InputError
        where the settings give no scenario."""
        return seeded(self.made(replication).scenario, self.seed(replication))

    def made(self, replication: int) -> Made:
        """Return the scenario of a replication, and what a run of it needs. The scenario's own seed
        is not that of the replication: `Case.seed` returns it.

        Raises InputError where the settings give no scenario.
        """
        return self.plan.made(self.number, replication if self.plan.by_seed else 0)

    def seed(self, replication: int) -> int:
        """Return the seed of a replication: the case's first seed plus the replication's number,
        from 0."""
        return self.plan.made(self.number, 0).first + replication

    def key(self, replication: int) -> str:
        """Return the digest that identifies the result of a replication: same key, same result."""
        return digest(f"{self.made(replication).root} {self.seed(replication)}".encode())

    def settings(self) -> Settings:
        """Return all settings by which the case changes the base scenario, as pairs (dotted key,
        value) in the order in which they are set: the campaign's `set`, the point on the axes, the
        variant, and what follows from these. If a key comes twice, its last value counts.

        Raises InputError where nothing follows."""
        campaign = self.plan.campaign
        own = (*campaign.set.items(), *self.point, *campaign.variants[self.variant].items())
        return self.plan.completed(own) if campaign.follows else own

    def reproducing(self, replication: int) -> str:
        """Return the command that runs one replication alone and logs it.

        If a function makes the scenario, no command does; return the function's name, its settings
        and the seed.
        """
        campaign = self.plan.campaign
        words = [f"{key}={as_toml(value)}" for key, value in self.settings()]
        seed = ["--seed", str(self.seed(replication))]
        if campaign.made:
            return shlex.join([campaign.scenario, *words, *seed])
        file = str(Path(campaign.folder, campaign.scenario))
        sets = [part for word in words for part in ("--set", word)]
        until = [] if campaign.until is None else ["--until", str(campaign.until)]
        return shlex.join(["holdfast", "run", file, *sets, *seed, *until])

    def __str__(self) -> str:
        return f"{self.variant}, {settings_text(self.point)}" if self.point else self.variant


@define(eq=False)
class Cases(Sequence[Case]):
    """All cases of a campaign in order: by point on the axes, and then by variant."""

    campaign: Campaign
    dependencies: Dependencies = field(factory=Dependencies, init=False)
    """Files and modules that the scenarios made so far need."""
    made: Callable[[int, int], Made] = field(init=False)
    """Function that returns a scenario by the numbers of its case and of its replication, where
    replications differ by more than the seed.

    Raises InputError where the settings give no scenario.
    """

    def __attrs_post_init__(self) -> None:
        self.made = lru_cache(KEPT)(self._make)

    @classmethod
    def of(cls, campaign: Campaign) -> Cases:
        """Return the plan of a campaign. Raises InputError where one of the cases that `looked_at`
        yields is no scenario."""
        plan = cls(campaign)
        for case in plan.looked_at():
            case.made(0)
        return plan

    def looked_at(self) -> Iterator[Case]:
        """Yield the cases that are checked before a campaign begins: all if there are at most
        LOOKED_AT, else as many or more, among which are every variant and every value of an
        axis."""
        if len(self) <= LOOKED_AT:
            yield from self
            return
        for k in range(max(LOOKED_AT, *self._shape)):
            # Along a diagonal of the grid, every value of every axis occurs.
            yield self[int(np.ravel_multi_index([k % size for size in self._shape], self._shape))]

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        """Number of values of each axis, in the axes' order, and last the number of variants."""
        return (*map(len, self.campaign.axes.values()), len(self.campaign.variants))

    @property
    def places(self) -> int:
        """Number of points on the axes."""
        return prod(self._shape[:-1])

    def __len__(self) -> int:
        return prod(self._shape)

    def __getitem__(self, number: int) -> Case:  # type: ignore[override]
        if not 0 <= number < len(self):
            raise IndexError(number)
        *places, variant = map(int, np.unravel_index(number, self._shape))
        axes = zip(self.campaign.axes.items(), places, strict=True)
        point = tuple((key, values[place]) for (key, values), place in axes)
        name = list(self.campaign.variants)[variant]
        return Case(self, number, number // self._shape[-1], point, name)

    def points(self) -> Iterator[list[Case]]:
        """Yield, for each point on the axes, its cases, one for each variant."""
        many = self._shape[-1]
        for first in range(0, len(self), many):
            yield [self[first + k] for k in range(many)]

    # --- what a case is of --------------------------------------------------------------------

    @cached_property
    def function(self) -> Callable[..., Any] | None:
        """The user's function that makes scenarios, or None where the campaign has a scenario file.
        Raises InputError where it is missing."""
        campaign = self.campaign
        return imported(campaign.scenario, campaign.home, "scenario") if campaign.made else None

    @cached_property
    def _arguments(self) -> frozenset[str]:
        """Names of the arguments of the user's function that makes scenarios; empty where there is
        none."""
        return frozenset(inspect.signature(self.function).parameters if self.function else ())

    @property
    def by_seed(self) -> bool:
        """Whether each replication has a scenario of its own, since the user's function that makes
        scenarios has an argument `seed`."""
        return "seed" in self._arguments

    @cached_property
    def folder(self) -> Path:
        """Folder in which the files of scenarios are sought."""
        own = "" if self.campaign.made else Path(self.campaign.scenario).parent
        return self.campaign.home / own

    @cached_property
    def _base(self) -> dict[str, Any]:
        """Table of the base scenario's file."""
        return parse(Path(self.campaign.folder, self.campaign.scenario))

    @cached_property
    def _of_measures(self) -> Dependencies:
        """The files and modules that a worker process needs for the user's own measures."""
        own = (it for it in self.campaign.gauges if isinstance(it, OwnMeasure))
        named = tuple(it.value for it in own if it.given is None)
        return dependencies_of(named, self.campaign.home)

    def completed(self, own: Settings) -> Settings:
        """Return the settings `own` of a case with those that follow from them, and without names
        that only serve to say what follows.

        Raises InputError for an expression that has no value.
        """
        campaign = self.campaign
        file = {} if campaign.made else dict(leaves(self._base))
        try:
            found = tuple(followed(campaign.follows, own, file))
        except ValueError as error:
            raise InputError(campaign.source, self._option("follows"), str(error), FORM) from None
        named, keys = names_in(campaign.follows), {*Scenario.model_fields, *self._arguments}
        kept = (it for it in own if "." in it[0] or it[0] in keys or it[0] not in named)
        return (*kept, *found)

    def _option(self, key: str) -> str:
        """Return the name of the option, or else the key of a campaign's file, that an error about
        a setting names."""
        return "--vary" if self.campaign.source == COMMAND_LINE else key

    def _make(self, number: int, index: int) -> Made:
        """Make the scenario of case `number`, for replication `index`, with its first seed, its
        digest, and the files and modules that it needs.

        Raises InputError where the settings give no scenario, or where a seed of the campaign would
        be too large.
        """
        campaign = self.campaign
        scenario = self._scenario(self[number].settings(), index)
        if index:
            dependencies, first = self.made(number, 0).dependencies, self.made(number, 0).first
        else:
            first = scenario.seed if campaign.seed is None else campaign.seed
            key = "--runs" if campaign.source == COMMAND_LINE else "seed"
            checked_seed(first + campaign.most - 1, campaign.source, key)
            table = scenario.model_dump(exclude=NAMES, warnings=False)
            dependencies = dependencies_of(words(table), self.folder) | self._of_measures
            self.dependencies |= dependencies
        # Objects have no digest; their ids identify them within this process, and `compare` refuses
        # to store results of theirs.
        identities = list(map(id, objects(self[number].settings()).values()))
        files = dependencies.code, sorted(dependencies.digests().values())
        measured = identities, campaign.until, campaign.by, files
        # Numpy would abbreviate long arrays, and two different scenarios would have one digest.
        with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
            root = digest(repr((seeded(scenario, 0), *measured)).encode())
        return Made(scenario, root, first, dependencies)

    def _scenario(self, given: Settings, index: int) -> Scenario:
        """Return the base scenario with the settings `given`. Where a function makes scenarios, it
        is the one of replication `index`."""
        given_objects = objects(given)
        plain = tuple(pair for pair in given if not is_object(*pair))
        if self.function is None:
            source = str(Path(self.campaign.folder, self.campaign.scenario))
            scenario = self._read(self._base, plain, source)
        else:
            scenario = self._made(self.function, plain, index)
        return with_given(scenario, **given_objects) if given_objects else scenario

    def _made(self, function: Callable[..., Any], given: Settings, index: int) -> Scenario:
        """Return the scenario that the user's function makes for replication `index` with the
        settings `given`.

        Settings that are no arguments of the function are put into the table that it returns.
        Raises InputError where it returns neither a table nor a `Scenario`, or returns a `Scenario`
        and settings are left.
        """
        campaign = self.campaign
        arguments = {key: value for key, value in given if key in self._arguments}
        rest = tuple((key, value) for key, value in given if key not in self._arguments)
        if self.by_seed:
            arguments["seed"] = (campaign.seed or 0) + index
        with running("scenario", repr(campaign.scenario), "a function that makes a scenario"):
            made = function(**arguments)
        if isinstance(made, dict):
            return self._read(made, rest, campaign.scenario)
        if not isinstance(made, Scenario) or rest:
            problem = f"{rest[0][0]} is no argument of it" if rest else f"it made {made!r:.60}"
            raise InputError(campaign.source, "scenario", problem, "a scenario file's table")
        return made

    def _read(self, table: dict[str, Any], given: Settings, source: str) -> Scenario:
        """Return the scenario of a copy of `table` with the settings `given`.

        Raises InputError where a key has no place in the table, naming the campaign's file, and
        where the table is no scenario, naming `source`.
        """
        table_of_case, named = deepcopy(table), self.campaign.source
        option = self._option("set, axes or variants")
        for key, value in given:
            try:
                put(table_of_case, key, value, option)
            except InputError as error:
                raise attrs.evolve(error, source=named) from None
        try:
            return read(table_of_case, source, self.folder)
        except InputError as error:
            # The file is not to blame for what was put into it.
            if error.source != source or not any(within(error.key, key) for key, _ in given):
                raise
            problem = f"{error.key}: {error.problem}"
            raise attrs.evolve(error, source=named, key=option, problem=problem) from None
