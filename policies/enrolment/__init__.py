"""Implements enrolment policies for tightly-coupled iterations on volatile workers (volatile13,
section VI)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from policies.enrolment.passive import FixedConfiguration, Incremental, Random
from policies.enrolment.proactive import Proactive
from policies.enrolment.tree import Criterion
from policies.interface import EnrolmentPolicy

__all__ = [
    "ACCEPTED",
    "CATALOGUE",
    "Criterion",
    "FixedConfiguration",
    "Incremental",
    "Proactive",
    "Random",
    "named",
]

ACCEPTED = "IP, IE, IY, IAY, RANDOM, or C-H with C one of P, E, Y, AY and H one of IP, IE, IY, IAY"

GOALS = {
    Criterion.P: "probability of success",
    Criterion.E: "expected completion time",
    Criterion.Y: "yield P/(t+E)",
    Criterion.AY: "apparent yield P/E",
}
"""Maps each criterion to the quantity that it optimises, in words."""


def _catalogue() -> Iterator[tuple[str, str]]:
    for criterion, goal in GOALS.items():
        yield (
            f"I{criterion.value}",
            f"passive: task by task, for the best {goal} (volatile13, section VI.A)",
        )
    yield "RANDOM", "passive: each task to a worker drawn at random (volatile13, section VI)"
    for criterion, goal in GOALS.items():
        # AY changes too often to be kept (volatile13, section VI.B)
        if criterion is not Criterion.AY:
            for heuristic in Criterion:
                name = f"I{heuristic.value}"
                line = (
                    f"proactive: changes to {name}'s choice for a better {goal} (volatile13, "
                    "section VI.B)"
                )
                yield f"{criterion.value}-{name}", line


CATALOGUE: Mapping[str, str] = MappingProxyType(dict(_catalogue()))
"""Maps the name of each of the paper's 17 heuristics to a line that says what it does and where it
is defined."""


def named(name: str) -> EnrolmentPolicy:
    """Return the enrolment policy that volatile13 calls `name`, such as IE, RANDOM or Y-IE. Raises
    ValueError, which lists the accepted names, for any other name."""
    if name == "RANDOM":
        return Random()
    criterion, dash, heuristic = name.rpartition("-")
    passive = {f"I{each.value}": Incremental(each) for each in Criterion}.get(heuristic)
    if passive and not dash:
        return passive
    if passive and criterion in {each.value for each in Criterion}:
        return Proactive(Criterion(criterion), passive)
    raise ValueError(f"There is no enrolment policy {name!r}; accepted: {ACCEPTED}.")
