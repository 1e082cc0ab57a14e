"""Small clusters for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import evolve

from actors.redundant.assembly import ClusterPlan, spawn
from actors.redundant.job import Arrival
from actors.redundant.placement import PlacementRule
from actors.runtime import Record, System
from policies.interface.redundancy import RedundancyPolicy
from policies.maths.speeds import SpeedProcess
from policies.redundancy import SrptR
from sims.metrics.redundant import FlowtimeFold, Flowtimes

Trace = Iterable[tuple[float, float]]
STEADY: Trace = ((0.0, 1.0),)


def plan(policy: RedundancyPolicy | None = None, servers: int = 2, **changes: Any) -> ClusterPlan:
    """A cluster that places copies on the lowest servers."""
    base = ClusterPlan(policy=policy or SrptR(), servers=servers, placement=PlacementRule.LOWEST)
    return evolve(base, **changes)


def run(
    cluster: ClusterPlan,
    jobs: Iterable[tuple[float, float]],
    traces: Sequence[Trace] = (),
    records: list[Record] | None = None,
    seed: int = 0,
) -> Flowtimes:
    """Run jobs given as (arrival, size); servers without a trace have unit speed."""
    arrivals = [Arrival(f"{k}", *job) for k, job in enumerate(jobs)]
    paths = [iter(trace) for trace in (*traces, *[STEADY] * cluster.servers)][: cluster.servers]
    fold = FlowtimeFold()
    system = System(seed, [fold] if records is None else [fold, records.append])
    spawn(system, cluster, arrivals, len(arrivals), paths if cluster.gain is None else [])
    system.run()
    return fold.result()


def varied(
    policy: RedundancyPolicy,
    process: SpeedProcess,
    jobs: Sequence[tuple[float, float]],
    servers: int,
    seed: int,
) -> Flowtimes:
    """Run jobs on servers whose speeds are drawn from the streams of `seed`, placed at random."""
    system = System(seed)
    paths = [process.path(system.stream(f"speed {k}")) for k in range(servers)]
    cluster = plan(policy, servers, placement=PlacementRule.UNIFORM)
    return run(cluster, jobs, paths, seed=seed)
