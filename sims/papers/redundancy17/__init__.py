"""Evaluate redundancy17, redundant copies on servers whose speed varies: the study, and Theorem 1's
bounds.

The paper prints no experiment; the values beside ours are from earlier reproductions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from actors.runtime import System
from actors.runtime import stream as random_stream
from policies.maths.gains import GainEstimate, gain_at
from policies.maths.single_machine import (
    Capacity,
    mean_bound,
    proof_constant,
    sample_path_bound,
    srpt_drain,
)
from sims.campaign.results import Results
from sims.intervals import Estimate
from sims.metrics.arrivals import Flowtimes
from sims.papers.inputs import base
from sims.papers.values import Columns, Seen, Value, exactly, means, observed, ratios, same
from sims.scenario import Scenario
from sims.scenario.loader import read
from sims.scenario.workers import process_of
from sims.scenario.workload import workload
from sims.world import run

WARM_UP = 0.1
"""Share of the jobs that steady-state numbers leave out, since those jobs met an empty cluster."""
STUDIED = "two-point, Delta 4"


def stream(speeds: str = STUDIED, sizes: str = "exponential") -> dict[str, Any]:
    """Return the scenario of one point of the study: a stream of jobs on servers whose speed
    varies.

    `speeds` names a law of speeds in `speeds.toml`, such as `on-off, Delta 4`, and `sizes` a law of
    the jobs' sizes, such as `exponential`.
    """
    own = {
        "platform.speed": base("redundancy17/speeds")[speeds],
        "job.stream.sizes": {"kind": sizes.lower().replace(" ", "-")},
    }
    return base("redundancy17/base", own)


def augmented(semantics: str, speed: float) -> dict[str, Any]:
    """Return a shorter scenario of the study, whose servers are faster by the factor `speed`.

    `semantics` is `sample-path`, where a copy progresses by the work that its worker delivers, or
    `mean`, where a job with r copies that have run for t progresses by the mean of the furthest
    one, g(r, t) (redundancy17, Assumption 2).
    """
    table = stream()
    table["platform"]["augmentation"] = speed
    if semantics == "mean":
        table["platform"]["gain"] = {"kind": "process"}
    table["job"]["stream"]["count"] = 500
    return table


# --- measures ---------------------------------------------------------------------------------

Statistic = Callable[[NDArray[np.float64]], Any]


def _measured(name: str, statistic: Statistic) -> Callable[[Flowtimes], float]:
    """Return a measure of a run: `statistic` of the array of `Flowtimes` called `name`, without the
    jobs of the warm-up."""

    def measured(found: Flowtimes) -> float:
        return float(statistic(getattr(found.after(WARM_UP), name)))

    return measured


P95, P99 = (partial(np.percentile, q=percent) for percent in (95, 99))
flowtime, stretch = (_measured(of, np.mean) for of in ("flowtimes", "stretches"))
flowtime95, stretch95 = (_measured(of, P95) for of in ("flowtimes", "stretches"))
flowtime99, stretch99 = (_measured(of, P99) for of in ("flowtimes", "stretches"))


# --- views ------------------------------------------------------------------------------------


def study(results: Results) -> list[Value]:
    """Return the mean flowtime of each policy over SRPT's, and the means of all measures."""
    return ratios(results) + means(results)


def bounds(results: Results) -> list[Value]:
    """Return the mean flowtime over a lower bound on that of an optimal schedule (OPT), and the
    constant of Theorem 1 for each point at which the theorem holds."""

    def row(run: Seen) -> Columns:
        flow, end = run.measured
        most = guarantee(run.case.variant, run.at["speed"])
        theorem = {} if most is None else {"Theorem 1": most}
        return {
            "flowtime / bound": flow / bound(run.scenario, end),
            **theorem,
        }

    return observed(results, row, {"Theorem 1": same})


def guarantee(policy: str, speed: float) -> float | None:
    """Return the constant of Theorem 1, an upper bound on the flowtime over the optimal one, or
    None where the theorem does not hold.

    It holds for SRPT+R on servers that are faster than the optimum's by a factor `speed` above 1.
    """
    if policy != "SRPT+R" or speed <= 1:
        return None
    return proof_constant(stream()["platform"]["speed"]["peak"], speed - 1)


