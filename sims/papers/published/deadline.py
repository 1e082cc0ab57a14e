"""Spot or on-demand, with a deadline: the policies of Can't Be Late (Wu et al., NSDI 2024).

--input is a folder or tar archive of spot-instance JSON; each folder in it is a zone. Start n of a
zone of k traces begins in trace n mod k, n div k days after its beginning; a trace that has ended
begins again. Without it zones follow Markov chains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from policies.deadline import ON_DEMAND
from sims.campaign.results import Results
from sims.ledger import Use
from sims.papers.spot_platforms import SpotPlatform, fitted, real
from sims.papers.values import Place, Value, drawn, estimated, without
from sims.readers.spot import turned_to
from sims.report import Report

PRICES = {"spot": 0.9731, ON_DEMAND: 3.06}
"""Of an hour (p3.2xlarge)."""


@cache
def _zones(traces: str) -> Mapping[str, SpotPlatform]:
    return {it.name: it for it in (real(Path(traces)) if traces else [fitted()])}


def given(traces: str) -> dict[str, Any]:
    """The traces' zones, for the campaign. Raises InputError."""
    return {"axes": {"zone": list(_zones(traces))}}


def start(
    seed: int,
    zone: str,
    policy: str,
    deadline: float,
    work: float,
    changeover: float,
    traces: str = "",
) -> dict[str, Any]:
    """One start in a zone, whose tick is the unit of time; times in hours."""
    spots = _zones(traces)[zone]
    hour = 60 / spots.tick
    if spots.traces:
        day, which = divmod(seed, len(spots.traces))
        states = turned_to(spots.traces[which], round(day * 24 * hour))
        life: Any = {"kind": "letters", "states": states, "after": "repeat"}
    else:
        life = spots.lives(seed, 0, 0)[seed % spots.size]
    workers = [{"name": kind, "price": price} for kind, price in PRICES.items()]
    workers[0]["availability"] = life
    job = {"processors": 1, "time": work * hour, "deadline": deadline * hour}
    return {
        "name": "deadline",
        "seed": seed,
        "unit": "slot",
        "workers": workers,
        "job": {"kind": "rigid", "jobs": [job]},
        # nothing is lost: changeovers and ticks are whole numbers of its periods
        "protection": {"kind": "images", "period": 0.2},
        "policy": {"name": policy, "changeover": changeover * hour, "every": 1},
        "measures": {"hour": hour},
    }


def spot_hours(report: Report) -> float:
    """Measure: hours of work done on the spot worker."""
    assert report.measures is not None and report.measures.hour
    # rounded: its sum differs from the whole work by what decimals do
    return round(float(report.ledger.by_worker[0][Use.USEFUL]) / report.measures.hour, 9)


def view(results: Results) -> list[Value]:
    """View: means over all starts in all zones: costs, that of the work itself on demand being 1;
    hours of work on demand and on spot; starts that are late."""
    fixed, rows = results.campaign.set, defaultdict[tuple[Place, str], list[list[float]]](list)
    for (case, _), result in results.finished():
        measured = [result.values[name] for name in results.campaign.measures]
        rows[without(case.point, "zone"), case.variant].append([it or 0.0 for it in measured])
    found = list[Value]()
    for (place, who), starts in rows.items():
        costs, spot, late = map(list, zip(*starts, strict=True))
        alone = PRICES[ON_DEMAND] * fixed["work"]
        found += [
            Value(place, who, "cost", estimated([it / alone for it in costs])),
            Value(place, who, "h on demand", estimated([fixed["work"] - it for it in spot])),
            Value(place, who, "h on spot", estimated(spot)),
            Value(place, who, "late", drawn(sum(late))),
        ]
    return found
