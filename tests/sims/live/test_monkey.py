"""The monkey kills workers, Nannies and schedulers, and goes on where it was interrupted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sims.live.monkey import KILLS, Victim, planned
from tests.sims.cli.commands import Shell
from tests.sims.live.worlds import FREE, scenario

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

SHORT = """\
name = "short"
platform.workers = 2
protection = {kind = "images", period = 20, cost = 0.01, recovery = 0.01}
job = {kind = "rigid", jobs = [{processors = 1, time = 60}, {processors = 1, time = 60}]}
live = {pace = "free", function = "work:step"}
"""
WORK = """\
import time


def step(state, number):
    time.sleep(0.03)
    return state + b"."
"""


def test_kills_are_drawn_for_each_run_and_a_schedulers_is_the_last() -> None:
    it = scenario("images at the master", live=FREE)
    drawn = [planned(it, run, 8.0) for run in range(200)]
    assert drawn[0] == planned(it, 0, 8.0) != drawn[1]
    for kills in drawn:
        assert [kill.moment for kill in kills] == sorted(kill.moment for kill in kills)
        assert all(0 <= kill.moment < 8 and 0 <= kill.worker < 4 for kill in kills)
        assert all(kill.victim is not Victim.SCHEDULER for kill in kills[:-1])
        assert len(kills) == KILLS or kills[-1].victim is Victim.SCHEDULER
    number = Counter(kill.victim for kills in drawn for kill in kills)
    assert number[Victim.WORKER] > number[Victim.NANNY] > number[Victim.SCHEDULER] > 0


def test_a_monkey_counts_its_kills_and_what_is_wrong_and_does_not_begin_again(
    shell: Shell,
) -> None:
    """A second call finds that enough has been killed. It would take longer than an instant."""
    file = shell.write(SHORT, "short.toml")
    shell.write(WORK, "work.py")
    said = shell("live", file, "--monkey", 2, "--open")
    assert (said.err, said.code) == ("", 0)
    last = said.out.splitlines()[-1]
    assert last.startswith("2 kills (")
    assert last.endswith("none wrong")
    assert Path("logs/monkey/short/0.jsonl").exists()
    again = shell("live", file, "--monkey", 2, "--open")
    assert (again.code, again.out) == (0, said.out)
    elsewhere = ("--scheduler", "tcp://127.0.0.1:1")
    problem = shell.refused("live", file, "--monkey", 2, *elsewhere)
    assert "--scheduler: the monkey kills a cluster of its own" in problem
