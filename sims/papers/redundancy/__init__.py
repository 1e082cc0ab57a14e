"""redundancy17: redundant copies on servers whose speed varies: the study, and Theorem 1's bounds.

The paper prints no experiment; what is beside our figures was reproduced before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
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
from sims.papers.values import Ran, Value, estimated, exactly, grouped, means, ratios, runs
from sims.scenario.platform import PlatformSection
from sims.scenario.scenario import Scenario
from sims.scenario.speeds import process_of
from sims.scenario.workload import workload

WARM_UP = 0.1
"""Part of the jobs that is left out of steady-state numbers: they met an empty cluster."""
REPRODUCED = {0.3: "0.310", 0.5: "0.434", 0.7: "0.614", 0.9: "0.861"}
"""SRPT+R's mean flowtime over SRPT's by load, exponential sizes, M = 10, speeds 4 or 0."""
SPEEDS: dict[str, dict[str, Any]] = {
    "constant": {"kind": "constant"},
    "uniform 0..2": {"kind": "uniform", "peak": 2, "slot": 0.3},
    "two-point slots, Delta 2": {"kind": "two-point-slots", "peak": 2, "slot": 0.3},
    "two-point slots, Delta 4": {"kind": "two-point-slots", "peak": 4, "slot": 0.3},
    "two-point, Delta 4": {"kind": "two-point", "peak": 4, "interval": 0.3},
    "two-point, Delta 8": {"kind": "two-point", "peak": 8, "interval": 0.3},
    "on-off, Delta 4": {"kind": "on-off", "peak": 4, "on": 1},
}
SIZES = {
    "deterministic": "deterministic",
    "exponential": "exponential",
    "hyperexponential": "hyperexponential",
    "bounded Pareto": "bounded-pareto",
}


def stream(speeds: str = "two-point, Delta 4", sizes: str = "exponential") -> dict[str, Any]:
    """One point of the study."""
    return {
        "name": "redundancy17",
        "seed": 0,
        "platform": {"workers": 10, "speed": SPEEDS[speeds]},
        "job": {
            "kind": "rigid",
            "stream": {
                "count": 2000,
                "arrivals": {"kind": "poisson", "load": 0.7},
                "sizes": {"kind": SIZES[sizes]},
            },
        },
        "policy": {"name": "SRPT"},
    }


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


def flowtime(found: Flowtimes) -> float:
    """Mean, time units."""
    return float(found.after(WARM_UP).flowtimes.mean())


def flowtime95(found: Flowtimes) -> float:
    """95th percentile."""
    return float(np.percentile(found.after(WARM_UP).flowtimes, 95))


def flowtime99(found: Flowtimes) -> float:
    """99th percentile."""
    return float(np.percentile(found.after(WARM_UP).flowtimes, 99))


def stretch(found: Flowtimes) -> float:
    """Mean of flowtime over size."""
    return float(found.after(WARM_UP).stretches.mean())


def stretch95(found: Flowtimes) -> float:
    """95th percentile."""
    return float(np.percentile(found.after(WARM_UP).stretches, 95))


def stretch99(found: Flowtimes) -> float:
    """99th percentile."""
    return float(np.percentile(found.after(WARM_UP).stretches, 99))


# --- views ------------------------------------------------------------------------------------


def study(results: Results) -> list[Value]:
    """Mean flowtimes over SRPT's, and all measures."""
    return [evolve(it, paper=_reproduced(it)) for it in ratios(results)] + means(results)


def _reproduced(it: Value) -> str | None:
    key, at = it.place[0]
    return REPRODUCED.get(at) if it.who == "SRPT+R" and key.endswith("load") else None


def bounds(results: Results) -> list[Value]:
    """Overall flowtime over a lower bound on OPT's, and Theorem 1's constant where it holds."""
    made = results.campaign.gauges[1]
    pairs = zip(runs(results), runs(results, made), strict=True)
    found = grouped((ran.place, ran.variant, _over_bound(ran, end)) for ran, end in pairs)
    values = []
    for (place, who), own in found.items():
        values.append(Value(place, who, "flowtime / bound", estimated(own)))
        most = guarantee(who, dict(place)["speed"])
        if most is not None:
            values.append(Value(place, who, "Theorem 1", exactly(most)))
    return values


def _over_bound(ran: Ran, end: Ran) -> float:
    assert ran.value is not None
    assert end.value is not None
    scenario = ran.case.scenario(ran.replication)
    arrivals, sizes = jobs(scenario)
    return ran.value * len(sizes) / bound(scenario, arrivals, sizes, end.value)


def jobs(scenario: Scenario) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Arrivals and sizes of the very jobs that a run of `scenario` meets."""
    found = workload(scenario, System(scenario.seed, []), Path()).submissions
    return np.array([it.job.submitted for it in found]), np.array(
        [it.job.profile.work for it in found]
    )


def guarantee(policy: str, speed: float) -> float | None:
    """Theorem 1's constant where it holds: SRPT+R (or better) with more than unit speed."""
    if policy != "SRPT+R" or speed <= 1:
        return None
    return proof_constant(SPEEDS["two-point, Delta 4"]["peak"], speed - 1)


def bound(
    scenario: Scenario, arrivals: NDArray[np.float64], sizes: NDArray[np.float64], end: float
) -> float:
    """A lower bound on the overall flowtime of any schedule at unit speed, on these jobs and, of
    the sample path, these speeds; `end`: makespan at the scenario's own speed."""
    workers = _pool(scenario)
    if workers.gain is not None:
        return mean_bound(arrivals, sizes, workers.workers, process_of(workers.speed, Path()).peak)
    plain = workers.model_copy(update={"augmentation": 1.0})
    unit = scenario.model_copy(update={"platform": plain})
    # The policy's speed is augmented: at unit speed the bound may need the servers for longer.
    horizon = 2 * end
    while capacity(unit, horizon).work[-1] < 2 * float(sizes.sum()):
        horizon *= 2
    return sample_path_bound(arrivals, sizes, capacity(unit, horizon))


def _pool(scenario: Scenario) -> PlatformSection:
    assert scenario.platform is not None
    return scenario.platform


def capacity(scenario: Scenario, horizon: float) -> Capacity:
    """C(t) of the very speeds that a run of `scenario` meets, up to `horizon`."""
    platform = scenario.full_platform
    paths = [
        platform[worker].speeds(
            random_stream(scenario.seed, f"speed/{platform.name(worker)}"), Path()
        )
        for worker in range(platform.size)
    ]
    return Capacity.of(paths, horizon)
