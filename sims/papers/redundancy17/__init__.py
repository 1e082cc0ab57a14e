"""redundancy17: redundant copies on servers whose speed varies: the study, and Theorem 1's bounds.

The paper prints no experiment; what is beside our figures was reproduced before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.runtime import System
from actors.runtime import stream as random_stream
from policies.maths.single_machine import (
    Capacity,
    mean_bound,
    proof_constant,
    sample_path_bound,
)
from sims.campaign.results import Results
from sims.metrics.flowtimes import Flowtimes
from sims.papers.inputs import base
from sims.papers.values import Place, Value, estimated, exactly, means, ratios
from sims.scenario.scenario import Scenario
from sims.scenario.speeds import process_of
from sims.scenario.workload import workload

WARM_UP = 0.1
"""Part of the jobs that is left out of steady-state numbers: they met an empty cluster."""
STUDIED = "two-point, Delta 4"


def stream(speeds: str = STUDIED, sizes: str = "exponential") -> dict[str, Any]:
    """One point of the study."""
    table = base("redundancy17/base")
    table["platform"]["speed"] = base("redundancy17/speeds")[speeds]
    table["job"]["stream"]["sizes"] = {"kind": sizes.lower().replace(" ", "-")}
    return table


def augmented(semantics: str, speed: float) -> dict[str, Any]:
    """The same, shorter, at another speed: progress is what workers deliver (`sample-path`), or
    x g(r, t), the mean of the furthest of r copies (`mean`: Assumption 2)."""
    table = stream()
    table["platform"]["augmentation"] = speed
    if semantics == "mean":
        table["platform"]["gain"] = {"kind": "process"}
    table["job"]["stream"]["count"] = 500
    return table


# --- measures ---------------------------------------------------------------------------------

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Any]


def _measured(of: str, statistic: Statistic) -> Callable[[Flowtimes], float]:
    def measured(found: Flowtimes) -> float:
        return float(statistic(getattr(found.after(WARM_UP), of)))

    return measured


P95, P99 = (partial(np.percentile, q=percent) for percent in (95, 99))
flowtime, stretch = (_measured(of, np.mean) for of in ("flowtimes", "stretches"))
flowtime95, stretch95 = (_measured(of, P95) for of in ("flowtimes", "stretches"))
flowtime99, stretch99 = (_measured(of, P99) for of in ("flowtimes", "stretches"))


# --- views ------------------------------------------------------------------------------------


def study(results: Results) -> list[Value]:
    """Mean flowtimes over SRPT's, and all measures."""
    return ratios(results) + means(results)


def bounds(results: Results) -> list[Value]:
    """Overall flowtime over a lower bound on OPT's, and Theorem 1's constant where it holds."""
    found: dict[tuple[Place, str], list[float]] = {}
    for (case, k), result in results.finished():
        flow, end = result.values["flowtime"], result.values["makespan"]
        assert flow is not None
        assert end is not None
        own = found.setdefault((case.point, case.variant), [])
        own.append(flow / bound(case.scenario(k), end))
    values = []
    for (place, who), own in found.items():
        values.append(Value(place, who, "flowtime / bound", estimated(own)))
        most = guarantee(who, dict(place)["speed"])
        if most is not None:
            values.append(Value(place, who, "Theorem 1", exactly(most)))
    return values


def guarantee(policy: str, speed: float) -> float | None:
    """Theorem 1's constant where it holds: SRPT+R (or better) with more than unit speed."""
    if policy != "SRPT+R" or speed <= 1:
        return None
    return proof_constant(stream()["platform"]["speed"]["peak"], speed - 1)


def bound(scenario: Scenario, end: float) -> float:
    """A lower bound on the mean flowtime of any schedule at unit speed, on the very jobs that a run
    meets and, of the sample path, these speeds; `end`: makespan at the scenario's own speed."""
    found = [it.job for it in workload(scenario, System(scenario.seed, []), Path()).submissions]
    arrivals = np.array([it.submitted for it in found])
    sizes = np.array([it.profile.work for it in found])
    return _overall(scenario, arrivals, sizes, end) / len(found)


def _overall(scenario: Scenario, arrivals: Floats, sizes: Floats, end: float) -> float:
    workers = scenario.platform
    assert workers is not None
    if workers.gain is not None:
        return mean_bound(arrivals, sizes, workers.workers, process_of(workers.speed, Path()).peak)
    plain = workers.model_copy(update={"augmentation": 1.0})
    unit = scenario.model_copy(update={"platform": plain})
    # The policy's speed is augmented: at unit speed the bound may need the servers for longer.
    horizon = 2 * end
    while (there := capacity(unit, horizon)).work[-1] < 2 * float(sizes.sum()):
        horizon *= 2
    return sample_path_bound(arrivals, sizes, there)


def capacity(scenario: Scenario, horizon: float) -> Capacity:
    """C(t) of the very speeds that a run of `scenario` meets, up to `horizon`."""
    platform = scenario.full_platform
    streams = (f"speed/{platform.name(worker)}" for worker in range(platform.size))
    rngs = (random_stream(scenario.seed, name) for name in streams)
    pairs = zip(platform, rngs, strict=True)
    return Capacity.of([worker.speeds(rng, Path()) for worker, rng in pairs], horizon)
