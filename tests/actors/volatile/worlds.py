"""Small volatile worlds, written down letter by letter, and what a test reads of their runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest
from attrs import define, field, frozen
from numpy.random import Generator

from actors.events import End, RunEnded
from actors.runtime import Event, Record
from actors.volatile.events import ConfigurationChosen
from policies.interface import Configuration, EnrolmentPolicy, EnrolmentView, Reason, Wake
from sims.activity import Activity
from sims.scenario.availability import Letters, Markov
from sims.scenario.volatile import (
    IterativeSection,
    MasterSection,
    Service,
    VolatilePolicy,
    VolatileScenario,
    WorkerSection,
)
from sims.world import run

BELIEF = Markov(rows=((0.9, 0.05, 0.05), (0.5, 0.5, 0.0), (0.5, 0.0, 0.5)))
"""What the policies of these worlds believe; the letters are the truth."""

FIXED = "policies.enrolment.fixed:FixedConfiguration"

Members = tuple[tuple[str, int], ...]
"""(worker name, tasks)."""

E = TypeVar("E", bound=Event)


@frozen(kw_only=True)
class Costs:
    """The master's side of a world."""

    channels: int = 1
    program: int = 0
    data: int = 0
    order: Service = Service.STARTED_FIRST
    timetable: tuple[tuple[str, ...], ...] = ()

    def section(self) -> MasterSection:
        return MasterSection(
            channels=self.channels,
            program=self.program,
            data=self.data,
            order=self.order,
            timetable=self.timetable,
        )


FREE = Costs()
"""No communication at all."""


def workers(
    states: Sequence[str], speeds: Sequence[int] = (), memory: Sequence[int | None] = ()
) -> tuple[WorkerSection, ...]:
    """P1, P2, ... with these letters; speed 1 and memory for all tasks unless given."""
    return tuple(
        WorkerSection(speed=speed, memory=mu, availability=Letters(states=letters), belief=BELIEF)
        for letters, speed, mu in zip(
            states, speeds or [1] * len(states), memory or [None] * len(states), strict=True
        )
    )


def world(
    platform: tuple[WorkerSection, ...],
    tasks: int,
    costs: Costs = FREE,
    iterations: int = 1,
    cap: float = 1000,
    policy: VolatilePolicy | None = None,
) -> VolatileScenario:
    """A scenario of `tasks` tasks per iteration; its policy is IE unless given."""
    return VolatileScenario(
        name="small",
        master=costs.section(),
        workers=platform,
        job=IterativeSection(kind="iterative", tasks=tasks, iterations=iterations, cap=cap),
        policy=policy or VolatilePolicy(name="IE"),
    )


def fixed(*members: tuple[int, int]) -> VolatilePolicy:
    """Always this configuration, as soon as its workers are all UP."""
    return VolatilePolicy(name=FIXED, parameters={"members": [list(it) for it in members]})


@frozen
class Played:
    """A run and all its records."""

    records: list[Record]
    end: End
    time: float

    def told(self, kind: type[E]) -> list[tuple[float, E]]:
        """(when, event) of each event of this kind."""
        return [(record.t, record.event) for record in self.records if type(record.event) is kind]

    def times(self, kind: type[Event]) -> list[float]:
        """When events of this kind happened."""
        return [t for t, _ in self.told(kind)]

    def rows(self) -> list[str]:
        """Activity letters of each worker."""
        return list(Activity.of(self.records).rows.values())

    def outcomes(self) -> list[tuple[float, str]]:
        """(when, how) each run ended."""
        return [(t, event.outcome.value) for t, event in self.told(RunEnded)]

    def choices(self) -> list[tuple[float, Members, str]]:
        """(when, members by name, why) of each configuration."""
        return [
            (t, event.members, event.reason.value) for t, event in self.told(ConfigurationChosen)
        ]


def play(scenario: VolatileScenario) -> Played:
    """Run it to its end."""
    records: list[Record] = []
    ending = run(scenario, [records.append])
    return Played(records, ending.end, ending.time)


def play_with(policy: EnrolmentPolicy, scenario: VolatileScenario) -> Played:
    """Run it under a policy object that a scenario file could not name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sims.scenario.volatile.enrolment_policy", lambda *_: policy)
        return play(scenario)


def choice(*members: tuple[int, int]) -> Configuration:
    """A decision: (worker index, tasks) of each member."""
    return Configuration(members)


@define
class Script:
    """Answers each question with the next of its lines, whatever it sees; counts them."""

    lines: Sequence[Configuration | None]
    wake: Wake = Wake.NEVER
    asked: list[tuple[int, Reason]] = field(factory=list)
    """(slots since the iteration began, why) of each question."""

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        self.asked.append((view.elapsed, view.reason))
        return self.lines[len(self.asked) - 1]
