"""The parameters of the order MULTIFACTOR: the keys of `[policy.parameters]` that are its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policies.queue.orders import MULTIFACTOR, WEEK, Favour, Multifactor
from sims.errors import unfit
from sims.tables import Section
from sims.tables.fields import Duration, NotNegative
from sims.tables.refusals import section_of


class MultifactorSection(Section):
    """`[policy.parameters]` under `order = "MULTIFACTOR"`: the weights of a job's factors, and what
    the factors count."""

    age: NotNegative = 0
    """Weight of the age, the wait over `age_max`, at most 1."""
    fair_share: NotNegative = 0
    """Weight of the fair share, 2^-(usage / share)."""
    size: NotNegative = 0
    """Weight of the size, the part of the platform's processors."""
    tier: NotNegative = 0
    """Weight of the tier of the job's partition over the highest."""
    age_max: Duration = WEEK
    """Wait from which on a job's age is 1, time units; default: a week of seconds."""
    half_life: Duration = WEEK
    """Time in which the weight of past usage halves, time units; default: a week of seconds."""
    favour: Favour = Favour.LARGE
    """Whether large jobs have the higher size factor, or small ones."""


OWN = tuple(MultifactorSection.model_fields)
"""Keys of `[policy.parameters]` that MULTIFACTOR takes; others are the policy's own."""


def of_order(order: str | None) -> str:
    """Return the names of the parameters that the order takes, for messages; empty for none."""
    return f"{order}'s: {', '.join(OWN)}" if order == MULTIFACTOR else ""


def of_policy(order: str | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the parameters that are not the order's, as the policy of that name gets
    them."""
    taken = OWN if order == MULTIFACTOR else ()
    return {key: value for key, value in parameters.items() if key not in taken}


def idle_factors(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key, reason) of each of the order's parameters that has no effect beside the
    others."""
    if parameters.get("tier"):
        yield "tier", "the queue is sorted by tier before it is by this order"
    for key, weight in (("age_max", "age"), ("half_life", "fair_share"), ("favour", "size")):
        if key in parameters and not parameters.get(weight):
            yield key, f"the weight `{weight}` is 0"


def multifactor(
    parameters: Mapping[str, Any], seconds: bool, tiers: Sequence[int] = ()
) -> Multifactor:
    """Return the order with those of the parameters that are its own. `seconds` says that times are
    seconds, so that texts such as `7 d` are accepted; `tiers` are those that jobs can have.

    Raises InputError for a parameter that it does not accept.
    """
    times: list[str] = []
    table = {key: value for key, value in parameters.items() if key in OWN}
    section = section_of(MultifactorSection, table, "scenario", "policy.parameters", times)
    if times and not seconds:
        problem = f"{times[0]!r} is a time in seconds, and the unit is a slot"
        raise unfit("policy.parameters", problem, "a number of slots")
    return Multifactor(**dict(section), tiers=tiers)
