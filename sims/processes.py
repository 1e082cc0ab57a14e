"""Starts processes of our own safely, and runs a user's code in one that is killed when it takes
longer than it may."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from sims.errors import InputError
from sims.writing import ENDING

T = TypeVar("T")

SAFE = "PYTHONSAFEPATH"
"""Variable of the environment that keeps Python from importing modules of the current folder."""


@contextmanager
def safe_path() -> Iterator[None]:
    """Keep a Python that is started within the block from importing modules of the current folder,
    which nothing names.

    Fork servers and spawned processes are started as `python -c`, which would import them. The
    block is short: afterwards the variable is as the user set it, also for what the user starts.
    """
    before = os.environ.get(SAFE)
    os.environ[SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE]
        else:
            os.environ[SAFE] = before


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Block the signals that end a command while processes may be started; they would otherwise run
    their parent's handlers."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def usual_signals() -> None:
    """Let a new process ignore Ctrl-C, and end it by the other signals that end a command.

    Ctrl-C goes to the whole process group; what it ends is up to the parent.
    """
    others = set(ENDING) - {signal.SIGINT}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in others:
        signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, others)


# --- a user's code ------------------------------------------------------------------------------

Tell = Callable[[float, Any], None]
"""Function that says how many seconds may pass until it is called again, and what is done
meanwhile."""

ORPHANED = 1.0
"""Seconds after which a process whose parent does not kill it in time ends by itself."""


class Unfinished(Exception):
    """Raised where a process has not finished its work."""

    def __init__(self, step: Any, code: int | None) -> None:
        super().__init__(step, code)
        self.step = step
        """Work that the process was doing, as it has said itself."""
        self.code = code
        """Exit code of a process that ended by itself, negative where a signal ended it; None where
        it took too long."""

    @property
    def how(self) -> str:
        """How a process that ended by itself has ended."""
        if self.code is not None and self.code < 0:
            return f"by signal {-self.code}"
        return f"with exit code {self.code}"


def watched(work: Callable[[Tell], T]) -> T:
    """Return what `work(tell)` returns in a process of its own, which is killed when more time
    passes than `tell` has said.

    Code in C that never returns to the interpreter, such as `sum(itertools.count())`, heeds no
    signal that Python handles. Raises Unfinished, or the InputError, MemoryError, OSError or
    KeyboardInterrupt that the work raises.
    """
    # A fork begins at once; elsewhere system libraries may not survive it, or there is none.
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(work, sender))
    try:
        with blocked_signals(), safe_path():
            process.start()
        sender.close()
        found = _received(receiver, process)
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
        receiver.close()
    if isinstance(found, BaseException):
        raise found
    return found  # type: ignore[no-any-return]


def _received(receiver: Connection, process: Any) -> Any:
    """Return the result of the work, or the error that it has raised. Raises Unfinished."""
    seconds, step, end = inf, None, False
    while not end:
        if not receiver.poll(None if seconds == inf else seconds):
            raise Unfinished(step, None)
        try:
            seconds, step, end = receiver.recv()
        except EOFError:
            process.kill()  # it may only have closed its files
            process.join()
            raise Unfinished(step, process.exitcode) from None
    return step


def _run(work: Callable[[Tell], Any], sender: Connection) -> None:
    """Do the work, and send what it does and its result; runs in the process."""
    usual_signals()
    timed = hasattr(signal, "setitimer")
    if timed:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def tell(seconds: float, step: Any, end: bool = False) -> None:
        _flush()  # what a process has not written when it is killed is lost
        if timed:
            signal.setitimer(signal.ITIMER_REAL, seconds + ORPHANED)
        sender.send((seconds, step, end))

    try:
        result: Any = work(tell)
        _flush()
    except (InputError, MemoryError, OSError, KeyboardInterrupt) as error:
        result = error
    tell(ORPHANED, result, end=True)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
