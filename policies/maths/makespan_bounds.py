"""Lower bounds on a makespan under a failure scenario, and the guarantees held against them.

Times, areas and bounds share the scenario's unit of time; integers and fractions stay exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from policies.maths.profiles import Formulas, Listed, split
from policies.maths.speedup import Profile, Rigid, Speedup, Table


def rigid_bound(jobs: Iterable[Rigid], failures: Iterable[int], processors: int) -> float:
    """L(f) = max(t_max(f), A(f)/P) (rigid21, equations 5 and 6); verification is not in it."""
    pairs = list(zip(jobs, failures, strict=True))
    longest = max((job.length * (failed + 1) for job, failed in pairs), default=0)
    area = sum(job.work * (failed + 1) for job, failed in pairs)
    return max(longest, area / processors)


def least(profiles: Sequence[Profile], processors: int) -> tuple[list[float], list[float]]:
    """Minimal time and minimal area of each moldable profile on at most P processors.

    Raises ValueError for rigid ones.
    """
    times, areas = [0.0] * len(profiles), [0.0] * len(profiles)
    formulas, tables = split(profiles)
    if formulas:
        chosen = [p for p in (profiles[i] for i in formulas) if isinstance(p, Speedup)]
        arrays = Formulas.of(chosen, processors)
        values = zip(formulas, arrays.least_time.tolist(), arrays.least_area.tolist(), strict=True)
        for i, time, area in values:
            times[i], areas[i] = time, area
    for i in tables:
        table = profiles[i]
        assert isinstance(table, Table)
        listed = Listed.of(table, processors)
        times[i], areas[i] = float(listed.times.min()), float(listed.areas.min())
    return times, areas


def moldable_bound(
    times: Sequence[float], areas: Sequence[float], failures: Sequence[int], processors: int
) -> float:
    """L'(J, f) = max(t'_max, A'/P) from what `least` gives (moldable21, section 5.1)."""
    attempts = np.asarray(failures) + 1
    longest = (attempts * np.asarray(times)).max(initial=0.0)
    return float(max(longest, (attempts * np.asarray(areas)).sum() / processors))
