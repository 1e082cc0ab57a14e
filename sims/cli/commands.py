"""Finds and runs the command that the command line names.

Every user error is one line and exit code 2. An error of the standard streams is one line too; a
reader may close the pipe early; and a command that prints nothing for long is reported.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import tomllib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from math import inf
from pathlib import Path
from typing import Annotated, Any, NoReturn, Self, TextIO, TypeVar, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sims.errors import FAILED, InputError, note, visible
from sims.options import call, command_of, guarded
from sims.signals import hear

COMMANDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""Maps each command to its module in this package and to the first line of its help."""

COMPLETION = "_HOLDFAST_COMPLETE"
"""Environment variable that a shell sets when it asks for completions."""


class Commands(TyperGroup):
    """Group of commands that imports a command when it is called, so that no command waits for the
    imports of others."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name of the command that `args` begin with, the command itself, imported only
        now, and the other arguments, as Typer asks of a group."""
        name, unloaded, rest = super().resolve_command(ctx, args)
        loaded = unloaded and load(name or "")
        hear()
        return name, loaded, rest


@cache
def load(name: str) -> Any:
    """Import and return the command of this name."""
    module = import_module(f"sims.cli.{COMMANDS[name]['module']}")
    declared = getattr(module, name.replace("-", "_"))
    return (
        get_command(declared) if isinstance(declared, typer.Typer) else command_of(declared, name)
    )


def _unloaded() -> None:
    """Stand in for a command in the list of all commands, which imports none."""


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


@cache
def _command_line() -> Any:
    names = {"help_option_names": ["-h", "--help"]}
    line = typer.Typer(cls=Commands, rich_markup_mode=None, context_settings=names)
    line.callback()(_holdfast)
    for name, entry in COMMANDS.items():
        line.command(name, help=entry["about"], short_help=entry["about"])(_unloaded)
    return get_command(line)


def run_command(words: Sequence[str] | None) -> int:
    """Run the command that these words name, or the process's own arguments where `words` is None;
    return its exit code."""
    warnings.formatwarning = _as_line
    # Looking for plug-ins of pydantic's reads what all installed packages say of themselves.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    given = sys.argv[1:] if words is None else words

    def body() -> int:
        with not_left(), printing(given):
            if COMPLETION in os.environ:
                _command_line().main([], prog_name="holdfast")
            return call(_command_line(), "holdfast", given)

    return guarded(body)


@contextmanager
def not_left() -> Iterator[None]:
    """Return a context in which `os._exit`, which only a user's code calls there, says so in one
    line and gives no exit code of success: nothing that the command promises is done by then."""
    leave, began = os._exit, os.getpid()

    def left(status: int) -> NoReturn:
        if os.getpid() == began:  # not a copy of the process, nor a worker's
            with suppress(OSError, InputError):
                note(f"the run failed: its code called os._exit({status}), and nothing is complete")
            status = status or FAILED
        leave(status)

    os._exit = left
    try:
        yield
    finally:
        os._exit = leave


def _as_line(message: Warning | str, *_: object, **__: object) -> str:
    """Format a warning as one line, without its place in the source."""
    return f"holdfast: {visible(str(message))}\n"


# --- its output ---------------------------------------------------------------------------------


T = TypeVar("T")

EVERY, GROWTH, STUCK = 10.0, 0.1, 0.5
"""Seconds between two reports at least, where stderr is no terminal; that interval as a part of the
time so far; and the same part while nothing changes."""
SILENCE, WATCHED = 12.0, 3.0
"""Seconds without output after which a command is reported as still running, and the same on a
terminal until the first report.

SILENCE exceeds EVERY: a command that reports its own progress is not reported.
"""
SHOWN = 60
"""Number of characters of a command that a report shows."""


class ProgressReporter(ABC):
    """Context manager whose thread reports progress on stderr, whatever the main thread does."""

    stuck = "still the same"
    """Remark on a line that reports nothing new."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @abstractmethod
    def line(self) -> str:
        """Return the present progress as a line."""

    @property
    def taken(self) -> float:
        """Seconds since the reporter was made."""
        return time.monotonic() - self._began

    def _watch(self) -> None:
        """Print the progress as a line on stderr now and then, until the reporter ends; runs in the
        thread.

        Two lines are EVERY seconds apart at least, and GROWTH of the time so far, or STUCK of it
        while nothing changes.
        """
        wait, before = EVERY, ""
        while not self._over.wait(wait):
            line = self.line()
            stuck = line == before
            tell(self.taken, f"{line} ({self.stuck})" if stuck else line)
            wait, before = max(EVERY, self.taken * (STUCK if stuck else GROWTH)), line

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join()


def tell(seconds: float, line: str) -> None:
    """Print a line on stderr with the seconds that have passed."""
    note(f"{seconds:.0f} s: {line}")


class SilenceWatch(ProgressReporter):
    """Reports on stderr that a command is still running, if it has printed nothing for long."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self._command = command if len(command) <= SHOWN else f"{command[:SHOWN]} ..."
        self._last_output = -inf
        """Time of the command's last output, in seconds since the beginning."""

    def line(self) -> str:
        """Return the name of the command; no more is known of its progress."""
        return f"still at `holdfast {self._command}`"

    def note_output(self) -> None:
        """Note that the command has printed something."""
        self._last_output = self.taken

    def _watch(self) -> None:
        wait = WATCHED if sys.stderr.isatty() else SILENCE
        while not self._over.wait(wait):
            silent, longest = self.taken - self._last_output, max(SILENCE, STUCK * self.taken)
            wait = longest - silent  # of one that has said something since
            if wait <= 0:
                tell(self.taken, self.line())
                wait = max(SILENCE, self.taken)


class Output:
    """A stream that calls `note_output` before each write, and whose errors are InputErrors with
    its name, except BrokenPipeError, which stays.

    After an error all further output is discarded.
    """

    def __init__(self, name: str, stream: TextIO, note_output: Callable[[], None]) -> None:
        self._name, self._stream, self._note_output = name, stream, note_output
        if isinstance(stream, TextIOWrapper):
            # What a terminal has no letter for is no reason to stop.
            stream.reconfigure(errors="backslashreplace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text to the stream and return its length. Raises InputError where it cannot be
        written, and BrokenPipeError where the reader is gone."""
        if text == "":  # with which Typer asks what kind of stream this is
            return 0
        self._note_output()
        return self._done(lambda: self._stream.write(text))

    def flush(self) -> None:
        """Flush the stream. Raises InputError where it cannot be written, and BrokenPipeError where
        the reader is gone."""
        self._done(self._stream.flush)

    def _done(self, step: Callable[[], T]) -> T:
        try:
            return step()
        except OSError as error:
            # What is left in its buffer would fail again at exit, where no handler can catch it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if isinstance(error, BrokenPipeError):
                raise
            problem = f"cannot be written: {error.strerror}"
            raise InputError(self._name, "", problem) from None


@contextmanager
def printing(words: Sequence[str]) -> Iterator[None]:
    """Replace stdout and stderr by `Output`s, and report that the command `words` is still running
    where it prints nothing for long.

    At the end, stdout is flushed. Where the parent process has closed stdout or stderr, nothing is
    replaced.
    """
    if sys.stderr is None or sys.stdout is None:  # closed by the parent process
        yield
        return
    watch = SilenceWatch(" ".join(words))
    out = cast(TextIO, Output("standard output", sys.stdout, watch.note_output))
    err = cast(TextIO, Output("standard error", sys.stderr, watch.note_output))
    with redirect_stdout(out), redirect_stderr(err), watch:
        try:
            yield
        finally:
            sys.stdout.flush()
