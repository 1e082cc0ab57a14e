"""Ctrl-C, held back while something must not be left half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class HeldBack:
    """Context manager: while `busy`, Ctrl-C waits for `settle`; otherwise it interrupts at once.

    Writing a log is such a thing: what a signal raises while orjson asks an enum for its value does
    not interrupt, it kills (orjson 3.13).
    In another thread than the main one, where Ctrl-C never arrives, it does nothing; nor where
    Ctrl-C is ignored.
    """

    def __init__(self) -> None:
        self.busy = False
        """Set while it must not interrupt."""
        self._pressed = False
        self._before: signal._HANDLER = None

    def settle(self) -> None:
        """It may interrupt again. Raises KeyboardInterrupt where it was asked to meanwhile."""
        self.busy = False
        if self._pressed:
            self._pressed = False
            raise KeyboardInterrupt

    def _press(self, number: int, frame: FrameType | None) -> None:
        if not self.busy:
            raise KeyboardInterrupt
        self._pressed = True

    def __enter__(self) -> HeldBack:
        heard = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        if heard and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
