"""Enrolment policies for tightly-coupled iterations on volatile workers (002, section VI)."""

from __future__ import annotations

from policies.enrolment.criteria import Criterion
from policies.enrolment.fixed import FixedConfiguration
from policies.enrolment.incremental import Incremental
from policies.enrolment.proactive import Proactive
from policies.enrolment.random import Random
from policies.interface import EnrolmentPolicy

__all__ = [
    "ACCEPTED",
    "Criterion",
    "FixedConfiguration",
    "Incremental",
    "Proactive",
    "Random",
    "named",
]

ACCEPTED = "IP, IE, IY, IAY, RANDOM, or C-H with C one of P, E, Y, AY and H one of IP, IE, IY, IAY"


def named(name: str) -> EnrolmentPolicy:
    """The policy that the paper calls `name`; ValueError, with what is accepted, if none."""
    passive = {f"I{criterion.value}": Incremental(criterion) for criterion in Criterion}
    criteria = {criterion.value: criterion for criterion in Criterion}
    if name == "RANDOM":
        return Random()
    if name in passive:
        return passive[name]
    criterion, _, heuristic = name.partition("-")
    if criterion in criteria and heuristic in passive:
        return Proactive(criteria[criterion], passive[heuristic])
    raise ValueError(f"There is no enrolment policy {name!r}; accepted: {ACCEPTED}.")
