"""Study several mechanisms at once, in comparisons that no paper prints: campaigns and their views.

Variants are compared on the same realisations of platform and work, one for each seed. Where a run
may be cut off, jobs that it leaves undone count as completed at that time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from sims.campaign.batches import RunStatus
from sims.campaign.results import Results
from sims.history.summary import Summary
from sims.intervals import LEVEL, ratio_of
from sims.papers.values import Place, Value, drawn, exactly, known, means, runs, without


def flowtime(summary: Summary) -> float:
    """Return the mean flowtime of the submitted jobs, completion minus submission, in the
    scenario's unit.

    Where the run was cut off, jobs that it left undone count as completed at that time.
    """
    ends, starts = summary.completed, summary.submitted
    total = sum(ends.get(job, summary.time) - start for job, start in starts.items())
    return total / len(starts)


def against(results: Results, reference: str, unprotected: str) -> Iterator[Value]:
    """Yield, for each place and variant but `reference`, the mean flowtime over that of
    `reference`, paired by seed, and the number of runs that were cut off.

    The variant `unprotected` sends no images (checkpoints at the master), so that it has one value
    for all their sizes (the axis `image`).
    """
    finished, shown = results.finished(), set()
    ends = Counter((case.point, case.variant, it.end) for (case, _), it in finished)
    for place, made in runs(results, cut_off=True).items():
        for who, values in made.items():
            at = without(place, "image") if who == unprotected else place
            if who != reference and (at, who) not in shown:
                shown.add((at, who))
                ratio = ratio_of(known(values), known(made[reference]), LEVEL)
                assert ratio is not None
                yield Value(at, who, f"mean flowtime / {reference}'s", ratio)
                yield Value(at, who, "cut off", drawn(ends[place, who, RunStatus.CAPPED]))


# --- enrolment ----------------------------------------------------------------------------------

WITHIN = 1.05
"""Ratio to the least mean makespan up to which a number of workers is worth enrolling."""
ENROLLED = "policy.parameters.workers"
"""Key of the number of workers to enrol."""


def enrolment(results: Results) -> list[Value]:
    """Return the mean makespans in slots, and for each number of channels and time of a data
    transfer the number of workers that is worth enrolling: the smallest whose mean makespan is
    within 5 % of the best.

    Only settings of which every replication has completed count.
    """
    found = [it for it in means(results) if it.ours.size == results.question.surely.runs]
    curves: dict[Place, dict[int, float]] = {}
    for it in found:
        curve = curves.setdefault(without(it.place, ENROLLED), {})
        curve[dict(it.place)[ENROLLED]] = it.ours.mean
    return found + [
        Value(place, "", "worth enrolling", exactly(worth(curve)))
        for place, curve in curves.items()
    ]


def worth(means: Mapping[int, float]) -> int:
    """Return the smallest number of workers whose mean makespan is at most WITHIN times the least
    one; `means` maps numbers of workers to mean makespans."""
    return min(k for k, mean in means.items() if mean <= WITHIN * min(means.values()))
