"""More of a log that is too short: a bootstrap of its blocks."""

from __future__ import annotations

from collections import Counter

import attrs
import numpy as np
from attrs import field, frozen
from numpy.random import Generator

from sims.errors import InputError
from sims.scenario.fields import positive
from sims.scenario.jobs.columns import Changes, JobColumns

WEEK = 604_800


@frozen(kw_only=True)
class Resample:
    """`[job.resample]`: blocks of the log drawn with replacement, one after the other, as the
    run's seed says: the day of a week and the hour stay, and so does what hangs together within a
    block (a user's session)."""

    blocks: int = field(validator=positive)
    """How many are drawn."""
    length: float = field(default=WEEK, validator=positive)
    """Of a block: time units; a week of seconds. The log's last block, which it does not fill, is
    never drawn."""

    def apply(self, jobs: JobColumns, changes: Changes, rng: Generator) -> JobColumns:
        """Drawn anew from the whole blocks of `jobs`; entered in `changes`.

        A job that is drawn again is called J7.2, J7.3 and so on. Raises InputError where there is
        no whole block.
        """
        whole = int(jobs.submitted.max() // self.length) if len(jobs) else 0
        if not whole:
            problem = f"the log is shorter than a block of {self.length:g}"
            raise InputError("scenario", "job.resample.length", problem, "less")
        drawn = rng.integers(0, whole, size=self.blocks)
        bounds = np.searchsorted(jobs.submitted, np.arange(whole + 1) * self.length)
        blocks = [np.arange(bounds[block], bounds[block + 1]) for block in drawn]
        shift = np.repeat((np.arange(self.blocks) - drawn) * self.length, list(map(len, blocks)))
        found = jobs.take(np.concatenate(blocks))
        how = f"{self.blocks} blocks of {self.length:g} drawn from {whole}"
        changes.change(f"{how}, which held {bounds[-1]:,} jobs", len(found))
        return attrs.evolve(found, submitted=found.submitted + shift, names=_apart(found.names))


def _apart(names: np.ndarray) -> np.ndarray:
    seen: Counter[str] = Counter()
    apart = np.empty_like(names)
    for place, name in enumerate(names):
        seen[name] += 1
        apart[place] = name if seen[name] == 1 else f"{name}.{seen[name]}"
    return apart
