"""The command line: `holdfast run`, `summary`, `trace`, `policies`."""

import os
import signal
import threading
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes, as a shell has them."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    if threading.current_thread() is not threading.main_thread():
        return _command(words)
    # A module that is interrupted while it is imported raises whatever it likes.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    term = signal.getsignal(signal.SIGTERM)
    try:
        return _command(words)
    finally:
        signal.signal(signal.SIGTERM, term)
        _hear_ctrl_c()


def _command(words: Sequence[str] | None) -> int:
    from sims.cli.commands import run_command

    return run_command(words)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"holdfast: interrupted\n")
    os._exit(INTERRUPTED)


def _hear_ctrl_c() -> None:
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def hear() -> None:
    """All is imported: Ctrl-C is an exception from now on, and so is SIGTERM where it would end
    the process."""
    from sims.writing import terminate

    _hear_ctrl_c()
    main_thread = threading.current_thread() is threading.main_thread()
    if main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)
