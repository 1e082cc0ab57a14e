"""Take from runs what comparisons use: each run, or each block of its time, as an observation of a
measure, and what is known beside the values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf

import attrs
import numpy as np
from attrs import frozen

from sims.campaign.batches import AnyMeasure, OwnMeasure, RunResult, RunStatus
from sims.intervals import Known


@frozen
class Compared:
    """An observation that comparisons use: a run of a variant, or a block of its time."""

    seed: int
    """Seed of the run, or number of the block."""
    status: RunStatus
    value: float | None
    """Value of the measure, or None if the run did not complete or the measure is undefined for
    it."""
    work: str = ""
    """Digest of the names of the run's jobs."""
    blocks: tuple[float, ...] = ()
    """A number for each block of the run's time."""
    informed: tuple[bool, ...] = ()
    """Whether any job of a block has more than the least possible value, for each block; empty
    means that all blocks have."""
    speaks: str = ""
    """Text on the evidence and the scope of intervals over the blocks."""
    drew: bool | None = None
    """Whether the run drew anything at random; None where it is not known."""
    sampled: bool | None = None
    """Whether its jobs or workers are one sample of many, such as a log; None where it is not
    known."""
    expected: float | None = None
    """Number of faults, at most, that are to be expected during the run; None where it is not
    known."""
    struck: int | None = None
    """Number of faults and silent errors that struck the run; None where none can."""
    jobs: int = 0
    """Number of jobs of the run."""

    @property
    def informs(self) -> bool:
        """Whether the observation has information: a job with more than the least possible value in
        any block or, if `informed` is empty, a value other than 0."""
        return any(self.informed) if self.informed else self.value != 0

    def each_block(self) -> list[Compared]:
        """Return an observation for each block of the run, as if each were a run whose seed is the
        block's number, from 0."""
        informed = self.informed or (True,) * len(self.blocks)
        return [
            Compared(k, self.status, value, self.work, informed=(some,))
            for k, (value, some) in enumerate(zip(self.blocks, informed, strict=True))
        ]


Runs = Mapping[str, Sequence[Compared]]
"""Maps each variant to its runs."""


def run_of(result: RunResult, gauge: AnyMeasure, until: float | None, of: str = "") -> Compared:
    """Return a run with its value of the measure `gauge`, over all jobs or, if `of` names one, over
    that class of jobs.

    A run that did not complete has the value None. A run in which jobs were killed, that ran out of
    workers, or that ended at the campaign's `until`, keeps the value of a measure that does not
    want all jobs done.
    """
    status = result.end
    cut = status is RunStatus.CAPPED and result.time == until
    few = status in (RunStatus.KILLED, RunStatus.DEPLETED)
    partly = (cut or few) and not gauge.wants_all_done
    known = status is RunStatus.COMPLETED or partly
    entry = result.blocks.get(gauge.value, {}).get(of, {})
    value = entry.get("value") if of else result.values.get(gauge.value)
    return Compared(
        seed=result.seed,
        status=status,
        value=value if known else None,
        work=result.work,
        blocks=tuple(entry.get("blocks", ())),
        informed=tuple(entry.get("informed", ())),
        speaks=result.speaks,
        drew=result.drew,
        sampled=result.sampled,
        expected=result.expected,
        struck=result.struck,
        jobs=result.jobs,
    )


STRUCK = 3
"""Number of runs that have to be struck by a fault, unless all are, so that their values alone tell
what faults do."""


def values_of(runs: Iterable[Compared]) -> list[float]:
    """Return the values of those runs that have one."""
    return [run.value for run in runs if run.value is not None]


def known_of(runs: Sequence[Compared], gauge: AnyMeasure) -> Known:
    """Return what is known of a variant's values of a measure beside the values themselves.

    Where faults can strike and fewer than STRUCK of the runs were struck, another run may be worse
    by as much as its value: a fault takes at most what a run has done. A user's measure that is 0
    or 1 in all runs counts an event.
    """
    values = values_of(runs)
    # The run of a log is one observation, which says nothing of other logs.
    sampled = any(run.sampled is not False for run in runs)
    known = Known(exact=bool(values) and drew_nothing(runs) and not sampled)
    if isinstance(gauge, OwnMeasure):
        event = bool(values) and set(values) <= {0.0, 1.0}
        return attrs.evolve(known, low=0.0, high=1.0, counts=True) if event else known
    jobs = max((run.jobs for run in runs), default=0)
    high = float(max(jobs, 1)) if gauge.counts_jobs else inf
    high = 1.0 if gauge.share or gauge.event else high
    struck = [run.struck for run in runs if run.struck is not None and run.value is not None]
    few = bool(struck) and sum(map(bool, struck)) < STRUCK and not all(struck)
    # Where hardly a fault is to be expected in all of the runs, what it does matters as little.
    come = sum(inf if run.expected is None else run.expected for run in runs)
    reach = float(np.median(np.abs(values))) * min(come, 1.0) if few else 0.0
    return attrs.evolve(
        known,
        low=0.0,
        high=high,
        counts=gauge.counts_jobs or gauge.event,
        reach=reach,
        side=-1 if gauge.higher_is_better else 1,
        struck=bool(struck),
    )


def drew_nothing(runs: Sequence[Compared]) -> bool:
    """Return whether all of these runs are one and the same, as none drew anything at random."""
    return bool(runs) and all(run.drew is False for run in runs)


def over_blocks(runs: Runs) -> dict[str, list[Compared]] | None:
    """Return, for each variant, the blocks of its first run as observations, if all runs of each
    variant have the same value.

    Seeds then make no difference, all runs of a variant are one observation, and the blocks of its
    time are what can be compared. Return None where values differ or are missing, where variants
    have different numbers of blocks, and where there are none.
    """
    if not all(once([run.value for run in row]) for row in runs.values()):
        return None
    first = {name: row[0] for name, row in runs.items()}
    many = {len(run.blocks) for run in first.values()}
    if len(many) > 1 or many == {0}:
        return None
    return {name: run.each_block() for name, run in first.items()}


def once(values: Sequence[float | None]) -> bool:
    """Return whether all values are the same number, so that the runs count as one observation. It
    is False if any is None."""
    return len(set(values)) == 1 and None not in values
