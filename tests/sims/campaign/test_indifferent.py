"""Warnings of an axis that cannot matter, for a reason that the scenario itself shows."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tests.sims.cli.commands import Shell

NODE = """name = "node"
platform = { workers = 12, spares = 0 }
faults = { kind = "exponential", mtbf = "1 h", downtime = 60 }
job = { kind = "rigid", jobs = [{ processors = 8, time = 600 }] }
protection = { kind = "buddies", period = 60, cost = 1, recovery = 2, replace_after = 0 }
measures = { prices = { busy = 1, idle = 1 } }
"""
LINK = """name = "link"
platform = { workers = 20 }
master = { channels = 2, program = 2, data = 1 }
job = { kind = "iterative", tasks = 5, iterations = 2 }
policy.name = "IE"
"""
FEW = ("--minimise", "makespan", "--runs", "2", "--each", "4")


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    (tmp_path / "node.toml").write_text(NODE)
    (tmp_path / "link.toml").write_text(LINK)
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


def warned(shell: Shell, *words: str) -> str:
    """The warnings of a command, a line each, which pytest keeps from stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert shell(*words).code == 0
    told = (it for it in caught if issubclass(it.category, UserWarning))
    return "".join(f"{it.message}\n" for it in told)


FREE = "free beside the jobs and replace members as well as spares do"


def test_spares_beside_free_workers_are_warned_of(shell: Shell) -> None:
    """With 0 spares four of the twelve workers are free, and with 4 the same four wait."""
    said = warned(shell, "compare", "node.toml", "--vary", "platform.spares=0,2,4", "--runs", "1")
    assert said.startswith("platform.spares cannot matter: 4 other workers are ")
    assert FREE in said
    assert FREE in warned(shell, "tune", "node.toml", "--over", "platform.spares=0..4", *FEW)
    said = shell("check", "node.toml", "--set", "platform.spares=2")
    assert f"Warning: platform.spares: 2 other workers are {FREE}" in said.out


def test_spares_that_come_with_their_workers_are_not_warned_of(shell: Shell) -> None:
    with_ = "platform.spares=0..2 with platform.workers = 8 + spares"
    assert not warned(shell, "compare", "node.toml", "--vary", with_, "--runs", "1")
    assert not warned(shell, "tune", "node.toml", "--over", with_, *FEW)


def test_channels_beyond_the_members_are_warned_of(shell: Shell) -> None:
    """An iteration has five tasks, and a member has one message under way at a time."""
    said = warned(shell, "tune", "link.toml", "--over", "master.channels=1..20", *FEW)
    text = "no more than 5 messages can be under way at once"
    assert said == f"master.channels cannot matter from 5 on: {text}\n"
    compared = "compare", "link.toml", "--runs", "1", "--vary"
    said = warned(shell, *compared, "master.channels=8,9")
    assert said == f"master.channels cannot matter, as all its values are 5 or more: {text}\n"
    assert not warned(shell, *compared, "master.channels=1,5")
    said = shell("check", "link.toml", "--set", "master.channels=6")
    assert f"Warning: master.channels: {text}." in said.out
    assert text not in shell("check", "link.toml", "--set", "master.channels=5").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("protection.period=60,600,900",),
            "protection.period cannot matter from 600 on: no job works for longer than 600 s",
        ),
        (
            ("protection.recovery=1,20", "--set", "faults=off"),
            "protection.recovery cannot matter: no run ends before its work is done",
        ),
        (
            ("platform.spares=1,2", "--set", "faults=off"),
            "platform.spares cannot matter: no worker ever goes DOWN",
        ),
        (("policy.order=FCFS,SJF",), "policy.order cannot matter: there is one job only"),
        (
            ("measures.prices.idle=0,1",),
            "measures.prices.idle cannot matter: it changes nothing but cost",
        ),
        (
            ("protection.slowdown=0.5,0.7",),
            "protection.slowdown cannot matter: protection.blocking is true",
        ),
    ],
)
def test_other_keys_whose_values_change_nothing_are_warned_of(
    shell: Shell, words: tuple[str, ...], said: str
) -> None:
    assert said in warned(shell, "compare", "node.toml", "--vary", *words, "--runs", "1")


@pytest.mark.parametrize(
    "words",
    [
        ("protection.period=60,600",),
        ("protection.recovery=1,20",),
        ("measures.prices.idle=0,1", "--measure", "cost"),
    ],
)
def test_keys_that_matter_are_not_warned_of(shell: Shell, words: tuple[str, ...]) -> None:
    assert not warned(shell, "compare", "node.toml", "--vary", *words, "--runs", "1")


def test_spares_that_cost_nothing_while_they_wait_are_warned_of(shell: Shell) -> None:
    words = ("--set", "platform.spares=4", "--set", "measures.prices={busy=1}")
    said = shell("check", "node.toml", *words).out
    assert "Warning: measures.prices.idle: spares that wait cost nothing." in said
