"""Evaluate policies for spot or on-demand instances with a deadline: Can't Be Late (Wu et al., NSDI
2024).

--input is a folder or tar archive of spot-instance JSON; each folder in it is a zone. Start n of a
zone of k traces begins in trace n mod k, n div k days after its beginning; a trace that has ended
begins again. Without it zones follow Markov chains.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from policies.deadline import ON_DEMAND
from sims.campaign.results import Results
from sims.history.rows import Use
from sims.metrics.report import Report
from sims.papers.inputs import base, platforms
from sims.papers.values import Columns, Seen, Value, drawn, observed
from sims.readers.spot import turned_to

PRICES = {"spot": 0.9731, ON_DEMAND: 3.06}
"""Price of an hour of each kind of instance (p3.2xlarge)."""


def given(traces: str) -> dict[str, Any]:
    """Return the changes that traces make to the campaign: its axis `zone` has the zones at the
    path `traces`.

    Raises InputError where they cannot be read.
    """
    return {"axes": {"zone": list(platforms(traces))}}


def start(
    seed: int,
    zone: str,
    policy: str,
    deadline: float,
    work: float,
    changeover: float,
    traces: str = "",
) -> dict[str, Any]:
    """Return the scenario of start number `seed` in a zone, whose tick is the unit of time: one job
    with a deadline, on a spot instance or on one on demand, under a policy.

    `deadline`, `work` and `changeover`, the time to move to another instance, are in hours;
    `traces` is the path of the traces (empty: fitted chains). The period divides a tick and a
    changeover, so that a checkpoint, which costs nothing, is taken whenever an instance can be
    lost: a loss costs the changeover only.
    """
    spots = platforms(traces)[zone]
    hour = 60 / spots.tick
    if spots.traces:
        day, which = divmod(seed, len(spots.traces))
        states = turned_to(spots.traces[which], round(day * 24 * hour))
        availability: Any = {"kind": "letters", "states": states, "after": "repeat"}
    else:
        availability = spots.lives(seed, 0, 0)[seed % spots.size]
    workers = [{"name": kind, "price": price} for kind, price in PRICES.items()]
    own = {
        "seed": seed,
        "workers": workers,
        "workers.0.availability": availability,
        "job.jobs": [{"processors": 1, "time": work * hour, "deadline": deadline * hour}],
        "policy.name": policy,
        "policy.changeover": changeover * hour,
        "protection.period": 1 / Fraction(changeover * hour).limit_denominator(1000).denominator,
        "measures.hour": hour,
    }
    return base("published/deadline-base", own)


def spot_hours(report: Report) -> float:
    """Return the hours of work done on the spot worker, as a measure."""
    assert report.measures is not None and report.measures.hour
    # Rounded, because the sum may differ from the whole work by the rounding of decimals.
    return round(float(report.ledger.by_worker[0][Use.USEFUL]) / report.measures.hour, 9)


def view(results: Results) -> list[Value]:
    """Return means over all starts in all zones: costs relative to the work on demand alone, hours
    of work on demand and on spot, and the number of late starts."""

    def row(run: Seen) -> Columns:
        cost, spot, late = run.measured
        work = run.at["work"]
        alone = PRICES[ON_DEMAND] * work
        return {"cost": cost / alone, "h on demand": work - spot, "h on spot": spot, "late": late}

    return observed(results, row, {"late": lambda late: drawn(sum(late))}, "zone")
