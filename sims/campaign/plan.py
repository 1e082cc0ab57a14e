"""Plan the cases of a campaign: every variant at every point of its axes.

Scenarios are made when they are asked for, and few are kept: a campaign may have millions of cases.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field, frozen

from sims.campaign.axes import Settings, objects, settings_text
from sims.campaign.batches import OwnMeasure, seeded
from sims.campaign.follows import FORM, followed, names_in
from sims.campaign.question import Question
from sims.packing import Dependencies, dependencies_of, digest
from sims.scenario import Scenario
from sims.scenario.loader import words
from sims.scenario.tables import leaves
from sims.world import checked_seed

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
        value) in the order in which they are set: those of the subject, the point on the axes, the
        variant, and what follows from these. If a key comes twice, its last value counts.

        Raises InputError where nothing follows."""
        question = self.plan.question
        changes, variant = question.subject.changes, self.plan.variants[self.variant]
        own = (*changes.items(), *self.point, *variant.items())
        return self.plan.completed(own) if question.varied.follows else own

    def reproducing(self, replication: int) -> str:
        """Return what runs one replication alone: a command that logs it or, where there is no
        file, a call."""
        question, seed = self.plan.question, self.seed(replication)
        return question.subject.command(self.settings(), seed, question.surely.until)

    def __str__(self) -> str:
        return f"{self.variant}, {settings_text(self.point)}" if self.point else self.variant


@define(eq=False)
class Cases(Sequence[Case]):
    """All cases of a question in order: by point on the axes, and then by variant."""

    question: Question
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
    def of(cls, question: Question) -> Cases:
        """Return the plan of a question. Raises InputError where one of the cases that `looked_at`
        yields is no scenario."""
        plan = cls(question)
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
        return (*map(len, self.question.varied.axes.values()), len(self.variants))

    @cached_property
    def variants(self) -> Mapping[str, Mapping[str, Any]]:
        """Maps names of variants to their settings, in order."""
        return self.question.varied.variants

    @cached_property
    def _names(self) -> list[str]:
        return list(self.variants)

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
        axes = zip(self.question.varied.axes.items(), places, strict=True)
        point = tuple((key, values[place]) for (key, values), place in axes)
        name = self._names[variant]
        return Case(self, number, number // self._shape[-1], point, name)

    def points(self) -> Iterator[list[Case]]:
        """Yield, for each point on the axes, its cases, one for each variant."""
        many = self._shape[-1]
        for first in range(0, len(self), many):
            yield [self[first + k] for k in range(many)]

    # --- what a case is of --------------------------------------------------------------------

    @property
    def by_seed(self) -> bool:
        """Whether each replication has a scenario of its own, since the user's function that makes
        scenarios has an argument `seed`."""
        return "seed" in self.question.subject.arguments

    @property
    def folder(self) -> Path:
        """Folder in which the files of scenarios are sought."""
        return self.question.subject.folder

    @cached_property
    def _of_measures(self) -> Dependencies:
        """The files and modules that a worker process needs for the user's own measures."""
        own = (it for it in self.question.measured.gauges if isinstance(it, OwnMeasure))
        named = tuple(it.value for it in own if it.given is None)
        return dependencies_of(named, self.question.subject.home.absolute())

    def completed(self, own: Settings) -> Settings:
        """Return the settings `own` of a case with those that follow from them, and without names
        that only serve to say what follows.

        Raises InputError for an expression that has no value.
        """
        subject, follows = self.question.subject, self.question.varied.follows
        for key, _ in own:
            if key in follows:
                problem = f"{key} is varied, and cannot follow from what is"
                raise self.question.door.refused("follows", problem, "another key")
        file = {} if subject.made else dict(leaves(subject.table))
        try:
            found = tuple(followed(follows, own, file))
        except ValueError as error:
            raise self.question.door.refused("follows", str(error), FORM) from None
        named, keys = names_in(follows), {*Scenario.model_fields, *subject.arguments}
        kept = (it for it in own if "." in it[0] or it[0] in keys or it[0] not in named)
        return (*kept, *found)

    def _make(self, number: int, index: int) -> Made:
        """Make the scenario of case `number`, for replication `index`, with its first seed, its
        digest, and the files and modules that it needs.

        Raises InputError where the settings give no scenario, or where a seed of the question would
        be too large.
        """
        question, settings = self.question, self[number].settings()
        subject, surely, door = question.subject, question.surely, question.door
        scenario = subject.with_(settings, question.varied.key, door, surely.seed or 0, index)
        if index:
            dependencies, first = self.made(number, 0).dependencies, self.made(number, 0).first
        else:
            first = scenario.seed if surely.seed is None else surely.seed
            checked_seed(first + surely.most - 1, door.source, door("runs"))
            table = scenario.model_dump(exclude=NAMES, warnings=False)
            dependencies = dependencies_of(words(table), self.folder) | self._of_measures
            self.dependencies |= dependencies
        # Objects have no digest; their ids identify them within this process, and a question about
        # objects has no store.
        identities = list(map(id, objects(settings).values()))
        files = dependencies.code, sorted(dependencies.digests().values())
        measured = identities, surely.until, question.measured.by, files
        # Numpy would abbreviate long arrays, and two different scenarios would have one digest.
        with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
            root = digest(repr((seeded(scenario, 0), *measured)).encode())
        return Made(scenario, root, first, dependencies)
