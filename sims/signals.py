"""Handles Ctrl-C, SIGTERM and SIGHUP: a command ends with one line, however early, and leaves
nothing half done."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` is not imported: it would take as long as all else here
    from sys import UnraisableHookArgs
    from types import FrameType
    from typing import Any, NoReturn


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does: unfinished files are removed."""

    code = 143
    """Exit code of the process: 128 and the signal's number."""


class HungUp(Terminated):
    """SIGHUP, which says that the terminal is gone."""

    code = 129


USUAL: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
} | ({signal.SIGHUP: signal.SIG_DFL} if hasattr(signal, "SIGHUP") else {})
"""Maps each signal to the handler that it has where nobody has set one. Others stay as they are:
`nohup`, say, ignores SIGHUP."""
EXIT = os._exit
"""Ends the process at once, also where a command has replaced `os._exit`."""
SOON = 0.01
"""Seconds until a lost signal is sent again."""
GRACE = 1.0
"""Seconds for which a command waits for threads that a user's code has left running."""


@contextmanager
def heard() -> Iterator[None]:
    """Return a context in which signals end the process at once until `hear` is called; at its end
    all handlers are restored.

    Within it, a signal whose exception is raised where Python drops exceptions, as in `__del__`, is
    sent again.
    """
    before = {number: signal.getsignal(number) for number in USUAL}
    hook = sys.unraisablehook
    for number, handler in before.items():
        if handler is USUAL[number]:
            _set(number, _leave)
    sys.unraisablehook = _again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            _set(number, handler)


@contextmanager
def importing() -> Iterator[None]:
    """Return a context in which signals end the process at once, for blocks that only import
    modules.

    A module that is interrupted while it is imported may raise any exception, or none.
    """
    for number, handler in HANDLERS.items():
        if signal.getsignal(number) is handler:
            _set(number, _leave)
    try:
        yield
    finally:
        hear()


def hear() -> None:
    """Turn Ctrl-C, SIGTERM and SIGHUP into exceptions from now on, as all modules are imported."""
    for number, handler in HANDLERS.items():
        if signal.getsignal(number) is _leave:
            _set(number, handler)


def _set(number: signal.Signals, handler: Any) -> None:
    """Set a signal's handler, which only the main thread can do."""
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    how = b"interrupted" if number == signal.SIGINT else b"terminated"
    with suppress(OSError):  # its stderr may be closed
        os.write(2, b"holdfast: %s\n" % how)
    EXIT(128 + number)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated if number == signal.SIGTERM else HungUp


HANDLERS = {it: handler if it == signal.SIGINT else _terminate for it, handler in USUAL.items()}
"""Maps each signal to the handler that raises its exception. Others know Python's own handler of
Ctrl-C, and set theirs in its place."""


def _again(lost: UnraisableHookArgs) -> None:
    """Send a signal again whose exception was raised where Python drops it: as it destroys an
    object, or tells others of that."""
    error = lost.exc_value
    if not isinstance(error, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    code = error.code if isinstance(error, Terminated) else 128 + signal.SIGINT
    threading.Timer(SOON, os.kill, (os.getpid(), code - 128)).start()


def leave_threads(code: int) -> None:
    """End the process with this exit code, and say so in one line, if threads that a user's code
    has started, and that the interpreter would wait for, run on after GRACE."""
    main, end = threading.main_thread(), time.monotonic() + GRACE
    threads = [it for it in threading.enumerate() if it is not main and not it.daemon]
    for it in threads:
        it.join(max(end - time.monotonic(), 0))
    running = [it.name for it in threads if it.is_alive()]
    if running:
        from sims.errors import note

        note(f"left running: {', '.join(running)}, of the run's code")
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        EXIT(code)