def bound(scenario: Scenario, end: float) -> float:
    """Return a lower bound on the mean flowtime of any schedule at unit speed, on the very jobs
    that a run of `scenario` meets.

    Under the sample-path semantics, it also uses the speeds that the run meets. `end` is the run's
    makespan at the scenario's own speed.
    """
    found = workload(scenario, System(scenario.seed, [])).jobs
    arrivals = np.array([it.submitted for it in found])
    sizes = np.array([it.profile.work for it in found])
    workers = scenario.platform
    assert workers is not None
    if workers.gain is not None:
        peak = process_of(workers.speed, Path()).peak
        return mean_bound(arrivals, sizes, workers.workers, peak) / len(found)
    # C(t) at unit speed: only the policy's servers are augmented. The bound may need servers for
    # longer.
    plain = workers.model_copy(update={"augmentation": 1.0})
    platform = scenario.model_copy(update={"platform": plain}).full_platform
    horizon = 2 * end
    while True:
        rngs = (random_stream(scenario.seed, f"speed/{platform.name(k)}") for k in count())
        paths = [it.speeds(rng, Path()) for it, rng in zip(platform, rngs, strict=False)]
        served = Capacity.of(paths, horizon)
        # Enough capacity for any schedule of the jobs; else look twice as far.
        if served.work[-1] >= 2 * sizes.sum():
            return sample_path_bound(arrivals, sizes, served) / len(found)
        horizon *= 2


# --- lemmas 1, 2 and 5, checked numerically ----------------------------------------------------

ERRORS = 4.0
"""Number of standard errors beyond which a difference counts as a violation."""
SPEEDS = (
    "constant",
    "two-point, Delta 4",
    "two-point slots, Delta 4",
    "uniform 0..2",
    "on-off, Delta 4",
)
TIMES = (0.03, 0.3, 1.0, 3.0)
COPIES, SAMPLE, INSTANCES = 10, 400, 20
"""Largest number of copies; number of servers simulated for each time; number of instances of Lemma
5."""


def lemmas() -> Iterator[Value]:
    """Yield how well Lemmas 1, 2 and 5 hold in computed cases.

    For each law of speeds and time, the values are g(2, t) and g(10, t), and for Lemmas 1 and 2 a 1
    if the lemma holds there, else 0. For Lemma 5, the value is the largest relative difference
    between eq. 13 and simulation.
    """
    rng = default_rng(1)
    for speeds, time in product(SPEEDS, TIMES):
        process = process_of(read(stream(speeds), "lemmas").full_platform[0].speed, Path())
        at, place = gain_at(process, SAMPLE, rng), (("speeds", speeds), ("t", time))
        gains = [at(copies, time) for copies in range(1, COPIES + 1)]
        for copies in (2, COPIES):
            gain, half = gains[copies - 1].value, ERRORS * gains[copies - 1].error
            yield Value(place, "", f"g({copies}, t)", Estimate(gain, gain - half, gain + half, 2))
        yield Value(place, "", "Lemma 1", exactly(concave(gains)))
        yield Value(place, "", "Lemma 2", exactly(bounded(gains, process.peak, time)))
    rng, worst = default_rng(1), 0.0
    for _ in range(INSTANCES):
        jobs, servers = int(rng.integers(1, 60)), int(rng.integers(1, 12))
        simulated, formula = drain(jobs, servers, float(rng.uniform(0.1, 2)), rng)
        worst = max(worst, abs(simulated / formula - 1))
    yield Value((), "", "Lemma 5, rounded to 1e-9", exactly(round(worst, 9)))


def concave(gains: Sequence[GainEstimate]) -> bool:
    """Return whether Lemma 1 holds: g(r, t) - g(r - 1, t) never rises with the number r of copies,
    by more than ERRORS standard errors.

    `gains` has g(1, t), g(2, t) and so on, the mean work of the furthest of r copies in t.
    """
    steps = [
        (b.value - a.value, a.error + b.error) for a, b in pairwise((GainEstimate(0, 0), *gains))
    ]
    return all(b - a <= ERRORS * (ea + eb) + 1e-12 for (a, ea), (b, eb) in pairwise(steps))


def bounded(gains: Sequence[GainEstimate], peak: float, time: float) -> bool:
    """Return whether Lemma 2 holds: g(r, t) <= min(Delta t, r t), up to ERRORS standard errors.

    `gains` has g(1, t), g(2, t) and so on, the mean work of the furthest of r copies in `time`;
    `peak` is Delta, the largest speed.
    """
    return all(
        gain.value <= min(peak, copies) * time * (1 + 1e-12) + ERRORS * gain.error
        for copies, gain in enumerate(gains, 1)
    )


def drain(jobs: int, servers: int, epsilon: float, rng: Generator) -> tuple[float, float]:
    """Return the total flowtime of SRPT at speed 1 + epsilon when all `jobs` jobs are submitted at
    0 to `servers` servers, as simulated and by eq. 13.

    The sizes are drawn from the exponential law of mean 1; times are in time units.
    """
    sizes = sorted(rng.exponential(1, jobs).tolist())
    own = {
        "platform.workers": servers,
        "platform.augmentation": 1 + epsilon,
        "job.stream.arrivals.times": [0.0] * jobs,
        "job.stream.sizes.sizes": sizes,
    }
    found = Flowtimes()
    run(read(base("redundancy17/lemma5", own), "lemma 5"), [found])
    return found.total, srpt_drain(sizes, servers, 1 + epsilon)
