"""How often attempts fail by silent errors, and how many do before one does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator


def failure_probabilities(areas: Sequence[float], average: float) -> list[float]:
    """q_j = 1 - (1 - q)^(a_j/a) for rigid jobs with mean area a (rigid21, section 5.1).

    `average` is q-bar, how often a job of mean area fails. Raises ValueError outside [0, 1).
    """
    if not 0 <= average < 1:
        raise ValueError(f"an average failure probability must lie in [0, 1), not {average!r}")
    shares = np.asarray(areas, dtype=np.float64)
    return list((1 - (1 - average) ** (shares / shares.mean())).tolist())


def rate_probabilities(works: Sequence[float], rate: float) -> list[float]:
    """q_j = 1 - exp(-lambda w_j): w_j is the area of a rigid job (rigid21, section 3.4) and the
    total work of a moldable one (moldable21, equation 3); `rate` is per unit of it. Raises
    ValueError for a negative rate."""
    if not rate >= 0:
        raise ValueError(f"a failure rate must not be negative, not {rate!r}")
    return list((-np.expm1(-rate * np.asarray(works, dtype=np.float64))).tolist())


def draw_failures(probabilities: Sequence[float], rng: Generator) -> list[int]:
    """Failures before success, P(f) = q^f (1 - q), independent per job."""
    succeeds = 1 - np.asarray(probabilities, dtype=np.float64)
    return list((rng.geometric(succeeds) - 1).tolist())
