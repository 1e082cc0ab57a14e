"""Objects that a program gives in place of what a scenario file names."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.random import Generator
from pydantic import SkipValidation

from actors.hazards import Faults
from policies.interface import BatchPolicy, ServiceOrder
from sims.errors import InputError
from sims.scenario.faults import FaultFields, OwnFaults, SeveralFaults
from sims.scenario.master import MasterSection
from sims.scenario.platform import Platform
from sims.scenario.policies import with_objects
from sims.scenario.scenario import Scenario


class FaultLaw(Protocol):
    """What strikes workers: `[faults]` as an object, such as those of `sims.scenario.faults`."""

    @property
    def downtime(self) -> float:
        """How long a fault keeps a worker DOWN."""

    @property
    def mtbf(self) -> float:
        """Mean time between the faults of one worker, `inf` where nobody knows: what Young's and
        Daly's periods are worked out from."""

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault, in order of time."""


def with_given(
    scenario: Scenario,
    policy: Any = None,
    order: Any = None,
    allocation: Any = None,
    hazard: FaultLaw | None = None,
    service: ServiceOrder | None = None,
) -> Scenario:
    """The scenario with these objects, where they are not None. Raises TypeError, naming the
    argument."""
    for name, it in {
        "policy": policy,
        "order": order,
        "hazard": hazard,
        "service": service,
    }.items():
        if isinstance(it, type):
            raise TypeError(f"{name}: {it.__name__} is a class; accepted: an object, as it makes")
    scenario = with_policies(scenario, policy, order, allocation)
    if hazard is not None:
        if not all(hasattr(hazard, it) for it in ("faults", "downtime", "mtbf")):
            raise TypeError(f"hazard: {hazard!r} lacks faults(rng, workers), downtime or mtbf")
        if not isinstance(hazard, FaultFields | SeveralFaults):
            hazard = OwnFaults.model_construct(given=hazard, downtime=hazard.downtime)
        scenario = scenario.model_copy(update={"faults": hazard})
    return scenario if service is None else _served(scenario, service)


class _Served(MasterSection):
    """`[master]` whose order of service is a program's own."""

    order_given: SkipValidation[ServiceOrder]

    @property
    def served(self) -> str:
        """See MasterSection."""
        kind = type(self.order_given)
        return f"{kind.__module__}:{kind.__qualname__}"

    def service(self, platform: Platform, cap: float) -> ServiceOrder:
        """See MasterSection."""
        return self.order_given


def _served(scenario: Scenario, order: ServiceOrder) -> Scenario:
    if scenario.master is None:
        problem = "there is no master to serve anybody"
        raise InputError("call", "service", problem, "a scenario with a [master]")
    served = _Served(**dict(scenario.master), order_given=order)
    return scenario.model_copy(update={"master": served})


def with_policies(scenario: Scenario, policy: Any, order: Any, allocation: Any) -> Scenario:
    """The scenario with these objects in its `[policy]`, where they are not None."""
    if policy is not None and not (callable(policy) or isinstance(policy, BatchPolicy)):
        raise TypeError(
            f"policy: {policy!r} is none; accepted: a function, or an object of a policy"
        )
    given = {"name": policy, "order": order, "allocation": allocation}
    if isinstance(policy, BatchPolicy):
        given = {"name": policy.strategy, "order": policy.order, "allocation": policy.allocation}
    objects = {key: it for key, it in given.items() if it is not None}
    if not objects:
        return scenario
    return scenario.model_copy(update={"policy": with_objects(scenario.policy, objects)})
