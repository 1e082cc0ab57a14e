"""SimPy's documented examples, as programs of ours, print what they print in SimPy."""

from __future__ import annotations

from importlib import import_module
from itertools import groupby
from pathlib import Path

import pytest

import sims
from tests.sims.scripts.in_simpy import EXAMPLES

FOLDER = Path(sims.__file__).parent / "scripts" / "simpy_examples"


WHOLE = {"car_wash", "process_communication"}
"""Examples whose times are whole numbers, so that many things happen at one instant: SimPy and
asyncio resume those who waited, and those whose time is over, in different orders."""


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def by_instant(lines: list[str]) -> list[list[str]]:
    """Lines that begin with the same time, sorted."""
    return [sorted(them) for _, them in groupby(lines, key=lambda line: line.split()[0])]


def test_there_are_seven() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXAMPLES)
    assert len(EXAMPLES) == 7


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_program_prints_what_simpy_prints_for_the_same_draws(
    name: str, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    import_module(f"sims.scripts.simpy_examples.{name}").main(seed)
    ours = printed(capsys)
    EXAMPLES[name](seed)
    theirs = printed(capsys)
    if name in WHOLE:
        assert by_instant(ours) == by_instant(theirs)
    else:
        assert ours == theirs
    assert len(ours) > 2
