"""What malleable17's model says that things cost, from what the log says of pack and
application."""

from __future__ import annotations

from math import exp, expm1, inf

from actors.events import PeriodRule, ProtectionKind
from policies.maths.checkpoint import daly_work, young_work
from policies.maths.redistribution import Link
from sims.audit.facts import LoggedCopy, LoggedJob
from sims.scenario.deciders.applications import mtbf_of


def checkpoint(job: LoggedJob, size: int) -> float:
    """C_ij where it depends on the size (malleable17, section 3.1); 0 of what is no pack's."""
    pack, application = job.pack, job.application
    if pack is None or application is None:
        return 0
    return application.footprint * pack.unit / size + pack.latency


def recovery(copy: LoggedCopy) -> float:
    """R_ij, among those who hold what was saved."""
    rules = copy.job.protection
    assert rules is not None
    return checkpoint(copy.job, copy.holders) if rules.recovery is None else rules.recovery


def closings(copy: LoggedCopy) -> list[float]:
    """What a closing checkpoint may take."""
    rules, job = copy.job.protection, copy.job
    if rules is None or rules.kind is not ProtectionKind.BUDDIES:
        return [0.0]
    cost = checkpoint(job, copy.full) if rules.cost is None else rules.cost
    whole = cost + (job.verification if rules.verified else 0)
    known = closes(job)
    return [0.0, whole] if known is None else [whole if known else 0.0]


def moving(job: LoggedJob, before: int, after: int) -> float:
    """RC (malleable17, eq. 6)."""
    pack, application = job.pack, job.application
    if pack is None or application is None:
        return 0
    link = Link(pack.startup, pack.latency, pack.unit)
    return link.cost(application.footprint, before, after)


def periods(job: LoggedJob, size: int) -> list[float]:
    """Work between two checkpoints, as it may be on so many members."""
    pack, rules, told = job.pack, job.protection, job.application
    assert pack is not None and rules is not None and told is not None
    cost, mtbf = saving(job, size), mtbf_of(pack, told) / size
    if told.rule is not None:
        work = period(job, size)
        assert work is not None
        return [work, (work + cost) - cost]  # as it is rounded where the sum is kept
    known = [it for it in (rules.period, job.periods.get(size)) if it is not None]
    if mtbf < inf and cost > 0:
        known += [young_work(mtbf, cost), daly_work(mtbf, cost)]
    return [*known, inf]


def period(job: LoggedJob, size: int) -> float | None:
    """Work between two checkpoints on so many members; None: the log does not tell."""
    pack, rules, told = job.pack, job.protection, job.application
    if rules is not None and rules.period is not None:
        return rules.period
    if pack is None or told is None or told.rule is None:
        return job.periods.get(size)
    if told.rule in (PeriodRule.NONE, PeriodRule.FIXED):
        return inf if told.period is None else told.period
    formula = young_work if told.rule is PeriodRule.YOUNG else daly_work
    try:
        return formula(mtbf_of(pack, told) / size, saving(job, size))
    except (ArithmeticError, ValueError):
        return inf  # what is told of it cannot be


def closes(job: LoggedJob) -> bool | None:
    """Whether a checkpoint closes its redistributions; None: the log does not tell."""
    if job.kind is not ProtectionKind.BUDDIES:
        return False
    told = job.application
    return job.closes if told is None or told.rule is None else told.rule is not PeriodRule.NONE


def saving(job: LoggedJob, size: int) -> float:
    """C that expectations count with."""
    rules, messages = job.protection, job.messages
    assert rules is not None
    if rules.kind is ProtectionKind.IMAGES and messages is not None:
        return messages.image
    return checkpoint(job, size) if rules.cost is None else rules.cost


def expected(job: LoggedJob, size: int, work: float) -> list[float]:
    """t^R of so much work (malleable17, eq. 3), as it may be."""
    pack, rules = job.pack, job.protection
    assert pack is not None and rules is not None
    if rules.kind is ProtectionKind.NONE:
        return [work]
    cost = saving(job, size)
    try:
        return [_expected(job, size, work, cost, period) for period in periods(job, size)]
    except ArithmeticError:
        return []  # no time that a number holds


def _expected(job: LoggedJob, size: int, work: float, cost: float, period: float) -> float:
    pack, told, count = job.pack, job.application, int(work / period)
    assert pack is not None and told is not None
    mtbf = mtbf_of(pack, told)
    if mtbf == inf or told.rule is PeriodRule.NONE:
        return work + count * cost
    rate, rest = size / mtbf, work - (count * period if count else 0)
    full = expm1(rate * (period + cost)) if count else 0.0
    scale = exp(rate * cost) * (1 / rate + pack.downtime)
    return scale * (count * full + expm1(rate * rest))
