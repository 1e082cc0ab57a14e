"""Partitions of a queue, and which of its jobs may run in them (rules.md, G1 and G2). Their table
is `PartitionSection`, in `[platform]`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from actors.events import PartitionAssigned
from actors.intervals import intervals_of, text
from actors.runtime import System
from policies.interface.cells import Cells
from policies.interface.queue import BatchPolicy
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.job_set import JobSet
from sims.scenario.jobs import AnyJob
from sims.scenario.jobs.logs import Replay
from sims.scenario.partitions import Partitions as OfPlatform
from sims.scenario.parts.part import Division, Refusal, ScenarioPart
from sims.scenario.submissions import LeftOut, Submissions, Workload


class Partitions(ScenarioPart):
    """The partitions of a platform, with the jobs of each."""

    def of_queues(self, scenario: Scenario) -> Iterator[Refusal]:
        if _of(scenario):
            yield "platform.partitions", "has no queue whose jobs name one", "no partitions"

    def check_queue(self, scenario: Scenario, jobs: Workload, policy: BatchPolicy) -> None:
        """Raise InputError where partitions stand beside shelves or batches, which all jobs
        share."""
        if not _of(scenario):
            return
        why, otherwise = "", "FCFS, EASY, conservative, greedy or R-LIST, say"
        if "SHELF" in policy.name:
            why = f"{policy.name} opens one shelf for all jobs"
        elif hasattr(policy.allocation, "allot"):
            why, otherwise = "BATCH has one barrier for all jobs", "another allocation"
        if why:
            raise unfit("platform.partitions", why, f"{otherwise}; or no partitions")

    def named(self, scenario: Scenario, log: Replay) -> Mapping[str, str]:
        """Map the names of a log's jobs to their partitions (empty: not known), where the log names
        any apart from queues."""
        column = log["partitions"].tolist() if _of(scenario) else []
        return dict(zip(log["names"].tolist(), column, strict=True)) if any(column) else {}

    def fitting(
        self,
        scenario: Scenario,
        jobs: JobSet,
        names: Mapping[str, str],
        listed: Mapping[int, AnyJob],
    ) -> tuple[JobSet, LeftOut]:
        partitions = _of(scenario)
        if not partitions:
            return jobs, ()
        kept, left_out = partitions.fitting(jobs, names, listed)
        return JobSet.of(kept), left_out

    def tell(self, jobs: Workload, system: System) -> None:
        """Describe in the log the partitions of the jobs whose `queue` does not name theirs."""
        partitions = _of(jobs.submissions.scenario)
        for job in jobs.jobs if partitions else ():
            if job.partition != partitions.number(job.queue):
                name = partitions.sections[job.partition].name
                system.describe(PartitionAssigned, job.name, name)

    def divides(self, scenario: Scenario) -> Division:
        """Divide the workers by partitions and by windows of maintenance."""
        platform, its = scenario.full_platform, _of(scenario)
        windows = [(it.span, it.workers(platform.size)) for it in platform.pool.maintenance]
        if not windows and not its:
            return Division()
        cells = Cells.of(platform.able, its.workers, windows, platform.node, its.exclusive)
        alike = not (windows or its.exclusive or cells.partitioned)
        return Division(None if alike else cells, its.sizes, its.tiers)

    def numbers(self, scenario: Scenario) -> bool:
        return bool(_of(scenario))

    def lines(self, scenario: Scenario, submissions: Submissions) -> Iterator[str]:
        """Yield a line on each partition, its workers and its jobs, and one on the workers that are
        in none."""
        partitions = _of(scenario)
        if not partitions:
            return
        counts = Counter(job.partition for job in submissions.jobs)
        for number, it in enumerate(partitions.sections):
            own, many = len(partitions.workers[it.name]), counts[number]
            workers = f"{own:,} worker{'s' if own > 1 else ''}"
            whole = f", whole nodes of {partitions.node}" if it.exclusive else ""
            some = f"{many:,} job{'s' if many != 1 else ''}"
            yield f"  partition {it.name}: {workers}{whole}, {some}"
        known = {worker for its in partitions.workers.values() for worker in its}
        left = (n for n in range(partitions.able) if n not in known)
        if outside := intervals_of(left):
            yield f"  workers {text(outside)} are in no partition: no job of the queue uses them"


def _of(scenario: Scenario) -> OfPlatform:
    """Return the partitions of a scenario's platform; none, if all workers form one pool."""
    platform = scenario.full_platform
    return OfPlatform(platform.pool.partitions, platform.able, platform.node)
