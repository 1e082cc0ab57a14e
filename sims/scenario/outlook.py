"""The outlook of a scenario before it runs, in numbers, as lines of `holdfast check`: its
checkpoints, the periods that formulas give, and how busy the master's channels and the storage are.

The numbers are those of a run in which nothing fails, because faults and their repetitions depend
on the run; they are therefore the least to expect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, inf
from typing import Self

from attrs import evolve, frozen

from actors.events import DeciderKind
from actors.protection import ProtectionKind, Rules
from actors.protection.rules import on
from policies.maths.speedup import Asking
from policies.maths.tolerance import ROUNDING
from sims.errors import InputError
from sims.scenario import Scenario
from sims.scenario.expectations import work_end
from sims.scenario.faults import NamedFaults
from sims.scenario.jobs import IterativeEntry
from sims.scenario.platform import StorageSection
from sims.scenario.protection import ProtectionSection
from sims.scenario.workload import Submission, Submissions, asked_of, period_on
from sims.telling import about, amount_of, counted


@frozen
class Planned:
    """A job that takes checkpoints, with the rules of its protection, about which numbers can be
    told before it runs."""

    scenario: Scenario
    submission: Submission
    rules: Rules

    @classmethod
    def of(cls, scenario: Scenario, submission: Submission) -> Self:
        """Return the submitted job together with the rules of its own protection, or else of the
        file's.

        Raises InputError for a period that no formula gives.
        """
        return cls(scenario, submission, submission.rules(scenario))

    @property
    def members(self) -> int:
        """Number of workers of a run: those that the job requests, or as many as it can use."""
        return self.submission.size(self.scenario.full_platform.able)

    @property
    def work(self) -> float:
        """Time that the job's work takes on its members at speed 1 if nothing happens to it, time
        units."""
        since, until = self.submission.span(self.scenario.full_platform.able)
        return until - since

    @property
    def period(self) -> float:
        """Work between two checkpoints, time units."""
        return period_on(self.rules, self.members)

    @property
    def rounds(self) -> int:
        """Number of iterations, each of which is work of its own, with checkpoints of its own."""
        own = self.submission.own
        return own.iterations if isinstance(own, IterativeEntry) else 1

    @property
    def each(self) -> int:
        """Number of checkpoints in each iteration, or of the job without iterations.

        None is begun when no work would be left after it (rule P7).
        """
        if not self.period:  # the state is always saved
            return 0
        return max(ceil(self.work / self.rounds / self.period * (1 - ROUNDING)) - 1, 0)

    @property
    def checkpoints(self) -> int:
        """Number of checkpoints that the job takes if nothing happens to it.

        None is begun when no work would be left after it (rule P7).
        """
        return self.rounds * self.each

    @property
    def images(self) -> int:
        """Number of checkpoints that are stored as images: all, or each k-th under buddies."""
        if self.rules.kind is ProtectionKind.IMAGES:
            return self.checkpoints
        every = self.rules.images_every
        return self.rounds * (self.each // every) if every else 0

    @property
    def molds(self) -> bool:
        """Whether the policy decides how many workers the job gets."""
        return not isinstance(self.submission.job.profile, Asking)

    @property
    def stored(self) -> float:
        """Time to store one checkpoint as images if the job has the master's channels, or the
        storage, for itself."""
        rules, scenario, members = self.rules, self.scenario, self.members
        if scenario.storage is not None and rules.bytes is not None:
            return scenario.storage.time(rules.bytes, members)
        if rules.image is not None and scenario.master is not None:
            return ceil(members / scenario.master.channels) * rules.image
        images = rules.kind is ProtectionKind.IMAGES
        return on(rules.cost, members) if images else rules.image_cost

    @property
    def spent(self) -> float:
        """Time that all checkpoints take, with the verifications before them."""
        rules = self.rules
        buddies = rules.kind is not ProtectionKind.IMAGES
        each = on(rules.cost, self.members) * buddies + rules.verification * rules.verified
        return self.checkpoints * each + self.images * self.stored

    def by(self, formula: str) -> float:
        """Return the period, work between two checkpoints, that the formula `young` or `daly` gives
        for the job. Raises InputError where it gives none."""
        section = self.submission.protection.model_copy(update={"period": formula})
        return Planned.of(self.scenario, evolve(self.submission, protection=section)).period


def outlook(scenario: Scenario, submissions: Submissions) -> Iterator[str]:
    """Yield the lines that `check` prints about maintenance, checkpoints, periods, the master's
    channels and the storage of a scenario with these jobs.

    Where a pack decides, which chooses and changes the sizes of its applications, only the line
    about the storage comes, for applications on as many workers as they can use: with fewer workers
    they take more checkpoints.
    """
    pack = scenario.decider is DeciderKind.PACK
    saving = [*submissions.protected(lambda it: it.periodic and (_stores(it) or not pack))]
    if not pack:
        yield from scenario.full_platform.partitions.lines(submissions.jobs)
        yield from _maintenance_lines(scenario)
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
    if scenario.storage is not None:
        yield from _storage_lines(scenario, scenario.storage, submissions, planned)


def _maintenance_lines(scenario: Scenario) -> Iterator[str]:
    platform, unit = scenario.full_platform, scenario.times.value
    for section in platform.pool.maintenance:
        (start, end), workers = section.span, len(section.workers(platform.size))
        until = "for good" if end == inf else f"for {about(end - start, unit)}"
        taken = f"{counted(workers, 'worker')} DOWN from {about(start, unit)} on"
        yield f"  maintenance {taken}, {until}"


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
    if job.replicas is not None:
        yield "              and that each fault stops the job, as with replicas few of them do"


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


# --- storage ------------------------------------------------------------------------------------


def _storage_lines(
    scenario: Scenario,
    storage: StorageSection,
    submissions: Sequence[Submission],
    planned: Iterable[Planned],
) -> Iterator[str]:
    """Yield a line that says how busy the shared storage is at least with the checkpoints of
    `planned` jobs, over the least time that the work of all `submissions` takes. A second line
    follows where the storage needs longer than that."""
    total = 0.0
    for it in planned:
        if it.rules.bytes is not None:
            total += it.rules.bytes * it.images
    until, unit = work_end(scenario, submissions), scenario.times.value
    if not 0 < until < inf or not total:
        return
    least = total / storage.bandwidth
    share, saved = f"{amount_of(100 * least / until, 3)} %", f"{amount_of(total, 6)} bytes"
    told = f"at least {share} busy if nothing fails: {saved} within {about(until, unit)}"
    if scenario.decider is DeciderKind.PACK:  # whose end is as little known as its sizes
        more = f"at least {saved} if nothing fails and no application is resized"
        told = f"{more}, {share} of what passes within {about(until, unit)}, the least time"
    yield f"  storage     {told}"
    if least > until:
        yield f"              the storage, not the workers, bounds the end: {about(least, unit)}"
