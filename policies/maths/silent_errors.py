"""Computes silent errors: the probabilities of failing attempts, the failures before a success,
and lower bounds on a makespan under them, against which guarantees are tested.

Times, areas and bounds share the scenario's unit of time; integers and fractions stay exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from policies.maths.profiles import each
from policies.maths.speedup import Profile, Rigid

Numbers = Sequence[float] | NDArray[np.float64]


def failure_probabilities(areas: Numbers, average: float) -> NDArray[np.float64]:
    """Return the failure probability q_j = 1 - (1 - q)^(a_j/a) of each rigid job, from its area a_j
    in `areas` and the mean a of them all (rigid21, section 5.1).

    `average` is q, the failure probability of a job of mean area. Raises ValueError where it is not
    in [0, 1).
    """
    if not 0 <= average < 1:
        raise ValueError(f"an average failure probability must lie in [0, 1), not {average!r}")
    shares = np.asarray(areas, dtype=np.float64)
    found: NDArray[np.float64] = 1 - (1 - average) ** (shares / shares.mean())
    return found


def rate_probabilities(works: Numbers, rate: float) -> NDArray[np.float64]:
    """Return the failure probability q_j = 1 - exp(-lambda w_j) of each job.

    w_j is the area of a rigid job (rigid21, section 3.4) and the total work of a moldable one
    (moldable21, equation 3); `rate` is lambda, per unit of w_j. Raises ValueError for a negative
    rate.
    """
    if not rate >= 0:
        raise ValueError(f"a failure rate must not be negative, not {rate!r}")
    found: NDArray[np.float64] = -np.expm1(-rate * np.asarray(works, dtype=np.float64))
    return found


def draw_failures(probabilities: Numbers, rng: Generator) -> list[int]:
    """Draw, independently for each job, its number f of failed attempts before its first success,
    P(f) = q^f (1 - q), where q is the job's element of `probabilities`."""
    if not any(probabilities):
        return [0] * len(probabilities)  # nothing is drawn where there is no chance
    succeeds = 1 - np.asarray(probabilities, dtype=np.float64)
    # numpy's geometric law counts trials, the success included.
    return list((rng.geometric(succeeds) - 1).tolist())


def rigid_bound(jobs: Iterable[Rigid], failures: Iterable[int], processors: int) -> float:
    """Return the lower bound L(f) = max(t_max(f), A(f)/P) on the makespan of rigid jobs on P =
    `processors`, where job i fails failures[i] times before it succeeds (rigid21, equations 5 and
    6).

    t_max(f) is the longest sum of one job's attempts, and A(f) the area of all attempts;
    verification is left out.
    """
    pairs = list(zip(jobs, failures, strict=True))
    longest = max((job.length * (failed + 1) for job, failed in pairs), default=0)
    area = sum(job.work * (failed + 1) for job, failed in pairs)
    return max(longest, area / processors)


def least(profiles: Sequence[Profile], processors: int) -> tuple[list[float], list[float]]:
    """Return (minimal time of each moldable profile, minimal area of each) on at most P =
    `processors`.

    Raises ValueError for rigid profiles.
    """
    rows = each(
        profiles,
        processors,
        lambda them: zip(them.least_time.tolist(), them.least_area.tolist(), strict=True),
        lambda it: (float(it.times.min()), float(it.areas.min())),
    )
    return [time for time, _ in rows], [area for _, area in rows]


def moldable_bound(
    times: Sequence[float], areas: Sequence[float], failures: Sequence[int], processors: int
) -> float:
    """Return the lower bound L'(J, f) = max(t'_max, A'/P) on the makespan of moldable jobs on P =
    `processors`, where job i fails failures[i] times before it succeeds (moldable21, section 5.1).

    times[i] and areas[i] are its minimal time and area, as `least` returns them. t'_max is the
    largest minimal time times attempts, and A' the sum of the minimal areas times attempts.
    """
    attempts = np.asarray(failures) + 1
    longest = (attempts * np.asarray(times)).max(initial=0.0)
    return float(max(longest, (attempts * np.asarray(areas)).sum() / processors))
