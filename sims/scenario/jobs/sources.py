"""Sources of jobs: files with the logs of real machines, and streams of arrivals with their
sizes."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from numpy.random import Generator

from actors.runtime import System
from policies.interface.queue import BatchJob
from policies.maths.sizes import BoundedPareto, Deterministic, Exponential, Hyperexponential
from policies.maths.speedup import Rigid
from sims.errors import InputError, unfit
from sims.tables import Held, OneOf, Section
from sims.tables.fields import NOT_EMPTY, Accepts, Count, Duration, Positive, Time

BLOCK = 256
"""Number of values drawn at a time; one call for many values is faster than many calls."""

Numbered = tuple[int, tuple[float, float]]
"""A job's number with its arrival time and its size."""


class JobOrigin(enum.Enum):
    """Choices of the time in a log of jobs that is time 0 of the run."""

    FIRST = "first"
    """The first submission."""
    LOG = "log"
    """The file's own zero, so that a trace with the same clock fits beside it."""


class JobFile(Section):
    """The keys of every source of jobs that is a file: jobs of a real log, submitted at the times
    of the log."""

    file: str
    """Path of the log, relative to the scenario's folder; the file may be compressed."""
    estimates: bool = True
    """Whether reservations rely on the users' requested times; if not, on the times that jobs take.
    """


class WorkloadFile(JobFile):
    """`[job.swf]` or `[job.batsim]`: jobs of a real log, submitted at the times of the log."""

    origin: JobOrigin = JobOrigin.FIRST
    """Time in the log that is time 0: `first`, the first submission, or `log`, the file's own zero.
    """


def _is_zone(name: str) -> bool:
    from sims.readers.sacct import zone

    return zone(name) is not None


class SacctFile(JobFile):
    """`[job.sacct]`: jobs of a Slurm cluster, as `sacct -P` prints them. Their times are local ones
    of the cluster, so `timezone` must name its zone if that is not UTC."""

    timezone: Annotated[str, Accepts("an IANA name such as Europe/Paris", check=_is_zone)] = "UTC"
    """Time zone of the times in the file, because sacct prints no offset. The first submission is
    time 0."""
    partition_limit: Duration | None = None
    """Time limit of jobs whose limit is `Partition_Limit`, seconds; default: not known."""
    columns: Literal["XDMoD"] | tuple[str, ...] = ()
    """Names of the columns of a dump without a header, such as `["JobID", "Submit", ...]`, or
    `XDMoD` for those of Open XDMoD's; default: the header's."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns where the file has no header; empty where it has one."""
        from sims.readers.sacct import XDMOD

        return XDMOD if self.columns == "XDMoD" else self.columns


class PoissonArrivals(Section):
    """`{kind = "poisson", load = 0.7}`: independent exponential times between arrivals."""

    kind: Literal["poisson"] = "poisson"
    load: Positive
    """Work that arrives in a time unit, as a fraction of the M workers' capacity; redundant work is
    not counted."""

    def draw(self, rng: Generator, workers: int, mean: float) -> Iterator[float]:
        """Yield arrival times without end, in time order, drawn with `rng`, at the rate that gives
        `workers` workers the load if the mean size of a job is `mean`."""
        time, gap = 0.0, mean / (self.load * workers)
        while True:
            for step in rng.exponential(gap, BLOCK).tolist():
                time += step
                yield time


class ListedArrivals(Section):
    """`{kind = "list", times = [0, 0.5, 2]}`: explicit arrival times, in any order."""

    kind: Literal["list"] = "list"
    times: Annotated[tuple[Time, ...], NOT_EMPTY]
    """a_j: arrival time of job j, time units."""

    load: ClassVar[float | None] = None

    def read(self, folder: Path) -> tuple[Sequence[float], Sequence[float]]:
        """Return (the arrival times in the order of the list, an empty sequence of sizes): the list
        has no sizes. `folder` is not used."""
        return self.times, ()


class FileArrivals(Section):
    """`{kind = "file", path = "log.swf"}`: submit times of an SWF log, and its run times as
    sizes."""

    kind: Literal["file"] = "file"
    path: str
    """Path of the log, relative to the scenario's folder; the file may be compressed."""
    load: Positive | None = None
    """Load to reach by stretching the times, as a fraction of the M workers' capacity; default: the
    times stay as they are."""

    def read(self, folder: Path) -> tuple[Sequence[float], Sequence[float]]:
        """Return (submit times in seconds from the first one, run times in seconds) of the log's
        jobs, both in the log's order; the log is looked for in `folder`.

        Raises InputError if the log cannot be read or has no usable job.
        """
        from sims.readers.job_logs import read_swf

        path = folder / self.path
        jobs = read_swf(path).jobs
        if not jobs:
            raise InputError(str(path), "", "no usable job", "a log with at least one")
        return [it.submitted - jobs[0].submitted for it in jobs], [it.run for it in jobs]


