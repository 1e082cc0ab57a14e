"""Ctrl-C and SIGTERM: one line, however early, and nothing half done left behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does: what is half done is put away."""


@contextmanager
def heard() -> Iterator[None]:
    """Until `hear` is called, Ctrl-C ends the process: a module that is interrupted while it is
    imported raises whatever it likes. Afterwards signals are handled as before."""
    alone = threading.current_thread() is threading.main_thread()
    if alone and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    term = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        _hear_ctrl_c()
        if alone:
            signal.signal(signal.SIGTERM, term)


def hear() -> None:
    """All is imported: Ctrl-C is an exception from now on, and so is SIGTERM where it would end
    the process."""
    _hear_ctrl_c()
    alone = threading.current_thread() is threading.main_thread()
    if alone and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def _hear_ctrl_c() -> None:
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    with suppress(OSError):  # its stderr may be closed
        os.write(2, b"holdfast: interrupted\n")
    os._exit(130)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated
