"""The outlook of a scenario before it runs, in numbers, as lines of `holdfast check`: its
checkpoints, the periods that formulas give, and how busy the master's channels and the storage are.

The numbers are those of a run in which nothing fails, because faults and their repetitions depend
on the run; they are therefore the least to expect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, inf

from attrs import evolve

from actors.events import DeciderKind
from actors.protection import ProtectionKind, Rules
from actors.protection.rules import on
from policies.maths.tolerance import ROUNDING
from sims.errors import InputError
from sims.scenario import Scenario
from sims.scenario.expectations import work_end
from sims.scenario.faults import NamedFaults
from sims.scenario.jobs import IterativeEntry
from sims.scenario.platform import StorageSection
from sims.scenario.workload import Submission, asked_of, period_on
from sims.telling import about, amount_of, counted

Planned = tuple[Submission, Rules]
"""A job that takes checkpoints, and the rules of its protection."""


def outlook(scenario: Scenario, submissions: Sequence[Submission]) -> Iterator[str]:
    """Yield the lines of `check` on maintenance, checkpoints, periods, the master's channels and
    the storage.

    A pack has none: its decider chooses and changes the jobs' sizes.
    """
    if scenario.decider is DeciderKind.PACK:
        return
    yield from _maintenance_lines(scenario)
    saving = [it for it in submissions if it.protection.periodic]
    if isinstance(scenario.faults, NamedFaults) and any(it.protection.asks_rate for it in saving):
        # Its rate is known only once it is loaded.
        yield "  checkpoints unknown: their period is by the law of faults, which is not loaded"
        saving = [it for it in saving if not it.protection.asks_rate]
    planned = [(it, it.rules(scenario)) for it in saving]
    yield from _checkpoint_lines(scenario, planned)
    for submission, rules in planned[:1]:
        yield from _period_lines(scenario, submission, rules)
    if scenario.master is not None:
        yield from _channel_lines(scenario, submissions, planned)
    if scenario.storage is not None:
        yield from _storage_lines(scenario, scenario.storage, submissions, planned)


def _maintenance_lines(scenario: Scenario) -> Iterator[str]:
    platform, unit = scenario.full_platform, scenario.times.value
    for section in platform.pool.maintenance:
        (start, end), workers = section.span, len(section.workers(platform.size))
        until = "for good" if end == inf else f"for {about(end - start, unit)}"
        taken = f"{counted(workers, 'worker')} DOWN from {about(start, unit)} on"
        yield f"  maintenance {taken}, {until}"


# --- checkpoints --------------------------------------------------------------------------------


def _checkpoint_lines(scenario: Scenario, planned: Iterable[Planned]) -> Iterator[str]:
    """Yield the number of checkpoints of all jobs together, and the time that they take."""
    number, spent, work = 0, 0.0, 0.0
    for submission, rules in planned:
        count = _checkpoints(scenario, submission, rules)
        number, work = number + count, work + _work(scenario, submission)
        if rules.blocking:
            spent += count * (
                _time(scenario, submission, rules) + rules.verification * rules.verified
            )
    if not number:
        return
    taken = "no time from the jobs"
    if spent:
        part = f"{amount_of(100 * spent / work, 3)} % of their work"
        taken = f"{about(spent, scenario.times.value)} from the jobs, {part}"
    yield f"  checkpoints {number:,} expected if nothing fails; they take {taken}"


def _checkpoints(scenario: Scenario, submission: Submission, rules: Rules) -> int:
    """Return the number of checkpoints of a job to which nothing happens.

    None is begun when no work would be left after it (rule P7).
    """
    work = _work(scenario, submission)
    return max(ceil(work / _period(scenario, submission, rules) * (1 - ROUNDING)) - 1, 0)


def _members(scenario: Scenario, submission: Submission) -> int:
    return submission.size(scenario.full_platform.able)


def _period(scenario: Scenario, submission: Submission, rules: Rules) -> float:
    return period_on(rules, _members(scenario, submission))


def _work(scenario: Scenario, submission: Submission) -> float:
    since, until = submission.span(scenario.full_platform.able)
    return until - since


def _time(scenario: Scenario, submission: Submission, rules: Rules) -> float:
    """Return the time of one checkpoint of a job that has the master's channels for itself."""
    members, image = _members(scenario, submission), rules.image
    if scenario.storage is not None and rules.bytes is not None:
        stored = scenario.storage.time(rules.bytes, members)
        return stored if rules.kind is ProtectionKind.IMAGES else _apart(rules, members, stored)
    if rules.kind is not ProtectionKind.IMAGES or image is None or scenario.master is None:
        return on(rules.cost, members)
    return ceil(members / scenario.master.channels) * image


