"""Scenarios of moldable jobs under silent errors (000)."""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, cast

from attrs import field, frozen

from actors.runtime import System
from policies.batch.allocation import LocalProcessorAllocation, MinArea, MinTime
from policies.batch.batches import Exact, Scaled
from policies.batch.lists import Reading
from policies.batch.mixed import Mixed
from policies.batch.programmes import Programme
from policies.interface.batch import Allocation, BatchAllocation, BatchJob, BatchPolicy, Strategy
from sims.errors import InputError
from sims.scenario.batch import (
    BatchScenario,
    Submission,
    Workload,
    load_order,
    people,
    refuse_twins,
    strategy_named,
)
from sims.scenario.fields import Unacceptable, not_negative
from sims.scenario.moldable_jobs import MoldableJob, SyntheticJobs
from sims.scenario.policies import PolicySection, load_part, load_policy

Rule = Allocation | BatchAllocation


class AllotmentRule(enum.Enum):
    """How BATCH allots; the paper's guarantee leaves it open."""

    SCALED = "scaled"
    """MT-ALLOTMENT's rounded times, chains balanced."""
    PROGRAMME = "programme"
    """The same, chains by the full dynamic programme."""
    EXACT = "exact"
    """The best of uniform chains."""
    MIXED = "mixed"
    """The best of all; for small platforms."""


@frozen(kw_only=True)
class MoldableSection:
    """`[job]`: the jobs; either `jobs` or `synthetic`."""

    kind: Literal["moldable"]
    jobs: tuple[MoldableJob, ...] = ()
    synthetic: SyntheticJobs | None = None
    verification: float = field(default=0, validator=not_negative)
    """v: seconds that the detector adds to each attempt."""


def _eps(_: object, attribute: object, value: float) -> None:
    """attrs validator: a number above 0, up to 1."""
    if not 0 < value <= 1:
        raise Unacceptable("eps", value, "a number above 0, up to 1")


@frozen(kw_only=True)
class MoldablePolicy(PolicySection):
    """`[policy]`: the allocation rule LPA, BATCH, MINTIME or MINAREA, or one of your own."""

    order: str = "LPT"
    """LPT, SPT, HPA, LPA, LA, SA, RANDOM, LJF, FCFS, or `package.module:Name`."""
    strategy: str = "R-LIST-0"
    """What starts: LIST is R-LIST-0; any of the rigid strategies, or `package.module:Name`."""
    reading: Reading = Reading.FRESH
    """Of R-LIST's reservations: `fresh`, `easy` or `kept`."""
    allotment: AllotmentRule = AllotmentRule.SCALED
    """Of BATCH: `scaled`, `programme`, `exact` or `mixed`."""
    eps: float = field(default=0.1, validator=_eps)
    """Of `scaled` and `programme`: 0.1 reproduces 000's Table 1, which states 0.3."""


@frozen(kw_only=True)
class MoldableScenario(BatchScenario):
    """A whole scenario file with `[job] kind = "moldable"`; times in seconds."""

    job: MoldableSection
    policy: MoldablePolicy


SCENARIO = MoldableScenario


def populate(scenario: MoldableScenario, system: System, folder: Path) -> None:
    """Spawn the scenario's actors in `system`; user modules are looked for from `folder`.

    Raises InputError for what cannot be run.
    """
    policy = _policy(scenario.policy, folder)
    workload = _workload(scenario.job)
    people(scenario, system, workload, policy)


def _policy(section: MoldablePolicy, folder: Path) -> BatchPolicy:
    rule = load_policy(section, lambda name: allocation_named(name, section), folder)
    listed = partial(strategy_named, reading=section.reading)
    strategy = load_part("strategy", section.strategy, listed, folder)
    order = load_order(section.order, folder)
    return BatchPolicy(order, cast(Strategy, strategy), cast(Rule, rule), section.name)


def allocation_named(name: str, section: MoldablePolicy) -> Rule:
    """000's allocation rules. Raises ValueError, naming them, for another."""
    rules: dict[str, Callable[[], Rule]] = {
        "LPA": LocalProcessorAllocation,
        "MINTIME": MinTime,
        "MINAREA": MinArea,
        "BATCH": lambda: _allotment(section),
    }
    if name not in rules:
        accepted = ", ".join(rules)
        raise ValueError(f"{name!r} is no rule; accepted: {accepted}, package.module:Name")
    return rules[name]()


def _allotment(section: MoldablePolicy) -> BatchAllocation:
    rules: dict[AllotmentRule, Callable[[], BatchAllocation]] = {
        AllotmentRule.SCALED: lambda: Scaled(section.eps),
        AllotmentRule.PROGRAMME: lambda: Programme(section.eps),
        AllotmentRule.EXACT: Exact,
        AllotmentRule.MIXED: Mixed,
    }
    return rules[section.allotment]()


def _workload(section: MoldableSection) -> Workload:
    if bool(section.jobs) == bool(section.synthetic):
        raise InputError("scenario", "job", "no jobs, or two sources of them", "jobs or synthetic")
    if section.synthetic:
        profiles = section.synthetic.draw()
        drawn = [
            BatchJob(index, f"J{index + 1}", profile, section.verification)
            for index, profile in enumerate(profiles)
        ]
        return Workload(tuple(map(Submission, drawn)))
    return _listed(section)


def _listed(section: MoldableSection) -> Workload:
    submissions = [
        Submission(
            BatchJob(
                index,
                job.name or f"J{index + 1}",
                job.speedup.profile(),
                section.verification,
                submitted=job.release,
            ),
            job.failures,
        )
        for index, job in enumerate(section.jobs)
    ]
    refuse_twins([submission.job.name for submission in submissions])
    return Workload(tuple(submissions))
