"""Ctrl-C, SIGTERM and SIGHUP: one line, however early, and nothing half done left behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does: what is half done is put away."""

    code = 143
    """Of the process's exit: 128 and the signal's number."""


class HungUp(Terminated):
    """SIGHUP: the terminal is gone."""

    code = 129


ENDING = {signal.SIGTERM: Terminated} | (
    {signal.SIGHUP: HungUp} if hasattr(signal, "SIGHUP") else {}
)
"""What each signal raises."""


@contextmanager
def heard() -> Iterator[None]:
    """Until `hear` is called, Ctrl-C ends the process: a module that is interrupted while it is
    imported raises whatever it likes. Afterwards signals are handled as before."""
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
    """All is imported: Ctrl-C is an exception from now on, and so are SIGTERM and SIGHUP where they
    would end the process."""
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
