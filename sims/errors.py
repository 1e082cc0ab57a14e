"""The one error that a user of scenarios, logs and the command line meets; and how users are told,
whatever names are in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

COMMAND_LINE = "command line"
FAILED, MISUSED, UNJUDGED, INTERRUPTED = 1, 2, 3, 130
"""Exit codes."""


class AuditFailed(Exception):
    """The audit itself failed, which says nothing of the log; the command line prints it and exits
    with code 3."""


@frozen
class InputError(Exception):
    """What a user gave cannot be used.

    One line says where it stands, which key and value are meant, and what would be accepted;
    the command line prints it and exits with code 2.
    """

    source: str
    """File, or `command line`."""
    key: str
    """Dotted key or line number; empty where the whole file is meant."""
    problem: str
    """What is wrong, the value included."""
    accepted: str = ""
    """What would be accepted instead."""

    def __str__(self) -> str:
        where = f"{self.source}: {self.key}" if self.key else self.source
        line = f"{where}: {self.problem}"
        return visible(f"{line}; accepted: {self.accepted}" if self.accepted else line)


def unfit(key: str, problem: str, accepted: str = "") -> InputError:
    """The error of a scenario's own checks, which do not know where it came from: `naming` does."""
    return InputError("scenario", key, problem, accepted)


def visible(line: str) -> str:
    """The line as a terminal may show it: what is no letter of it is escaped, so that a name that a
    file brings cannot steer the terminal, or pass for a line of ours."""
    if line.isprintable():
        return line
    return "".join(it if it.isprintable() else repr(it)[1:-1] for it in line)


def show(*lines: object) -> None:
    """Print the lines, each as one, however long, whatever names are in it."""
    for line in lines:
        print(visible(str(line)))


def note(line: object) -> None:
    """Tell on stderr, in one line, what is no answer."""
    print(f"holdfast: {visible(str(line))}", file=sys.stderr, flush=True)


@contextmanager
def naming(file: Path | str) -> Iterator[None]:
    """Name `file` in errors of the scenario's own checks, which do not know where it came from."""
    try:
        yield
    except InputError as error:
        source = str(file) if error.source == "scenario" else error.source
        raise evolve(error, source=source) from None


def imported(library: str, source: str, command: str) -> Any:
    """A library that an extra brings. Raises InputError, naming the command that installs it, where
    it is missing."""
    try:
        return import_module(library)
    except ImportError:
        raise InputError(source, "", f"{library} is missing", command) from None
