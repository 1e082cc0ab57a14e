"""Compare fleets of servers, of which some are lemons, with AIReSim's published results."""

from __future__ import annotations

from typing import Any

from attrs import define, evolve

from actors.events import RepairOutcome, RunStarted
from actors.runtime import Event, Record
from sims.campaign.results import Results
from sims.history.summary import Summary
from sims.papers.inputs import base
from sims.papers.values import Columns, Seen, Value, observed

HOUR, DAY = 3600, 86400
LEMONS = 1
"""Number of the law of faults that strikes lemons, the nodes that fail more often than others."""


def default(seed: int, days: float) -> dict[str, Any]:
    """Return the scenario of AIReSim's default run, with `days` days of work."""
    own = {"seed": seed, "job.jobs.0.time": days * DAY}
    return base("published/fleet", own)


def retirement(seed: int, days: float, placement: str, rule: Any) -> dict[str, Any]:
    """Return the scenario of AIReSim's second regime, with `days` days of work.

    `placement` is the value of `policy.placement`, and `rule` that of `repair.retirement`, by which
    units are retired.
    """
    own = {
        "seed": seed,
        "job.jobs.0.time": days * DAY,
        "platform.workers": 4800,
        "faults.laws.0.mtbf": "50 d",
        "faults.laws.1.mtbf": "2.5 d",
        "faults.laws.1.share": 0.08,
        "repair.stages.0.fixes": 0.4,
        "repair.stages.1.fixes": 0.25,
        "repair.retirement": rule,
        "job.startup": "60 min",
        "policy.placement": placement,
    }
    return base("published/fleet", own)


# --- measures -------------------------------------------------------------------------------------


def hours(summary: Summary) -> float | None:
    """Return the time that the training takes, in hours; None if it does not end."""
    return None if summary.makespan is None else summary.makespan / HOUR


def faults(summary: Summary) -> float:
    """Return the number of faults of all laws; faults of what was in repair are not counted."""
    return float(sum(summary.repairs.failed.values()))


def faults_of_lemons(summary: Summary) -> float:
    """Return the number of faults that come by the law of the lemons, the nodes that fail more
    often."""
    return float(summary.repairs.failed[LEMONS])


def passed_on(summary: Summary) -> float:
    """Return the number of repairs that the first stage of repair handed on to the second."""
    return _ended(summary, RepairOutcome.PASSED_ON)


def fixed(summary: Summary) -> float:
    """Return the number of repairs that removed the cause of a fault."""
    return _ended(summary, RepairOutcome.FIXED)


def not_fixed(summary: Summary) -> float:
    """Return the number of repairs that ended without removing the cause of the fault."""
    return _ended(summary, RepairOutcome.NOT_FIXED)


def called(summary: Summary) -> float:
    """Return the number of workers that were called."""
    return float(summary.repairs.called)


def _ended(summary: Summary, outcome: RepairOutcome) -> float:
    ended = summary.repairs.ended.items()
    return float(sum(count for (_, how), count in ended if how is outcome))


@define
class Selections:
    """Counts the starts of runs for which workers were chosen anew, while it listens to a run."""

    wants: frozenset[type[Event]] = frozenset((RunStarted,))
    count: int = 0

    def __call__(self, record: Record) -> None:
        event = record.event
        self.count += isinstance(event, RunStarted) and event.keeps is None


def selections(found: Selections) -> float:
    """Return the number of times that workers were chosen anew for a run, without the choice for
    the first run."""
    return float(found.count - 1)


# --- views ----------------------------------------------------------------------------------------

COLUMNS = (
    *("training, h", "faults", "lemons' own faults", "handed on", "fixed", "not fixed"),
    *("selections", "reserve called"),
)
"""Names of the measures of `published/airesim`, in their order."""


TIMES = "training, h", "lemons' own faults"
"""Names of the measures of `published/airesim-retirement`, in their order."""


def totals(results: Results) -> list[Value]:
    """Return, for each setting, the training time in hours, the effective training ratio (ETR: the
    work over that time), and the numbers of faults and repairs.

    Policy and quantity change places in each value, so that the table has a row for each quantity.
    """

    def row(run: Seen) -> Columns:
        columns = dict(zip(COLUMNS, run.measured, strict=True))
        return columns | {"ETR": run.at["days"] * 24 / columns["training, h"]}

    found = observed(results, row, {})
    return [evolve(it, who=it.what, what=it.who) for it in found]


def times(results: Results) -> list[Value]:
    """Return the training time, and the number of faults of lemons, for each placement and rule of
    retirement. The faults vary much less from run to run than the time does."""
    return observed(results, lambda run: dict(zip(TIMES, run.measured, strict=True)), {})
