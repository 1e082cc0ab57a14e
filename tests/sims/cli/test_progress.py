"""What a long run says meanwhile: no command sits silent."""

from __future__ import annotations

import io
import os
import pty
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from actors.events import ScenarioStarted
from sims.cli import commands, progress
from sims.cli.commands import SilenceWatch, printing
from sims.cli.live import ShowLive
from sims.cli.progress import Count, ShowProgress
from tests.sims.cli.commands import TINY, Shell, ended, environment, spawn
from tests.sims.kinds import records_of


def sleepy(shell: Shell, seconds: float) -> Path:
    """A scenario of two slots whose policy thinks for so long."""
    code = f"import time\ndef slow(view, rng):\n    time.sleep({seconds})\n"
    shell.write(code, "sleepy.py")
    text = TINY.replace('"IE"', '"sleepy:slow"')
    return shell.write(text.replace("iterations", "cap = 2\niterations"))


DOZING = """
import time
class Slow:
    def __init__(self): time.sleep(0.7)
    def __call__(self, view, rng): return None
"""


def test_where_nobody_watches_a_line_shows_how_far_a_run_is_even_while_a_policy_thinks(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "EVERY", 0.1)
    said = shell("run", sleepy(shell, 0.5), "--log", "none")
    lines = said.err.splitlines()
    assert said.code == 0
    assert lines[0].startswith("holdfast: 0 s: time ")
    assert "of 2 slots, 0 of 1 job done" in lines[0]
    assert any("a policy is thinking" in line for line in lines[1:])


def test_a_terminal_shows_the_run_from_the_first_second(shell: Shell) -> None:
    ours, theirs = pty.openpty()
    screen = environment(TERM="xterm", COLUMNS="100")
    words = ("run", sleepy(shell, 1.0), "--log", "none", "--live")
    said = ended(spawn(*words, stderr=theirs, env=screen))
    os.close(theirs)
    shown = os.read(ours, 1 << 20).decode()
    assert "tiny: time " in shown
    assert "1 waiting: application" in shown
    assert "tiny, seed 0" in said.out


def test_how_much_is_left_is_reported_where_the_end_is_known() -> None:
    shown = ShowProgress("it", "s", end=100)
    assert shown.line() == "setting up the run"
    shown.begins(4, lambda: 25.0)
    assert shown.part == 0.25
    assert shown.line().startswith("time 25 of 100 s, 0 of 4 jobs done, about ")


@pytest.mark.parametrize("name", ["figure1", "redundant", "batch-faults", "malleable10"])
def test_the_live_view_counts_workers_and_jobs_as_the_log_does(name: str) -> None:
    records = records_of(name)
    header = records[0].event
    assert isinstance(header, ScenarioStarted)
    shown = ShowLive(name, header.unit, float("inf"), header.processors)
    shown.begins(1, lambda: 0.0)
    console = Console(file=io.StringIO(), width=100)
    busy = 0
    for record in records:
        if type(record.event) in shown.wants:
            shown(record)
        states = shown.states()
        assert len(states) == header.processors
        busy = max(busy, states.count("busy"))
        if record.seq % 50 == 0:
            console.print(shown.picture())
    assert busy > 0
    assert shown.states().count("busy") == 0
    assert not shown.waiting()


@pytest.mark.parametrize(
    ("taken", "left"), [(1, "3 s"), (50, "2 min"), (1000, "50 min"), (4e3, "3 h"), (4e6, "3,333 h")]
)
def test_time_left_is_reported_in_the_unit_that_fits(
    taken: float, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = ShowProgress("it", "s", end=100)
    shown.begins(4, lambda: 25.0)
    monkeypatch.setattr(ShowProgress, "taken", taken)
    assert shown.line().endswith(f"about {left} left")


def test_runs_known_from_a_store_do_not_count_for_the_time_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = Count("it")
    monkeypatch.setattr(Count, "taken", 5.0)
    shown(60, 100)
    assert shown.line() == "it: 60 of 100 runs done"
    monkeypatch.setattr(Count, "taken", 25.0)
    shown(70, 100)
    assert shown.line() == "it: 70 of 100 runs done, about 60 s left"


def test_a_bound_of_the_runs_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Count("it", bound=True)
    monkeypatch.setattr(Count, "taken", 5.0)
    shown(0, 2000)
    monkeypatch.setattr(Count, "taken", 25.0)
    shown(70, 490)
    assert shown.line() == "it: 70 of at most 490 runs done, at most 2 min left"


class Terminal(io.StringIO):
    """What stderr shows, where that is a terminal that is looked at all the time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        monkeypatch.setattr(sys, "stderr", self)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "100")
        for name, seconds in (("PATIENCE", 0.02), ("REFRESH", 0.01)):
            monkeypatch.setattr(progress, name, seconds)

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_shown_how_far_a_run_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal(monkeypatch)
    with ShowProgress("it", "s", 100) as shown:
        shown.begins(4, lambda: 25.0)
        time.sleep(0.3)
    text = terminal.getvalue()
    assert "it: time 25 of 100 s, 0 of 4 jobs done, about " in text


def test_a_run_that_is_over_at_once_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(monkeypatch)
    monkeypatch.setattr(
        progress, "PATIENCE", 60
    )  # a busy machine may halt this process for a while
    with ShowProgress("it", "s", 100):
        pass
    assert terminal.getvalue() == ""


def test_a_campaigns_bar_counts_cells_and_their_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(monkeypatch)
    with Count("small") as watch:
        watch(30, 90)
        time.sleep(0.15)
        watch(60, 90)
        time.sleep(0.15)
    text = terminal.getvalue()
    assert "small" in text
    assert "30/90" in text
    assert "60/90" in text
    assert "-/s" in text


# --- commands that say nothing themselves --------------------------------------------------------


def test_a_command_that_prints_nothing_is_reported_again_and_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "SILENCE", 0.1)
    shell.write(DOZING, "dozing.py")
    path = shell.write(TINY.replace('"IE"', '"dozing:Slow"'))
    said = shell("check", path, "--load")
    lines = said.err.splitlines()
    assert said.code == 0
    assert len(lines) >= 2
    assert all(" s: still at `holdfast check /" in line for line in lines)


def test_a_command_that_prints_now_and_then_is_not_reported_as_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "SILENCE", 0.5)
    with printing(["compare", "it.toml"]):
        for _ in range(35):
            print("working", file=sys.stderr)
            time.sleep(0.02)
    assert set(capsys.readouterr().err.splitlines()) == {"working"}


def test_a_command_that_falls_silent_is_reported_as_long_after_its_last_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "SILENCE", 1.0)
    with printing(["reality", "it.toml"]):
        time.sleep(0.6)
        print("calibration", file=sys.stderr)
        time.sleep(1.25)
    assert "still at `holdfast reality it.toml`" in capsys.readouterr().err


def test_where_nobody_watches_a_campaign_counts_what_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "EVERY", 0.1)
    with Count("it") as count:
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


def test_only_the_beginning_of_a_long_command_is_shown() -> None:
    assert SilenceWatch("run " + "x" * 100).line() == f"still at `holdfast run {'x' * 56} ...`"
