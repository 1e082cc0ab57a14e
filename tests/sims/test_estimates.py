"""Estimates of what a run costs, held against the runs themselves."""

from __future__ import annotations

import warnings
from itertools import islice
from pathlib import Path

import pytest
from attrs import astuple

from actors.events import End
from sims.estimates import RANGE, estimate
from sims.examples import FOLDER, examples
from sims.matrix import cells, scenario
from sims.scenario.loader import Scenario, load
from sims.summary import Summary
from sims.world import run


def ratios(scenario: Scenario, folder: Path) -> list[float]:
    """Estimate over truth: of runs, events and virtual time."""
    summary = Summary()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ending = run(scenario, [summary], folder)
    cost = estimate(scenario, folder)
    assert ending.end is not End.DIVERGED
    assert cost.jobs == len(summary.submitted)
    runs = sum(summary.outcomes.values())
    return [cost.runs / max(runs, 1), cost.events / ending.events, cost.time / ending.time]


@pytest.mark.parametrize("name", examples())
def test_an_estimate_is_as_good_as_it_says(name: str) -> None:
    found = ratios(load(FOLDER / f"{name}.toml"), FOLDER)
    assert all(1 / RANGE <= ratio <= RANGE for ratio in found), found


def test_estimates_of_cells_are_as_good_as_they_say() -> None:
    some = islice(cells(), 0, None, 5)
    found = {str(cell): ratios(scenario(cell), Path()) for cell in some}
    off = {
        cell: each
        for cell, each in found.items()
        if not all(1 / RANGE <= ratio <= RANGE for ratio in each)
    }
    assert not off


def test_more_work_costs_more() -> None:
    small = load(FOLDER / "redundant.toml")
    large = load(FOLDER / "redundant.toml", ["job.stream.count=20000"])
    assert estimate(large, FOLDER).seconds > 50 * estimate(small, FOLDER).seconds


def test_who_can_hardly_end_is_told_so() -> None:
    usual = load(FOLDER / "batch-faults.toml")
    hopeless = load(FOLDER / "batch-faults.toml", ["errors.average=0.99"])
    assert estimate(hopeless, FOLDER).runs > 20 * estimate(usual, FOLDER).runs


def test_a_stream_of_any_length_is_estimated_by_its_first_jobs() -> None:
    """Nobody draws 10^15 jobs to tell that they take long."""
    some, many = (
        estimate(load(FOLDER / "redundant.toml", [f"job.stream.count={count}"]), FOLDER)
        for count in (200_000, 10**15)
    )
    assert many.jobs == 10**15
    for one, other in zip(astuple(some)[1:], astuple(many)[1:], strict=True):
        assert other == pytest.approx(5e9 * one)
