"""Holdfast from Python: `import holdfast; holdfast.run("volatile20.toml").jobs`.

The names that a user needs, out of the packages that hold them; each is imported when it is first
asked for, so that `import holdfast` itself costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sims.scenario.sections as sections
    from actors.decisions import BadDecision
    from actors.runtime import ActorFailed, Deadlock
    from sims.campaign.question import campaign, compare
    from sims.errors import InputError
    from sims.examples import example, examples
    from sims.plots.figure import Framing
    from sims.plots.pictures import Picture
    from sims.result import Result
    from sims.scenario.scenario import Scenario
    from sims.scenario.schema import schema
    from sims.session import Checked, FaultLaw, check, load, run

__all__ = [
    "ActorFailed",
    "BadDecision",
    "Checked",
    "Deadlock",
    "FaultLaw",
    "Framing",
    "InputError",
    "Picture",
    "Result",
    "Scenario",
    "campaign",
    "check",
    "compare",
    "example",
    "examples",
    "load",
    "open_log",
    "plot",
    "run",
    "schema",
    "sections",
    "trace",
]

HOMES = {
    "ActorFailed": "actors.runtime",
    "BadDecision": "actors.decisions",
    "Checked": "sims.session",
    "Deadlock": "actors.runtime",
    "FaultLaw": "sims.session",
    "Framing": "sims.plots.figure",
    "InputError": "sims.errors",
    "Picture": "sims.plots.pictures",
    "Result": "sims.result",
    "Scenario": "sims.scenario.scenario",
    "campaign": "sims.campaign.question",
    "check": "sims.session",
    "compare": "sims.campaign.question",
    "example": "sims.examples",
    "examples": "sims.examples",
    "load": "sims.session",
    "run": "sims.session",
    "schema": "sims.scenario.schema",
}
"""Name -> the module that has it."""


def __getattr__(name: str) -> Any:
    if name == "sections":
        return import_module("sims.scenario.sections")
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__


def open_log(path: str) -> Result:
    """The run that a log tells. Raises InputError where it is none."""
    from sims.result import Result

    return Result.of_log(path)


def plot(run: Result | str, what: str = "gantt", path: str | None = None) -> Any:
    """A picture of a result, or of a log: `gantt`, `jobs`, `ledger`, `bandwidth` or `queue`."""
    return (open_log(run) if isinstance(run, str) else run).plot(what, path)


def trace(run: Result | str, job: str) -> Any:
    """One job's life in a result, or in a log."""
    return (open_log(run) if isinstance(run, str) else run).trace(job)
