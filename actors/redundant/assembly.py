"""Puts a cluster together from its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import field, frozen

from actors.redundant.cluster import Cluster
from actors.redundant.costs import Costs
from actors.redundant.events import ClusterDescribed
from actors.redundant.job import Arrival, Source
from actors.redundant.placement import PlacementRule, Placer
from actors.redundant.scheduler import Scheduler
from actors.redundant.server import Failures, Server
from actors.redundant.service import Service
from actors.runtime import System
from policies.interface.redundancy import RedundancyPolicy
from policies.maths.gains import Gain
from policies.maths.speeds import Change


@frozen(kw_only=True)
class ClusterPlan:
    """Everything that a cluster of redundant copies consists of."""

    policy: RedundancyPolicy
    servers: int
    """M."""
    placement: PlacementRule = PlacementRule.UNIFORM
    speed: float = 1.0
    """Speed augmentation: multiplies all service."""
    multitasking: bool = True
    gain: Gain | None = None
    """g(r, t): mean semantics, in which no server has a path of its own; None: sample path."""
    costs: Costs = field(factory=Costs)
    failures: Failures | None = None
    exact: bool = False
    """Rational arithmetic, where all times, sizes and speeds are Fractions: to check results."""


def spawn(
    system: System,
    plan: ClusterPlan,
    arrivals: Iterable[Arrival],
    expected: int,
    paths: Sequence[Iterator[Change]],
) -> None:
    """Spawn scheduler, cluster, servers and the source of jobs.

    `arrivals` are `expected` jobs in time order; `paths` are the servers' speeds, none under mean
    semantics.
    """
    _describe(system, plan)
    scheduler = Scheduler(
        "scheduler",
        plan.policy,
        plan.servers,
        expected,
        system.stream("policy"),
        plan.multitasking,
        plan.exact,
    )
    placer = Placer(plan.servers, plan.placement, system.stream("placement"))
    service = Service(plan.servers, plan.exact)
    cluster = Cluster("cluster", scheduler, service, placer, plan.costs, plan.speed, plan.gain)
    scheduler.cluster = cluster
    system.spawn(scheduler)
    system.spawn(cluster)
    for index, path in enumerate(paths):
        system.spawn(_server(system, plan, cluster, index, path))
    system.spawn(Source("source", scheduler, iter(arrivals)))


def _describe(system: System, plan: ClusterPlan) -> None:
    costs, mean = plan.costs, plan.gain is not None
    described = (float(plan.speed), mean, costs.checkpoint, costs.clone, costs.lost)
    system.journal.describe(ClusterDescribed, *described)


def _server(
    system: System, plan: ClusterPlan, cluster: Cluster, index: int, path: Iterator[Change]
) -> Server:
    name = server_name(index)
    rng = system.stream(f"{name}.failures") if plan.failures is not None else None
    return Server(name, cluster, index, path, plan.failures, rng)


def server_name(index: int) -> str:
    """Name of server `index`, which its streams of randomness go by as well."""
    return f"server-{index}"
