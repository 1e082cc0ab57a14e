"""No command sits silent: what takes long says so, wherever it is stuck."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TextIO, cast

FIRST, GROWTH = 8.0, 2.0
"""Where nobody watches: seconds until the first line, and what each wait is of the one before."""
SILENCE, WATCHED = 10.0, 3.0
"""Seconds after which whatever has said nothing is told of; of a terminal, before which somebody
sits. Later than FIRST: who tells of himself is not told of."""
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
        """What the thread does: a line after 8 s, 16 s, 32 s ..."""
        wait, before = FIRST, ""
        while not self._over.wait(wait):
            taken, line = self.taken, self.line()
            tell(taken, f"{line} ({self.stuck})" if line == before else line)
            wait, before = taken * (GROWTH - 1), line

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
    print(f"holdfast: {seconds:.0f} s: {line}", file=sys.stderr, flush=True)


class Heard:
    """A stream that knows when something was last written to it."""

    def __init__(self, stream: TextIO, hears: Callable[[], None]) -> None:
        self._stream, self._hears = stream, hears

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As the stream's own."""
        self._hears()
        return self._stream.write(text)


class Patience(Teller):
    """Tells of a command that says nothing itself."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self._command = command if len(command) <= SHOWN else f"{command[:SHOWN]} ..."
        self._heard = -1.0
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
            taken = self.taken
            if self._heard < taken / GROWTH:
                tell(taken, self.line())
            wait = taken * (GROWTH - 1)


@contextlib.contextmanager
def patience(words: Sequence[str]) -> Iterator[None]:
    """Within, this command never says nothing for long."""
    if sys.stderr is None or sys.stdout is None:  # closed by who started this process
        yield
        return
    watch = Patience(" ".join(words))
    out, err = (cast(TextIO, Heard(it, watch.hears)) for it in (sys.stdout, sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), watch:
        yield
