"""The outlook of a scenario before it runs, in numbers, as lines of `holdfast check`: its
mechanisms, its checkpoints, the periods that formulas give, and how busy the master's channels are.

The numbers are those of a run in which nothing fails, because faults and their repetitions depend
on the run; they are therefore the least to expect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import inf

from actors.events import DeciderKind
from actors.protection import ProtectionKind
from actors.protection.rules import on
from policies.maths.tolerance import ROUNDING
from sims.errors import InputError
from sims.scenario import Scenario
from sims.scenario.faults import NamedFaults
from sims.scenario.job_set import asked_of
from sims.scenario.jobs import IterativeEntry
from sims.scenario.parts import PARTS
from sims.scenario.planned import Planned
from sims.scenario.protection import ProtectionSection
from sims.scenario.submissions import Submission, Submissions, work_end
from sims.telling import about, amount_of, counted


def outlook(scenario: Scenario, submissions: Submissions) -> Iterator[str]:
    """Yield the lines that `check` prints about the mechanisms, checkpoints, periods, and the
    master's channels of a scenario with these jobs.

    Where a pack decides, which chooses and changes the sizes of its applications, only lines on how
    busy checkpoints keep a mechanism come, for applications on as many workers as they can use:
    with fewer workers they take more checkpoints.
    """
    pack = scenario.decider is DeciderKind.PACK
    saving = [*submissions.protected(lambda it: it.periodic and (_stores(it) or not pack))]
    if not pack:
        for part in PARTS:
            yield from part.lines(scenario, submissions)
    unknown = any(isinstance(law, NamedFaults) for law in scenario.faults.laws)
    if unknown and any(it.protection.asks_rate for it in saving):
        # Its rate is known only once it is loaded.
        yield "  checkpoints unknown: their period is by the law of faults, which is not loaded"
        saving = [it for it in saving if not it.protection.asks_rate]
    planned = [Planned.of(scenario, it) for it in saving]
    if not pack:
        yield from _checkpoint_lines(scenario, planned)
        for first in planned[:1]:
            yield from _period_lines(first, scenario.times.value)
        if scenario.master is not None:
            yield from _channel_lines(scenario, submissions, planned)
    for part in PARTS:
        yield from part.load_lines(scenario, submissions, planned)


def _stores(section: ProtectionSection) -> bool:
    """Return whether a job that a pack schedules saves to shared storage under this protection, and
    how often it does is known. Under buddies a formula's period depends on the cost that the pack's
    link gives, so it is not known."""
    known = section.kind is ProtectionKind.IMAGES or not section.by_formula
    return section.bytes is not None and known


# --- checkpoints --------------------------------------------------------------------------------


def _checkpoint_lines(scenario: Scenario, planned: Iterable[Planned]) -> Iterator[str]:
    """Yield a line with the number of checkpoints of all `planned` jobs together if nothing fails,
    and the time that they take from the jobs; no line if there are none."""
    number, spent, work, molds = 0, 0.0, 0.0, False
    for it in planned:
        molds |= it.molds
        number, work = number + it.checkpoints, work + it.work
        if it.rules.blocking:
            spent += it.spent
    if not number:
        return
    taken = "no time from the jobs"
    if spent:
        part = f"{amount_of(100 * spent / work, 3)} % of their work"
        taken = f"{about(spent, scenario.times.value)} from the jobs, {part}"
    most = " and each job gets as many workers as it can use, more on fewer" if molds else ""
    yield f"  checkpoints {number:,} expected if nothing fails{most}; they take {taken}"


# --- periods ------------------------------------------------------------------------------------


def _period_lines(it: Planned, unit: str) -> Iterator[str]:
    """Yield lines with the job's checkpoint period beside Young's and Daly's, and with what these
    formulas assume; `unit` is the name of the unit of time.

    Nothing is yielded where no formula gives a period: nothing fails, or a checkpoint costs
    nothing.
    """
    try:
        young, daly = it.by("young"), it.by("daly")
    except InputError:
        return
    rules, images = it.rules, it.rules.kind is ProtectionKind.IMAGES
    cost = on(rules.image if rules.image and images else rules.cost, 1)
    if rules.bytes is not None and images:
        cost = it.stored
    mtbf = young**2 / (2 * cost)  # Young's formula, solved for it
    own, job = about(it.period, unit), it.submission.job
    whose = f"of {job.name} on {counted(it.members, 'worker')}"
    yield f"  period      {own}; Young's {about(young, unit)}, Daly's {about(daly, unit)} ({whose})"
    rate = f"faults of these workers come at a constant rate, one in {about(mtbf, unit)}"
    stop = f"a checkpoint stops the job for {about(cost, unit)}"
    stop += "" if rules.blocking else ", which it does not here (blocking = false)"
    yield f"              both formulas assume: {rate}; {stop}"
    others = chain.from_iterable(part.assumed(job) for part in PARTS)
    yield from (f"              and {why}" for why in (*_counted_units(it, unit), *others))


def _counted_units(it: Planned, unit: str) -> Iterator[str]:
    """Yield how many units the rate in the formulas counts for a law, where as many are not struck
    in the job's time: a share counts as it is, before it is rounded to whole units, and units that
    wear out do not count."""
    until, platform = (
        it.submission.span(it.scenario.full_platform.able)[1],
        it.scenario.full_platform,
    )
    for law in it.scenario.faults.laws:
        total = platform.count(law.of)
        struck, share = law.struck(total), law.part(total) * total
        if abs(share - struck) > ROUNDING * total:
            of = f"{amount_of(share, 4)} of {total:,} {law.of.value}"
            yield f"that a law strikes {of}, as its share says; it strikes {struck:,}"
        if worn := sum(number for _, number in law.joining(total, until)):
            yield f"that no {law.of.value} wear out, as {worn:,} do within {about(until, unit)}"


# --- channels -----------------------------------------------------------------------------------


def _channel_lines(
    scenario: Scenario, submissions: Sequence[Submission], planned: Iterable[Planned]
) -> Iterator[str]:
    """Yield a line that says how busy the master's channels are at least, over the least time that
    the work takes: the messages of all `submissions`, and the images of the checkpoints of
    `planned` jobs. A second line follows where the channels need longer than that."""
    assert scenario.master is not None
    programs, data, images = dict[str, float](), 0.0, 0.0
    for submission in submissions:
        needs, members = submission.needs, asked_of(submission.job)
        if needs is not None:
            # A worker keeps a program: jobs with one label need it once for each of their workers.
            programs[needs.label] = max(programs.get(needs.label, 0), members * needs.program)
            data += needs.data * _units(submission, members)
    for it in planned:
        images += it.images * it.members * (it.rules.image or 0)
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
    """Return the least number of data messages that the runs of a job fetch: one for each task of
    each iteration of an iterative job, else one for each of its `members`."""
    own = submission.own
    return own.tasks * own.iterations if isinstance(own, IterativeEntry) else members
