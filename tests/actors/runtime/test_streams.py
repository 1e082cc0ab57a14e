"""Streams of randomness: one for each (seed, name), the same everywhere and in any order."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare, kstest

from actors.runtime import System, stream
from actors.runtime.draws import UnitDraws, unit_stream

ROOT = Path(__file__).parents[3]

PINNED = {
    (0, "failures"): (225077060207238063, 6092032124361684154, 1149107324407066478),
    (1, "failures"): (3686886099701549254, 3709001085217930734, 811340356814729156),
    (0, "arrivals"): (5281693661062531181, 2223175246950940467, 7273676874655759610),
    (2**63, "worker 17, größe"): (
        *(2589997330027316731, 5121696251461841978, 2809763278327198720),
    ),
}
"""First draws of some streams: a published result can only be had again if these never change."""

PINNED_UNIT = [7363136050887153486, 744167642776041221]
"""First draws of the generator of unit 7 of the source `fault/0`, with seed 1."""

PINNED_NUMBERS = [
    0.875083548931488,
    0.6548169889862553,
    0.6198855576308168,
    0.7911259746079904,
    0.8280829812299082,
]
"""First random numbers of that unit."""

seeds = st.integers(0, 2**64 - 1)


def draws(seed: int, name: str) -> tuple[int, ...]:
    return tuple(int(n) for n in stream(seed, name).integers(0, 2**63, size=3))


@pytest.mark.parametrize(("seed", "name"), list(PINNED))
def test_the_first_draws_of_a_stream_never_change(seed: int, name: str) -> None:
    assert draws(seed, name) == PINNED[seed, name]


@given(seeds, st.lists(st.text(max_size=8), min_size=2, max_size=6, unique=True), st.randoms())
def test_streams_do_not_depend_on_the_order_of_asking(
    seed: int, names: list[str], chance: Random
) -> None:
    def ask(order: list[str]) -> dict[str, list[int]]:
        system = System(seed)
        found = {name: system.stream(name).integers(0, 2**63, size=3).tolist() for name in order}
        system.loop.close()
        return found

    shuffled = list(names)
    chance.shuffle(shuffled)
    assert ask(names) == ask(shuffled)


@given(seeds, st.text(max_size=8), st.text(max_size=8))
def test_streams_of_different_names_differ(seed: int, name: str, other: str) -> None:
    assert (draws(seed, name) == draws(seed, other)) is (name == other)


def test_what_one_stream_draws_does_not_shift_another(system: System) -> None:
    one, other = system.stream("one"), system.stream("other")
    interleaved = [(one.random(), other.random())[1] for _ in range(100)]
    assert interleaved == list(stream(system.seed, "other").random(100))


def test_two_streams_are_not_correlated() -> None:
    count = 20_000
    one, other = stream(0, "worker 1").random(count), stream(0, "worker 2").random(count)
    correlation = float(np.corrcoef(one, other)[0, 1])
    assert abs(correlation) < 5 / count**0.5  # five standard deviations, draws fixed by the seed


def test_the_first_draws_of_a_unit_never_change() -> None:
    assert [int(n) for n in unit_stream(1, "fault/0", 7).integers(0, 2**63, size=2)] == PINNED_UNIT


def test_the_first_numbers_of_a_unit_never_change() -> None:
    draws = UnitDraws(1, "fault/0")
    assert [draws.random(7) for _ in PINNED_NUMBERS] == PINNED_NUMBERS


def numbers(count: int, each: int) -> NDArray[np.float64]:
    """The first `each` numbers of so many units, a row a unit."""
    draws = UnitDraws(1, "fault/0")
    return np.array([[draws.random(unit) for _ in range(each)] for unit in range(count)])


@pytest.mark.parametrize("number", [0, 3, 4, 9])
def test_units_draw_as_one_stream_would(number: int) -> None:
    """Numbers of 20,000 units are uniform, and say nothing of their neighbours', nor of the next
    ones."""
    count = 20_000
    drawn = numbers(count, number + 2)
    assert kstest(drawn[:, number], "uniform").pvalue > 1e-4
    for lag in (1, 2, 8, 256):
        correlation = float(np.corrcoef(drawn[lag:, number], drawn[:-lag, number])[0, 1])
        assert abs(correlation) < 5 / count**0.5
    following = float(np.corrcoef(drawn[:, number], drawn[:, number + 1])[0, 1])
    assert abs(following) < 5 / count**0.5


def test_the_numbers_of_one_unit_are_uniform_and_not_correlated() -> None:
    drawn = numbers(1, 20_000)[0]
    assert kstest(drawn, "uniform").pvalue > 1e-4
    for lag in (1, 2, 4, 8):
        assert abs(float(np.corrcoef(drawn[lag:], drawn[:-lag])[0, 1])) < 5 / len(drawn) ** 0.5


def test_draws_of_units_follow_their_laws() -> None:
    draws = UnitDraws(2, "repair")
    times = [draws.exponential(unit % 300, 7.0) for unit in range(20_000)]
    assert kstest(times, "expon", (0, 7)).pvalue > 1e-4
    faces = np.bincount([draws.integers(unit % 300, 6) for unit in range(20_000)], minlength=6)
    assert chisquare(faces).pvalue > 1e-4
    assert len(faces) == 6


@given(seeds, st.lists(st.integers(0, 2000), min_size=1, max_size=60), st.randoms())
def test_what_units_draw_does_not_depend_on_the_order(
    seed: int, units: list[int], chance: Random
) -> None:
    def ask(order: list[int]) -> dict[int, list[float]]:
        draws, found = UnitDraws(seed, "repair"), dict[int, list[float]]()
        for unit in order:
            found.setdefault(unit, []).append(draws.random(unit))
        return found

    shuffled = list(units)
    chance.shuffle(shuffled)
    assert ask(units) == ask(shuffled)


def test_numbers_whose_table_was_dropped_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = numbers(600, 6)
    monkeypatch.setattr("actors.runtime.draws.MOST_TABLES", 2)
    assert np.array_equal(numbers(600, 6), expected)
    draws = UnitDraws(1, "fault/0")
    by_number = [[draws.random(unit) for unit in range(600)] for _ in range(6)]
    assert np.array_equal(np.transpose(by_number), expected)


@given(seeds, st.text(max_size=8), st.integers(0, 999), st.integers(0, 999))
def test_units_and_sources_differ(seed: int, name: str, unit: int, other: int) -> None:
    one, two = (UnitDraws(seed, name).random(it) for it in (unit, other))
    assert (one == two) is (unit == other)
    assert UnitDraws(seed, f"{name}/").random(unit) != one != UnitDraws(seed + 1, name).random(unit)
    one, two = (float(unit_stream(seed, name, it).random()) for it in (unit, other))
    assert (one == two) is (unit == other)


@pytest.mark.parametrize("draw", [UnitDraws.random, UnitDraws.generator])
def test_a_run_whose_units_draw_is_random(
    system: System, draw: Callable[[UnitDraws, int], object]
) -> None:
    draws = system.unit_draws("repair")
    assert not system.drew
    draw(draws, 3)
    assert system.drew


def test_a_run_is_the_same_bytes_under_any_hash_seed() -> None:
    def run(hash_seed: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-m", "tests.actors.runtime.hash_order"],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout

    first = run("0")
    assert len(first.splitlines()) > 100
    assert run("4242") == first
