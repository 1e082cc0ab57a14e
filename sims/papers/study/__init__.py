"""Studies of several mechanisms at once, which no paper prints: campaigns and their views.

Variants are compared on the same realisations of platform and work, one for each seed. Where a run
may be cut off, what it left undone counts as done then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sims.campaign.cells import RunStatus
from sims.campaign.intervals import LEVEL, ratio_of
from sims.campaign.results import Results
from sims.papers.values import Value, drawn, known, runs, without
from sims.summary import Summary


def flowtime(summary: Summary) -> float:
    """Mean over the jobs that were submitted, completion minus submission, in the scenario's unit;
    where the run was cut off, jobs that it left count as completed then."""
    ends, starts = summary.completed, summary.submitted
    total = sum(ends.get(job, summary.time) - start for job, start in starts.items())
    return total / len(starts)


def against(results: Results, reference: str, unprotected: str) -> Iterator[Value]:
    """Means over the reference's, paired by seed, and how many runs were cut off; those of
    `unprotected`, which the size of an image does not matter to, are told once."""
    finished, told = results.finished(), set()
    ends = Counter((case.point, case.variant, it.end) for (case, _), it in finished)
    for place, made in runs(results, cut_off=True).items():
        for who, values in made.items():
            at = without(place, "image") if who == unprotected else place
            if who != reference and (at, who) not in told:
                told.add((at, who))
                ratio = ratio_of(known(values), known(made[reference]), LEVEL)
                assert ratio is not None
                yield Value(at, who, f"mean flowtime / {reference}'s", ratio)
                yield Value(at, who, "cut off", drawn(ends[place, who, RunStatus.CAPPED]))
