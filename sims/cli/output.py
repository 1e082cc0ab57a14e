"""Standard output and stderr: what they do not take is told in one line, a reader may leave early;
and no command sits silent."""

from __future__ import annotations

import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import TextIOWrapper
from math import inf
from types import TracebackType
from typing import Any, Self, TextIO, TypeVar, cast

from sims.errors import InputError, note

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