SizeLaw = Deterministic | Exponential | BoundedPareto | Hyperexponential
ArrivalSection = Annotated[PoissonArrivals | ListedArrivals | FileArrivals, OneOf()]


class ListedSizes(Section):
    """`{kind = "list", sizes = [3, 1, 2]}`: explicit job sizes."""

    kind: Literal["list"] = "list"
    sizes: Annotated[tuple[Duration, ...], NOT_EMPTY]
    """p_j: size of job j, as the time that a worker of unit speed takes, time units."""


SizeSection = Annotated[
    Annotated[Deterministic, Held("deterministic", "mean")]
    | Annotated[Exponential, Held("exponential", "mean")]
    | Annotated[BoundedPareto, Held("bounded-pareto", "low", "high")]
    | Annotated[Hyperexponential, Held("hyperexponential")]
    | ListedSizes,
    OneOf(),
]


class StreamSection(Section):
    """`[job.stream]`: jobs of one worker each that arrive over time (redundancy17, section III)."""

    count: Count | None = None
    """Number of jobs that arrive; default: all that are listed."""
    arrivals: ArrivalSection
    """Arrival times: `poisson`, `list` or `file`."""
    sizes: SizeSection | None = None
    """Job sizes: `deterministic`, `exponential`, `bounded-pareto`, `hyperexponential` or `list`;
    default: the run times of the arrivals' file, or else exponential of mean 1."""


def arrivals(
    job: StreamSection, workers: int, system: System, folder: Path, verification: float = 0.0
) -> tuple[Iterator[BatchJob], int]:
    """Return the jobs of `[job.stream]` in order of arrival, and their number; `verification` is
    that of each job, and `workers` the number of workers, to which a load refers.

    Of jobs with equal times the lower number comes first. Times and sizes are drawn from the random
    streams `arrivals` and `sizes` of `system`, so that neither changes with the law of the other.
    Files are looked for in `folder`. Raises InputError where a list is too short, or where no
    number of jobs is given.
    """
    source, law = job.arrivals, job.sizes or Exponential()
    if isinstance(law, ListedSizes):
        sizes, mean = iter(law.sizes), sum(law.sizes) / len(law.sizes)
    else:
        sizes, mean = _endless_sizes(law, system.stream("sizes")), law.mean
    if isinstance(source, PoissonArrivals):
        times, number = source.draw(system.stream("arrivals"), workers, mean), _number(job)
        coming: Iterable[Numbered] = islice(enumerate(zip(times, sizes, strict=False)), number)
    else:
        read, own = source.read(folder)
        listed = read[: job.count]
        own = _first_sizes(iter(own) if own and job.sizes is None else sizes, len(listed))
        # Load is work over (M x span): the last arrival moves to work / (load x M).
        if source.load is not None and (last := max(listed)):
            factor = sum(own) / (source.load * workers * last)
            listed = [time * factor for time in listed]
        coming = sorted(enumerate(zip(listed, own, strict=True)), key=lambda it: it[1][0])
        number = len(own)
    jobs = (
        BatchJob(index, f"job-{k}", Rigid(1, size), verification, None, time)
        for index, (k, (time, size)) in enumerate(coming)
    )
    return jobs, number


def _endless_sizes(law: SizeLaw, rng: Generator) -> Iterator[float]:
    while True:
        yield from law.draw(rng, BLOCK).tolist()


def _number(job: StreamSection) -> int:
    most = len(job.sizes.sizes) if isinstance(job.sizes, ListedSizes) else None
    number = job.count if job.count is not None else most
    if number is None or not 1 <= number <= (sys.maxsize if most is None else most):
        raise unfit(
            "job.stream.count",
            f"{job.count} jobs",
            f"1 to {most}" if most is not None else "a whole number above 0",
        )
    return number


def _first_sizes(sizes: Iterator[float], jobs: int) -> list[float]:
    """Return the first `jobs` of these sizes.

    Raises InputError where there are fewer, or where one is not above 0.
    """
    taken = list(islice(sizes, jobs))
    if len(taken) < jobs:
        raise unfit("job.stream.sizes", f"{len(taken)} sizes for {jobs} jobs", "one size per job")
    if min(taken) <= 0:
        raise unfit(
            "job.stream.sizes",
            f"a size of {min(taken)}, below the least number above 0",
            "a law of larger sizes",
        )
    return taken
