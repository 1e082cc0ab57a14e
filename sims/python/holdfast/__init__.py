"""Holdfast from Python: `import holdfast; holdfast.run("volatile20.toml").jobs`.

This package has the names that a user needs, from the packages that define them. Each is imported
at its first use, so that `import holdfast` itself costs nothing.
"""

# ruff: noqa: F405
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sims.scenario as sections
    from actors.decisions import BadDecision
    from actors.hazards import Faults, exponential_faults, weibull_faults
    from actors.runtime import ActorFailed, Deadlock
    from actors.runtime.simulate import clock, simulate
    from holdfast import actors, agents, live
    from holdfast.questions import campaign, compare, sensitivity, tune
    from policies.interface import *  # noqa: F403
    from sims.campaign.tables import Table
    from sims.errors import InputError
    from sims.examples import example, examples
    from sims.plots.figure import Framing
    from sims.plots.pictures import Picture
    from sims.readers.lemons import LemonFit, fit_lemons
    from sims.result import Result
    from sims.scenario import Scenario
    from sims.scenario.faults import FaultLaw
    from sims.scenario.keys import schema
    from sims.session import Checked, check, load, run


__all__ = [
    "ActiveJobs",
    "ActorFailed",
    "Allocation",
    "AllocationPolicy",
    "AllocationView",
    "Allotment",
    "BadDecision",
    "BatchAllocation",
    "BatchJob",
    "BatchPolicy",
    "BatchView",
    "CandidateView",
    "Cause",
    "Checked",
    "Configuration",
    "CopyAllocation",
    "Deadlock",
    "Decision",
    "Draw",
    "DueJob",
    "Enrolment",
    "EnrolmentPolicy",
    "EnrolmentView",
    "FaultLaw",
    "Faults",
    "FleetView",
    "Framing",
    "InputError",
    "KindPolicy",
    "LemonFit",
    "Offer",
    "Order",
    "Picture",
    "PlacementPolicy",
    "Queued",
    "Reason",
    "RedistributionPolicy",
    "RedistributionView",
    "RedundancyPolicy",
    "Reservation",
    "Resize",
    "Result",
    "RetirementPolicy",
    "RunningView",
    "Scenario",
    "ServiceOrder",
    "Sharing",
    "StartView",
    "Strategy",
    "Table",
    "Waiting",
    "Wake",
    "WorkerRecord",
    "actors",
    "agents",
    "campaign",
    "check",
    "clock",
    "compare",
    "example",
    "examples",
    "exponential_faults",
    "fit_lemons",
    "live",
    "load",
    "open_log",
    "plot",
    "run",
    "schema",
    "sections",
    "sensitivity",
    "simulate",
    "trace",
    "tune",
    "weibull_faults",
]

INTERFACE = "policies.interface"
HOMES = {
    "ActorFailed": "actors.runtime",
    "BadDecision": "actors.decisions",
    "Checked": "sims.session",
    "Deadlock": "actors.runtime",
    "FaultLaw": "sims.scenario.faults",
    "Faults": "actors.hazards",
    "Framing": "sims.plots.figure",
    "InputError": "sims.errors",
    "LemonFit": "sims.readers.lemons",
    "Picture": "sims.plots.pictures",
    "Result": "sims.result",
    "Scenario": "sims.scenario",
    "Table": "sims.campaign.tables",
    "campaign": "holdfast.questions",
    "check": "sims.session",
    "clock": "actors.runtime.simulate",
    "compare": "holdfast.questions",
    "example": "sims.examples",
    "examples": "sims.examples",
    "exponential_faults": "actors.hazards",
    "fit_lemons": "sims.readers.lemons",
    "load": "sims.session",
    "run": "sims.session",
    "schema": "sims.scenario.keys",
    "sensitivity": "holdfast.questions",
    "simulate": "actors.runtime.simulate",
    "tune": "holdfast.questions",
    "weibull_faults": "actors.hazards",
}
"""Maps a name to the module that defines it, where that is not INTERFACE."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("sims")  # makes Holdfast's packages found, whatever lies beside the notebook
    if name in ("actors", "agents", "live"):
        return import_module(f"holdfast.{name}")
    if name == "sections":
        return import_module("sims.scenario")
    return getattr(import_module(HOMES.get(name, INTERFACE)), name)


def __dir__() -> list[str]:
    return __all__


def open_log(path: str) -> Result:
    """Return the result of the run whose log is at `path`, as `run` returns it.

    Raises InputError where the file is no log.
    """
    return __getattr__("Result").of_log(path)  # type: ignore[no-any-return]


def plot(run: Result | str, what: str = "gantt", path: str | None = None) -> Any:
    """Draw a run, or the run of the log at a path: `gantt`, `jobs`, `ledger`, `bandwidth`, `queue`
    or `repairs`. Write the picture to `path` and return that, or return the picture for a notebook
    to show.

    A path in place of one of these words is where the Gantt chart is written.
    """
    return (open_log(run) if isinstance(run, str) else run).plot(what, path)


def trace(run: Result | str, job: str) -> Any:
    """Return the life of the job named `job` in a run, or in the run of the log at a path: where
    its time went, and which event caused which."""
    return (open_log(run) if isinstance(run, str) else run).trace(job)