def _apart(rules: Rules, members: int, stored: float) -> float:
    """Return the mean time of a checkpoint of buddies, each k-th of which is stored too."""
    return on(rules.cost, members) + stored / (rules.images_every or inf)


# --- periods ------------------------------------------------------------------------------------


def _period_lines(scenario: Scenario, submission: Submission, rules: Rules) -> Iterator[str]:
    """Yield the period of a job beside Young's and Daly's, with what these assume; nothing where a
    formula gives none, because nothing fails or because a checkpoint costs nothing."""
    try:
        young, daly = (_formula(scenario, submission, name) for name in ("young", "daly"))
    except InputError:
        return
    cost = rules.image if rules.image and rules.kind is ProtectionKind.IMAGES else rules.cost
    cost, unit = on(cost, 1), scenario.times.value
    if rules.bytes is not None and rules.kind is ProtectionKind.IMAGES:
        cost = _time(scenario, submission, rules)
    mtbf = young**2 / (2 * cost)  # Young's formula, solved for it
    own = about(_period(scenario, submission, rules), unit)
    whose = f"of {submission.job.name} on {counted(_members(scenario, submission), 'worker')}"
    yield f"  period      {own}; Young's {about(young, unit)}, Daly's {about(daly, unit)} ({whose})"
    rate = f"faults of these workers come at a constant rate, one in {about(mtbf, unit)}"
    stop = f"a checkpoint stops the job for {about(cost, unit)}"
    yield f"              both formulas assume: {rate}; {stop}"
    if submission.job.replicas is not None:
        yield "              and that each fault stops the job, as with replicas few of them do"


def _formula(scenario: Scenario, submission: Submission, name: str) -> float:
    section = submission.protection.model_copy(update={"period": name})
    asking = evolve(submission, protection=section)
    return _period(scenario, asking, asking.rules(scenario))


# --- channels -----------------------------------------------------------------------------------


def _channel_lines(
    scenario: Scenario, submissions: Sequence[Submission], planned: Iterable[Planned]
) -> Iterator[str]:
    """Yield how busy the channels are at least, over the least time that the work takes."""
    assert scenario.master is not None
    programs, data, images = dict[str, float](), 0.0, 0.0
    for submission in submissions:
        needs, members = submission.needs, asked_of(submission.job)
        if needs is not None:
            # A worker keeps a program: jobs with one label need it once for each of their workers.
            programs[needs.label] = max(programs.get(needs.label, 0), members * needs.program)
            data += needs.data * _units(submission, members)
    for submission, rules in planned:
        if rules.kind is ProtectionKind.IMAGES and rules.image:
            count = _checkpoints(scenario, submission, rules)
            images += count * _members(scenario, submission) * rules.image
    total, channels = sum(programs.values()) + data + images, scenario.master.channels
    until, unit = work_end(scenario, submissions), scenario.times.value
    if not 0 < until < inf or not total:
        return
    each = total / channels
    busy = f"at least {amount_of(100 * each / until, 3)} % busy"
    sent = f"{about(total, unit)} of messages on {counted(channels, 'channel')}"
    yield f"  channels    {busy}: {sent} within {about(until, unit)}"
    if each > until:
        yield f"              the channels, not the workers, bound the end: {about(each, unit)}"


def _units(submission: Submission, members: int) -> int:
    """Return the number of units of data that the job's runs fetch at least."""
    own = submission.own
    return own.tasks * own.iterations if isinstance(own, IterativeEntry) else members


# --- storage ------------------------------------------------------------------------------------


def _storage_lines(
    scenario: Scenario,
    storage: StorageSection,
    submissions: Sequence[Submission],
    planned: Iterable[Planned],
) -> Iterator[str]:
    """Yield how busy the shared storage is at least, over the least time that the work takes."""
    total = 0.0
    for submission, rules in planned:
        if rules.bytes is not None:
            every = rules.images_every or 1
            total += rules.bytes * (_checkpoints(scenario, submission, rules) // every)
    until, unit = work_end(scenario, submissions), scenario.times.value
    if not 0 < until < inf or not total:
        return
    least = total / storage.bandwidth
    busy = f"at least {amount_of(100 * least / until, 3)} % busy if nothing fails"
    yield f"  storage     {busy}: {amount_of(total, 6)} bytes within {about(until, unit)}"
    if least > until:
        yield f"              the storage, not the workers, bounds the end: {about(least, unit)}"
