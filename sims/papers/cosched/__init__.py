"""malleable17: malleable applications under faults: section 4's examples, figures 7 to 16."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from policies.pack import LookAhead
from sims.campaign.results import Results
from sims.papers.values import Place, Value, estimated, exactly, ratios
from sims.scenario.faults import YEAR

FAULT_FREE = "fault-free EndLocal"
"""The optimistic bound of the figures: no fault, no checkpoint, redistribution at ends."""
LARGEST = 2_500_000.0
"""m_sup, data units."""
EXAMPLES = {
    "first": (((10.0, 9.0, 6.0), (6.0, 3.0)), ("8", "7.2")),
    "second": (((10.0, 6.0, 5.0), (6.0, 3.0)), ("6", "6.5")),
}
"""Times on 1, 2, 3 processors; makespans under Opt-NoRedistrib and GreedySpeedupProfile."""


def pack(
    policy: str,
    seed: int,
    smallest: float = 1_500_000.0,
    applications: int = 100,
    processors: int = 1000,
    mtbf_years: float = 100.0,
    unit: float = 1.0,
    sequential: float = 0.08,
    faults: bool = True,
    look: str = LookAhead.NEXT_PAIR.value,
) -> dict[str, Any]:
    """Section 6.1's setting: the defaults are the paper's; `unit` is c in s per data unit.

    Points of a curve get packs and faults of their own: with the same ones, scaled, a mean over the
    points would hardly be surer than a single point. Policies of a point share them.
    """
    place = (smallest, applications, processors, mtbf_years, unit, sequential, faults)
    first = int.from_bytes(blake2b(repr(place).encode(), digest_size=4).digest())
    drawn = {"count": applications, "smallest": smallest, "largest": LARGEST, "seed": first + seed}
    faulty = {
        "faults": {"kind": "exponential", "mtbf": mtbf_years * YEAR},
        "protection": {"kind": "buddies", "period": "young"},
    }
    return {
        "name": "malleable17",
        "seed": first,
        "platform": {"workers": processors},
        "job": {
            "kind": "malleable",
            "synthetic": drawn,
            "speedup": {"kind": "synthetic", "fraction": sequential},
        },
        "link": {"unit": unit},
        **(faulty if faults and policy != FAULT_FREE else {}),
        "policy": {"name": policy.removeprefix("fault-free "), "look": look},
    }


def example(which: str) -> dict[str, Any]:
    """One of section 4's: two applications on three processors; redistribution is free."""
    times, _ = EXAMPLES[which]
    return {
        "name": f"malleable17-{which}",
        "platform": {"workers": 3},
        "job": {
            "kind": "malleable",
            "pair": 1,
            "jobs": [
                {"footprint": 0.0, "speedup": {"kind": "table", "times": list(row)}}
                for row in times
            ],
        },
        "link": {"unit": 0.0},
        "policy": {"name": "EndLocal"},
    }


# --- views ------------------------------------------------------------------------------------


def examples(results: Results) -> list[Value]:
    """Makespans beside the paper's."""
    return [
        Value(cell.point, line.variant, "makespan", exactly(line.mean.mean), printed)
        for cell in results.comparisons()
        for line, printed in zip(cell.lines, EXAMPLES[dict(cell.point)["which"]][1], strict=True)
    ]


def figure(results: Results) -> list[Value]:
    """Makespans over those without redistribution, and each part's mean gain over its points."""
    found = ratios(results)
    parts: dict[tuple[Place, str], list[float]] = {}
    for it in found:
        parts.setdefault((it.place[:1], it.who), []).append(100 * (1 - it.ours.mean))
    gains = (Value(*part, "mean gain, %", estimated(gain)) for part, gain in parts.items())
    return [*found, *gains]


def figure10(results: Results) -> list[Value]:
    """The same, with the mean gains that the paper states over all parts."""
    stated = {"IteratedGreedy": "25", "ShortestApplicationsFirst-EndLocal": "15"}
    found = figure(results)
    return found + [
        Value((), who, "mean gain, %", estimated(_gains(found, who)), printed)
        for who, printed in stated.items()
    ]


def _gains(found: list[Value], who: str) -> list[float]:
    own = (it for it in found if it.what == "ratio" and it.who.startswith(who))
    return [100 * (1 - it.ours.mean) for it in own]
