"""From the command line's words to a command; every user error is one line and exit code 2."""

from __future__ import annotations

import os
import sys
import tomllib
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sims.cli.output import printing
from sims.cli.signals import hear
from sims.errors import visible
from sims.options import call, command_of, guarded

COMMANDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
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
    module = import_module(f"sims.cli.{COMMANDS[name]['module']}")
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
    for name, told in COMMANDS.items():
        line.command(name, help=told["about"], short_help=told["about"])(_unloaded)
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
