"""Standard output: what it does not take is told in one line, and a reader may leave early."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO, TypeVar, cast

from sims.errors import InputError

T = TypeVar("T")


class Output:
    """A stream whose errors are InputErrors; but BrokenPipeError, which is no error, stays.

    After one, what else is printed is thrown away.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As the stream's own. Raises InputError, BrokenPipeError."""
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
            raise InputError("standard output", "", problem) from None


@contextmanager
def printing() -> Iterator[None]:
    """Within, standard output is an `Output`; at the end all is printed."""
    if sys.stdout is None:  # closed by who started this process
        yield
        return
    with redirect_stdout(cast(TextIO, Output(sys.stdout))):
        try:
            yield
        finally:
            sys.stdout.flush()
