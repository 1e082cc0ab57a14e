"""Handles Ctrl-C, SIGTERM and SIGHUP: a command ends with one line, however early, and leaves
nothing half done."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does: unfinished files are removed."""

    code = 143
    """Exit code of the process: 128 and the signal's number."""


class HungUp(Terminated):
    """SIGHUP, which says that the terminal is gone."""

    code = 129


ENDING = {signal.SIGTERM: Terminated} | (
    {signal.SIGHUP: HungUp} if hasattr(signal, "SIGHUP") else {}
)
"""Maps each signal to the exception that it raises."""


@contextmanager
def heard() -> Iterator[None]:
    """Let Ctrl-C end the process at once until `hear` is called; afterwards restore all handlers.

    A module that is interrupted while it is imported may raise any exception.
    """
    alone = threading.current_thread() is threading.main_thread()
    if alone and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    before = {number: signal.getsignal(number) for number in ENDING}
    try:
        yield
    finally:
        _hear_ctrl_c()
        for number, handler in before.items() if alone else ():
            signal.signal(number, handler)


def hear() -> None:
    """Turn Ctrl-C, SIGTERM and SIGHUP into exceptions from now on, as all modules are imported.

    SIGTERM and SIGHUP keep their handlers where they would not end the process.
    """
    _hear_ctrl_c()
    if threading.current_thread() is threading.main_thread():
        for number in ENDING:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _terminate)


def _hear_ctrl_c() -> None:
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    with suppress(OSError):  # its stderr may be closed
        os.write(2, b"holdfast: interrupted\n")
    os._exit(130)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise ENDING[signal.Signals(number)]
