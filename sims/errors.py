"""The error that users of scenarios, logs and the command line meet, and safe output of texts that
files bring."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve, frozen

E = TypeVar("E", bound=Enum)

COMMAND_LINE = "command line"
FAILED, MISUSED, UNJUDGED, ENDLESS, INTERRUPTED = 1, 2, 3, 4, 130
"""Exit codes of the commands; ENDLESS is that of an audit in which every law holds, of a log that
has no end."""


class AuditFailed(Exception):
    """Raised where the audit itself fails, which means nothing for the log; the command line prints
    the error and exits with code 3."""


@frozen
class InputError(Exception):
    """Raised where something that a user gave cannot be used.

    One line names the place, the key and the value, and what would be accepted; the command line
    prints this line and exits with code 2.
    """

    source: str
    """Path of the file, or `command line`."""
    key: str
    """Dotted key or line number; empty where the whole file is meant."""
    problem: str
    """Description of the problem, with the value."""
    accepted: str = ""
    """Value or form that would be accepted instead."""

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str, str]]:
        # An exception is restored attribute by attribute, which a frozen one refuses: a worker's
        # error would reach the command as some other.
        return InputError, (self.source, self.key, self.problem, self.accepted)

    def __str__(self) -> str:
        where = f"{self.source}: {self.key}" if self.key else self.source
        line = f"{where}: {self.problem}"
        return visible(f"{line}; accepted: {self.accepted}" if self.accepted else line)


def unfit(key: str, problem: str, accepted: str = "") -> InputError:
    """Return the InputError of a check of a scenario, which does not know the scenario's file: its
    source is `scenario`, and `naming` puts the file in its place."""
    return InputError("scenario", key, problem, accepted)


def chosen(kind: type[E], word: object) -> E:
    """Return the member of the enum `kind` that `word` is, or that has `word` as its value.

    Raises InputError for another word.
    """
    try:
        return kind(word)
    except ValueError:
        accepted = ", ".join(str(it.value) for it in kind)
        raise InputError("call", kind.__name__.lower(), f"{word!r} is none", accepted) from None


def visible(line: str) -> str:
    """Return the line as a terminal may show it, with unprintable characters escaped.

    A name from a file can then neither steer the terminal nor pass for a line of Holdfast's.
    """
    if line.isprintable():
        return line
    return "".join(it if it.isprintable() else repr(it)[1:-1] for it in line)


def show(*lines: object) -> None:
    """Print each line as one line, with unprintable characters escaped."""
    for line in lines:
        print(visible(str(line)))


def note(line: object) -> None:
    """Print one line on stderr: a message that is not part of the answer."""
    print(f"holdfast: {visible(str(line))}", file=sys.stderr, flush=True)


@contextmanager
def naming(file: Path | str) -> Iterator[None]:
    """Return a context in which an InputError whose source is `scenario` gets `file` as its source.

    Checks of a scenario, and pictures of a log, do not know their file.
    """
    try:
        yield
    except InputError as error:
        source = str(file) if error.source == "scenario" else error.source
        raise evolve(error, source=source) from None


def imported(library: str, source: str, command: str) -> Any:
    """Import and return a library that comes with an extra, by the name of its module.

    Raises InputError where the library is missing. Its `source` names what needs the library, and
    `command` is the command that installs it.
    """
    try:
        return import_module(library)
    except ImportError:
        raise InputError(source, "", f"{library} is missing", command) from None
