"""What a pack's decider counts with for an application: told in its log, and read from there by its
costs, so that whoever has the log alone counts alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf
from typing import cast

import numpy as np
from pydantic import TypeAdapter

from actors.events import (
    ApplicationDescribed,
    PackDescribed,
    PeriodRule,
    ProtectionKind,
)
from policies.maths.checkpoint import daly_work, young_period
from policies.maths.cosched import Checkpointing, Costs, Link, costs
from sims.scenario.jobs.speedups import AnySpeedup, Application, Sizes, Times, durations
from sims.scenario.policy import value_of
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario
from sims.scenario.workload import Submission

RULES = {"young": PeriodRule.YOUNG, "daly": PeriodRule.DALY}
TABLE = ("kind=table",)

# --- told ---------------------------------------------------------------------------------------


def pack_mtbf(scenario: Scenario) -> float | None:
    """mu of one worker, s; None: no fault is expected."""
    mtbf = _mtbf(scenario, scenario.protection)
    return mtbf if scenario.protection.kind is not ProtectionKind.NONE and mtbf < inf else None


def application(scenario: Scenario, submission: Submission) -> ApplicationDescribed:
    """What its log tells of it."""
    job, section = submission.job, submission.protection
    asked = cast(Application, job.profile)
    table = asked.speedup.times if isinstance(asked.speedup, Times) else ()
    rule, mtbf, common = _rule(scenario, section), _mtbf(scenario, section), pack_mtbf(scenario)
    own = rule is not PeriodRule.NONE and mtbf != (inf if common is None else common)
    return ApplicationDescribed(
        *(job.name, asked.footprint, job.index, words(asked.speedup), table),
        *(rule, float(section.period) if rule is PeriodRule.FIXED else None),
        *(mtbf if own and mtbf < inf else None, own and mtbf == inf),
    )


def _rule(scenario: Scenario, section: ProtectionSection) -> PeriodRule:
    period = section.period
    if section.kind is ProtectionKind.NONE or period == inf:
        return PeriodRule.NONE
    if not isinstance(period, str):
        return PeriodRule.FIXED
    return RULES[period] if _mtbf(scenario, section) < inf else PeriodRule.NONE


def _mtbf(scenario: Scenario, section: ProtectionSection) -> float:
    return scenario.faults.mtbf if section.mtbf is None else section.mtbf


# --- read ---------------------------------------------------------------------------------------


def costs_of(
    pack: PackDescribed,
    told: ApplicationDescribed,
    protection: Checkpointing | None,
    workers: int,
) -> Costs:
    """On every number of workers. Raises ValueError for a profile that there is not."""
    sizes = pack.pair * np.arange(1, workers // pack.pair + 1, dtype=np.float64)
    times = durations(speedup(told), told.footprint, sizes)
    link = Link(pack.startup, pack.latency, pack.unit)
    return costs(times, told.footprint, pack.pair, link, protection)


def checkpointing(
    pack: PackDescribed,
    told: ApplicationDescribed,
    kind: ProtectionKind,
    cost: float | None,
    image: float | None,
) -> Checkpointing | None:
    """What expectations count with; `cost`: C where it does not depend on the size; `image`: its
    time on a channel, where there is one."""
    if told.rule is PeriodRule.NONE:
        return None
    if kind is ProtectionKind.IMAGES:
        cost = (cost or 0) if image is None else image
    mtbf = pack.mtbf if told.mtbf is None else told.mtbf
    return Checkpointing(
        inf if mtbf is None or told.faultless else mtbf,
        *(pack.unit, pack.latency, pack.downtime, _period(told)),
        *(cost, kind is ProtectionKind.BUDDIES),
    )


def _period(told: ApplicationDescribed) -> Callable[[Sizes, Sizes], Sizes]:
    """tau, the checkpoint included."""
    if told.rule is PeriodRule.YOUNG:
        return young_period
    if told.rule is PeriodRule.DALY:
        daly = np.vectorize(daly_work, otypes=[np.float64])
        return lambda mtbf, cost: daly(mtbf, cost) + cost
    work = told.period
    assert work is not None
    return lambda mtbf, cost: work + cost


def speedup(told: ApplicationDescribed) -> AnySpeedup:
    """How its time depends on its workers. Raises ValueError for none that `words` would tell
    so."""
    if bool(told.times) is not (told.profile == TABLE):
        raise ValueError(f"{', '.join(told.profile)} with {len(told.times)} times")
    if told.times:
        return Times(times=told.times)
    return _model(told.profile)


@lru_cache(maxsize=64)  # a pack's applications mostly share one, and reading it takes 0.1 ms
def _model(told: tuple[str, ...]) -> AnySpeedup:
    table = dict(value_of(setting) for setting in told)
    try:
        model: AnySpeedup = TypeAdapter(AnySpeedup).validate_python(table)
    except ValueError as error:
        raise ValueError(f"{', '.join(told) or 'nothing'} is no profile") from error
    if words(model) != told:
        raise ValueError(f"{', '.join(told)} is no whole profile")
    return model


def words(model: AnySpeedup) -> tuple[str, ...]:
    """All its keys that have a value, `key=value`; but for a table's times."""
    if isinstance(model, Times):
        return TABLE
    said = model.model_dump(exclude_none=True)
    return tuple(f"{key}={value}" for key, value in said.items())
