"""`holdfast check` says what a scenario means in numbers, which a run without faults then shows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from actors.events import CheckpointTaken, TransferEnded, TransferStarted
from sims.log import LogFile
from sims.plots.pictures import channels_used
from sims.plots.scene import Scene
from tests.sims.cli.commands import Shell
from tests.sims.kinds import SCENARIOS

TRAINING = """\
name = "training"
platform = { workers = 64 }
faults = { kind = "exponential", mtbf = "60 d", downtime = "1 h" }
job = { kind = "rigid", jobs = [{ processors = 64, time = "10 d" }] }
protection = { kind = "images", period = "6 h", cost = 320 }
"""
"""10 d of work have 40 periods of 6 h, and no checkpoint at the end: 39 of 320 s, together 3.467 h
or 1.444 % of 240 h. 64 workers of 60 d fail once in 22.5 h: Young's period is sqrt(2 x 81,000 s x
320 s) = 7,200 s. Daly's is 7,200 x (1 + r / 3 + r^2 / 9) - 320
= 6,988 s with r = sqrt(320 / 162,000)."""

LINKED = """\
name = "linked"
platform = { workers = 4 }
master = { channels = 1, program = 2, data = 3, image = 5 }
job = { kind = "rigid", jobs = [{ processors = 4, time = 20 }, { processors = 2, time = 10 }] }
protection = { kind = "images", period = 10 }
"""
"""J1 has 4 x (2 + 3) s of messages and one checkpoint of 4 x 5 s, J2 2 x (2 + 3) s: 50 s, where
the work needs 25 s at least (100 worker-seconds on 4 workers)."""


def test_check_counts_checkpoints_and_says_what_the_formulas_assume(shell: Shell) -> None:
    told = shell("check", shell.write(TRAINING, "training.toml")).out
    assert "39 expected if nothing fails; they take 3.467 h from the jobs, 1.44 % of their" in told
    assert "6 h; Young's 2 h, Daly's 1.941 h (of J1 on 64 workers)" in told
    assert "at a constant rate, one in 22.5 h; a checkpoint stops the job for 320 s" in told


def test_checkpoints_beside_the_work_take_no_time_from_it(shell: Shell) -> None:
    beside = ("--set", "protection.blocking=false")
    told = shell("check", shell.write(TRAINING, "training.toml"), *beside).out
    assert "39 expected if nothing fails; they take no time from the jobs" in told


STORED = """\
name = "stored"
platform = { workers = 4 }
job = { kind = "rigid", jobs = [{ processors = 4, time = 100 }] }
[protection]
kind = "buddies"
period = 10
cost = 1
recovery = 1
images_every = 4
"""


@pytest.mark.parametrize(
    ("second", "took"),
    [
        ("image_cost = 5\n", 19),
        ("bytes = 100\n[storage]\nbandwidth = 10\n", 29),
        ("[master]\nchannels = 2\nprogram = 0\ndata = 0\nimage = 2\n", 17),
    ],
)
def test_check_counts_what_storing_each_fourth_checkpoint_takes(
    shell: Shell, second: str, took: int
) -> None:
    """9 checkpoints of 1 s, 2 of which are stored besides: for 5 s, for 100 bytes at 10 a second,
    or in two turns of 2 s on two channels. A run in which nothing fails takes as much."""
    path = shell.write(STORED + second, "stored.toml")
    assert f"9 expected if nothing fails; they take {took} s from" in shell("check", path).out
    assert shell.told("run", path, "--log", "none")["makespan"] == 100 + took


def test_check_counts_the_messages_of_second_copies(shell: Shell) -> None:
    link = "[master]\nchannels = 2\nprogram = 0\ndata = 0\nimage = 2\n"
    told = shell("check", shell.write(STORED + link, "stored.toml")).out
    assert "at least 8 % busy: 16 s of messages on 2 channels within 100 s" in told


def test_check_has_no_periods_where_nothing_fails(shell: Shell) -> None:
    never = ("--set", "faults={kind='none'}")
    told = shell("check", shell.write(TRAINING, "training.toml"), *never).out
    assert "39 expected" in told
    assert "Young" not in told


def test_check_says_that_checkpoints_do_not_stop_the_job_as_the_formulas_assume(
    shell: Shell,
) -> None:
    beside = ("--set", "protection.blocking=false")
    path = shell.write(TRAINING, "training.toml")
    assert "; a checkpoint stops the job for 320 s\n" in shell("check", path).out
    told = shell("check", path, *beside).out
    assert (
        "; a checkpoint stops the job for 320 s, which it does not here (blocking = false)" in told
    )


def test_check_says_when_the_channels_bound_the_end(shell: Shell) -> None:
    told = shell("check", shell.write(LINKED, "linked.toml")).out
    assert "at least 200 % busy: 50 s of messages on 1 channel within 25 s" in told
    assert "the channels, not the workers, bound the end: 50 s" in told


@pytest.mark.parametrize("text", [TRAINING, LINKED])
def test_a_run_in_which_nothing_fails_takes_the_checkpoints_that_check_expects(
    shell: Shell, text: str
) -> None:
    file = shell.write(text, "scenario.toml")
    never = ("--set", "faults={kind='none'}")
    log = LogFile(Path(shell.told("run", file, *never)["log"]))
    taken = sum(isinstance(it.event, CheckpointTaken) for it in log)
    assert f"checkpoints {taken} expected" in shell("check", file, *never).out


def test_a_run_in_which_nothing_fails_sends_the_messages_that_check_expects(shell: Shell) -> None:
    log = LogFile(Path(shell.told("run", shell.write(LINKED, "linked.toml"))["log"]))
    begun = sum(it.t for it in log if isinstance(it.event, TransferStarted))
    ended = sum(it.t for it in log if isinstance(it.event, TransferEnded))
    assert ended - begun == 50


@pytest.mark.parametrize("blocking", ["true", "false"])
def test_summary_and_picture_count_the_messages_that_pass_while_a_run_computes(
    shell: Shell, blocking: str
) -> None:
    """With 4 channels, the images of J1's checkpoint take 5 s of the 10 s of work that are left:
    50 s of messages in all, whether the run computes meanwhile or not."""
    change = ("--set", "master.channels=4", "--set", f"protection.blocking={blocking}")
    log = shell.told("run", shell.write(LINKED, "linked.toml"), *change)["log"]
    found = json.loads(shell("summary", log, "--json").out)
    assert found["bandwidth"] == pytest.approx(50 / 4 / found["makespan"])
    times, levels = channels_used(Scene.of(LogFile(Path(log))))
    assert sum(float(it[:-1] @ np.diff(times)) for it in levels.values()) == 50


def test_each_iteration_takes_checkpoints_of_its_own(shell: Shell) -> None:
    """Five iterations of 40 s have three checkpoints each, none at their ends; of each iteration's
    three the second is stored besides, and its 7 s come once an iteration."""
    never = ("--set", "faults={kind='none'}", "--set", "protection.images_every=2")
    words = (SCENARIOS / "iterative-buddies.toml", *never, "--set", "protection.image_cost=7")
    told = shell("check", *words).out
    assert "checkpoints 15 expected if nothing fails; they take 50 s from the jobs" in told
    assert shell.told("run", *words, "--log", "none")["makespan"] == 250


def test_of_jobs_whose_size_the_policy_decides_the_checkpoints_are_the_fewest(shell: Shell) -> None:
    never = ("--set", "faults={kind='none'}", "--set", "errors={}")
    file = SCENARIOS / "moldable-errors.toml"
    told = shell("check", file, *never).out
    assert "12 expected if nothing fails and each job gets as many workers as it can use, " in told
    log = LogFile(Path(shell.told("run", file, *never)["log"]))
    assert sum(isinstance(it.event, CheckpointTaken) for it in log) >= 12


STREAM = """\
name = "stream"
platform = { workers = 4 }
policy = { name = "SRPT+R", placement = "lowest" }
[[faults.laws]]
mtbf = 100
downtime = 5
[[faults.laws]]
mtbf = 50
effect = "hang"
detection = 2
[job]
kind = "rigid"
[job.stream]
arrivals = { kind = "list", times = [0, 0, 0, 40] }
sizes = { kind = "deterministic", mean = 60 }
"""


def test_faults_and_hangs_are_expected_also_where_jobs_have_redundant_copies(shell: Shell) -> None:
    """The last of four jobs of 60 s ends at 100 at the earliest: 4 x 100 / 100 faults."""
    file = shell.write(STREAM)
    told = shell("check", file).out.splitlines()[1:5]
    assert told == [
        "  jobs        4",
        "  faults      4 expected within 100 s of 4 workers; fewer where they are DOWN",
        "  hangs       8 expected within 100 s of 4 workers; fewer where they are idle, hanging or "
        "DOWN",
        "",
    ]


def test_how_many_faults_of_computing_time_strike_copies_is_unknown(shell: Shell) -> None:
    """Redundant copies compute more than their jobs' work, and how much more the run shows."""
    told = shell("check", shell.write(STREAM), "--set", 'faults={mtbf=100,clock="computing"}').out
    assert "  faults      unknown: how long workers compute depends on the copies\n" in told
