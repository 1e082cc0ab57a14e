"""Objects that a program gives in place of what a scenario file names."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.random import Generator
from pydantic import SkipValidation

from actors.hazards import Faults
from policies.interface import BatchPolicy, ServiceOrder
from sims.errors import InputError
from sims.scenario.faults import FaultFields, OwnFaults, SeveralFaults
from sims.scenario.platform import MasterSection, Platform
from sims.scenario.policy import with_objects
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
    arguments = {"policy": policy, "order": order, "hazard": hazard, "service": service}
    for name, it in arguments.items():
        if isinstance(it, type):
            raise TypeError(f"{name}: {it.__name__} is a class; accepted: an object, as it makes")
    changed: dict[str, Any] = {}
    if objects := _policies(policy, order, allocation):
        changed["policy"] = with_objects(scenario.policy, objects)
    if hazard is not None:
        changed["faults"] = _faults(hazard)
    if service is not None:
        changed["master"] = _served(scenario, service)
    return scenario.model_copy(update=changed) if changed else scenario


def _policies(policy: Any, order: Any, allocation: Any) -> dict[str, Any]:
    """Key of `[policy]` -> what is given in its place."""
    if isinstance(policy, BatchPolicy):
        policy, order, allocation = policy.strategy, policy.order, policy.allocation
    elif policy is not None and not callable(policy):
        problem = "is none; accepted: a function, or an object of a policy"
        raise TypeError(f"policy: {policy!r} {problem}")
    given = {"name": policy, "order": order, "allocation": allocation}
    return {key: it for key, it in given.items() if it is not None}


def _faults(hazard: FaultLaw) -> Any:
    if not all(hasattr(hazard, it) for it in ("faults", "downtime", "mtbf")):
        raise TypeError(f"hazard: {hazard!r} lacks faults(rng, workers), downtime or mtbf")
    if isinstance(hazard, FaultFields | SeveralFaults):
        return hazard
    return OwnFaults.model_construct(given=hazard, downtime=hazard.downtime)


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


def _served(scenario: Scenario, order: ServiceOrder) -> MasterSection:
    if scenario.master is None:
        problem = "there is no master to serve anybody"
        raise InputError("call", "service", problem, "a scenario with a [master]")
    return _Served(**dict(scenario.master), order_given=order)
