"""Ctrl-C against a run that is in the middle of something."""

from __future__ import annotations

import signal
import threading

import pytest

from sims.writing import HeldBack

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_it_interrupts_at_once_where_nothing_is_half_done() -> None:
    with HeldBack(), pytest.raises(KeyboardInterrupt):
        press()


def test_it_waits_for_what_is_half_done() -> None:
    done = []
    with HeldBack() as interrupt:
        interrupt.busy = True
        press()
        done.append("the rest")
        with pytest.raises(KeyboardInterrupt):
            interrupt.settle()
        interrupt.settle()  # once for one press
    assert done == ["the rest"]


def test_what_handled_it_before_handles_it_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with HeldBack():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_in_another_thread_it_leaves_the_handler_alone() -> None:
    handlers = []

    def enter() -> None:
        with HeldBack():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]


def test_where_it_is_ignored_it_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with HeldBack() as interrupt:
            press()
            interrupt.settle()
    finally:
        signal.signal(signal.SIGINT, before)
