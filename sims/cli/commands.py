"""From the command line's words to a command; every user error is one line and exit code 2."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sims.cli.output import printing
from sims.cli.signals import hear
from sims.errors import visible
from sims.options import call, command_of
from sims.script import guarded

COMMANDS = {
    "run": ("running", "Simulate a scenario file and write an event log."),
    "campaign": (
        "campaigns",
        "Run a campaign file: many runs of a scenario, a table and a figure.",
    ),
    "papers": ("papers", "List, run and check the tables and figures of the five papers."),
    "compare": (
        "comparing",
        "Compare variants of a scenario on the same seeds, with confidence intervals.",
    ),
    "new": (
        "starting",
        "Print a file to begin with: a scenario, a policy or a hazard.",
    ),
    "check": (
        "running",
        "Check a scenario file without running it.",
    ),
    "check-policy": (
        "trials",
        "Test a policy of yours with random questions.",
    ),
    "examples": (
        "starting",
        "List the scenarios and campaigns that come with Holdfast, or copy some.",
    ),
    "summary": (
        "summary",
        "Summarise a log: makespan, flowtimes, and where the processor time went.",
    ),
    "trace": ("logs", "Print the history of one job, from a log."),
    "queue": ("logs", "Print the queue and the machine at an instant, from a log."),
    "why": ("logs", "Print the chain of causes that led to an event of a log."),
    "live": ("lives", "Run a scenario with real processes of Dask, in real time."),
    "reality": ("lives", "Predict runs of a scenario, then measure them with real processes."),
    "matrix": (
        "trials",
        "List the combinations of job, hazard, protection and communication.",
    ),
    "chaos": (
        "trials",
        "Repeat a scenario with injected failures, one in each run.",
    ),
    "audit": ("logs", "Check a log against the rules, without the simulator."),
    "export": ("exporting", "Export a log for other tools: Perfetto, evalys, pandas, polars."),
    "plot": (
        "exporting",
        "Draw a log: Gantt by processor or job, ledger, bandwidth or queue over time.",
    ),
    "view": (
        "exporting",
        "Make an HTML page of a log, to zoom in and to follow causes. It works offline.",
    ),
    "optimum": (
        "running",
        "Compute what a clairvoyant scheduler reaches on a small iterative scenario.",
    ),
    "policies": ("listing", "List the policies that scenarios can name."),
    "keys": (
        "listing",
        "List the keys of scenario files: type, default and meaning.",
    ),
}
"""The module here that each is in, and what its own help begins with."""

COMPLETION = "_HOLDFAST_COMPLETE"
"""What a shell that asks for completions sets."""


class Commands(TyperGroup):
    """Imports a command when it is called: none waits for what others need."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """As Typer's."""
        name, unloaded, rest = super().resolve_command(ctx, args)
        loaded = unloaded and load(name or "")
        hear()
        return name, loaded, rest


def load(name: str) -> Any:
    """The command of this name."""
    module = import_module(f"sims.cli.{COMMANDS[name][0]}")
    declared = getattr(module, name.replace("-", "_"))
    return (
        get_command(declared) if isinstance(declared, typer.Typer) else command_of(declared, name)
    )


def _unloaded() -> None:
    """Stands for a command where all are listed."""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # only now is what is installed looked at

        print(f"holdfast {version('holdfast')}")
        raise typer.Exit


def _holdfast(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="print the version and exit"
        ),
    ] = False,
) -> None:
    """A laboratory for scheduling parallel work on processors that fail."""


def _command_line() -> Any:
    names = {"help_option_names": ["-h", "--help"]}
    line = typer.Typer(cls=Commands, rich_markup_mode=None, context_settings=names)
    line.callback()(_holdfast)
    for name, (_, about) in COMMANDS.items():
        line.command(name, help=about, short_help=about)(_unloaded)
    return get_command(line)


def run_command(words: Sequence[str] | None) -> int:
    """Run the command that the words, or the process's own, are of; returns the exit code."""
    warnings.formatwarning = _told
    # Looking for plug-ins of pydantic's reads what all installed packages say of themselves.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    given = sys.argv[1:] if words is None else words

    def body() -> int:
        with printing(given):
            if COMPLETION in os.environ:
                _command_line().main([], prog_name="holdfast")
            return call(_command_line(), "holdfast", given)

    return guarded(body)


def _told(message: Warning | str, *_: object, **__: object) -> str:
    """A warning as one line, without the place in our code."""
    return f"holdfast: {visible(str(message))}\n"
