"""No command sits silent."""

from __future__ import annotations

import sys
import time

import pytest

from sims.cli import output
from sims.cli.output import Patience, printing
from sims.cli.progress import Count
from tests.sims.cli.commands import TINY, Shell

SLEEPY = """
import time
class Slow:
    def __init__(self): time.sleep({seconds})
    def __call__(self, view, rng): return None
"""


def test_a_command_that_says_nothing_is_told_of_again_and_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "SILENCE", 0.1)
    shell.write(SLEEPY.format(seconds=0.7), "dozing.py")
    path = shell.write(TINY.replace('"IE"', '"dozing:Slow"'))
    said = shell("check", path, "--load")
    sys.modules.pop("dozing", None)
    lines = said.err.splitlines()
    assert said.code == 0
    assert len(lines) >= 2
    assert all(" s: still at `holdfast check /" in line for line in lines)


def test_one_that_says_something_now_and_then_is_not_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "SILENCE", 0.5)
    with printing(["compare", "it.toml"]):
        for _ in range(35):
            print("working", file=sys.stderr)
            time.sleep(0.02)
    assert set(capsys.readouterr().err.splitlines()) == {"working"}


def test_one_that_falls_silent_is_told_of_as_long_after_its_last_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "SILENCE", 1.0)
    with printing(["reality", "it.toml"]):
        time.sleep(0.6)
        print("calibration", file=sys.stderr)
        time.sleep(1.25)
    assert "still at `holdfast reality it.toml`" in capsys.readouterr().err


def test_where_nobody_watches_a_campaign_counts_what_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "EVERY", 0.1)
    with Count("it", "run") as count:
        time.sleep(0.15)
        count(3, 1200)
        time.sleep(0.4)
    lines = [line.partition(" s: ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines[0] == "it: setting up"
    assert "it: 3 of 1,200 runs done" in lines


def test_what_is_printed_passes_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with printing(["keys"]):
        print("out")
        print("err", file=sys.stderr)
    assert capsys.readouterr() == ("out\n", "err\n")


def test_of_a_long_command_only_the_beginning_is_told() -> None:
    assert Patience("run " + "x" * 100).line() == f"still at `holdfast run {'x' * 56} ...`"
