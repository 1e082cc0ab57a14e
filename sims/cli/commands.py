"""From the command line's words to a command; every user error is one line and exit code 2.
What its streams do not take is told in one line, a reader may leave early; and none sits silent."""

from __future__ import annotations

import os
import sys
import threading
import time
import tomllib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from io import TextIOWrapper
from math import inf
from pathlib import Path
from typing import Annotated, Any, Self, TextIO, TypeVar, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sims.cli.signals import hear
from sims.errors import InputError, note, visible
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


# --- its output ---------------------------------------------------------------------------------


T = TypeVar("T")

EVERY, GROWTH, STUCK = 10.0, 0.1, 0.5
"""Where nobody watches: seconds between two lines at least, and part of the time so far; that part
while nothing changes."""
SILENCE, WATCHED = 12.0, 3.0
"""Seconds after which whatever has said nothing is told of; of a terminal, before which somebody
sits. Later than EVERY: who tells of himself is not told of."""
SHOWN = 60
"""Characters of a command."""


class Teller(ABC):
    """Context manager: a thread tells on stderr how far something is, whatever it is doing."""

    stuck = "still the same"
    """Said where a line tells nothing new."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @abstractmethod
    def line(self) -> str:
        """How far it is."""

    @property
    def taken(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self._began

    def _watch(self) -> None:
        """What the thread does: a line every so often, more seldom while nothing changes."""
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
    """A line on stderr, after so many seconds."""
    note(f"{seconds:.0f} s: {line}")


class Patience(Teller):
    """Tells of a command that says nothing itself."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self._command = command if len(command) <= SHOWN else f"{command[:SHOWN]} ..."
        self._heard = -inf
        """Seconds after the beginning."""

    def line(self) -> str:
        """No more is known of it."""
        return f"still at `holdfast {self._command}`"

    def hears(self) -> None:
        """It said something."""
        self._heard = self.taken

    def _watch(self) -> None:
        wait = WATCHED if sys.stderr.isatty() else SILENCE
        while not self._over.wait(wait):
            silent, longest = self.taken - self._heard, max(SILENCE, STUCK * self.taken)
            wait = longest - silent  # of one that has said something since
            if wait <= 0:
                tell(self.taken, self.line())
                wait = max(SILENCE, self.taken)


class Output:
    """A stream that is heard of, and whose errors are InputErrors; but BrokenPipeError, which is
    no error, stays.

    After one, what else is printed is thrown away.
    """

    def __init__(self, name: str, stream: TextIO, hears: Callable[[], None]) -> None:
        self._name, self._stream, self._hears = name, stream, hears
        if isinstance(stream, TextIOWrapper):
            # What a terminal has no letter for is no reason to stop.
            stream.reconfigure(errors="backslashreplace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As the stream's own. Raises InputError, BrokenPipeError."""
        if text == "":  # with which Typer asks what kind of stream this is
            return 0
        self._hears()
        return self._done(lambda: self._stream.write(text))

    def flush(self) -> None:
        """As the stream's own. Raises InputError, BrokenPipeError."""
        self._done(self._stream.flush)

    def _done(self, step: Callable[[], T]) -> T:
        try:
            return step()
        except OSError as error:
            # What is left in its buffer would fail again where nobody can catch it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if isinstance(error, BrokenPipeError):
                raise
            problem = f"cannot be written: {error.strerror}"
            raise InputError(self._name, "", problem) from None


@contextmanager
def printing(words: Sequence[str]) -> Iterator[None]:
    """Within, the command's streams are `Output`s, and it never says nothing for long; at the end
    all is printed."""
    if sys.stderr is None or sys.stdout is None:  # closed by who started this process
        yield
        return
    watch = Patience(" ".join(words))
    out = cast(TextIO, Output("standard output", sys.stdout, watch.hears))
    err = cast(TextIO, Output("standard error", sys.stderr, watch.hears))
    with redirect_stdout(out), redirect_stderr(err), watch:
        try:
            yield
        finally:
            sys.stdout.flush()
