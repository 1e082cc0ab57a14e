"""Real processes carry out what the world decides, and their answers are right."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import pytest

import sims.live
from actors.events import PartMeasured
from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.ledger import Use
from sims.live.holder import Work, hashed, opened, sealed
from sims.live.live import LiveResult, live, playable
from sims.live.processes import Processes
from sims.live.reality import Comparison, Outcome, calibrate, measure, predict
from tests.sims.live.worlds import FREE, MECHANISMS, scenario


def lived(cluster: Processes, mechanism: str, **sections: Any) -> tuple[LiveResult, list[Record]]:
    records: list[Record] = []
    it = playable(scenario(mechanism, **sections))
    return live(it, cluster, sinks=[records.append]), records


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_answers_are_right_under_all_hazards_and_the_log_is_sound(
    cluster: Processes, mechanism: str
) -> None:
    found, records = lived(cluster, mechanism)
    assert found.answers
    assert all(found.answers.values())
    assert list(audit(iter(records))) == []


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_real_work_takes_what_it_takes_and_the_log_follows_from_its_lengths(
    at_work: Processes, mechanism: str
) -> None:
    found, records = lived(at_work, mechanism, live=FREE)
    assert found.answers
    assert all(found.answers.values())
    assert list(audit(iter(records))) == []
    lengths = [it.event.length for it in records if isinstance(it.event, PartMeasured)]
    assert not any(it == round(it) for it in lengths)


def test_work_without_a_pace_that_loses_its_process_is_done_again(at_work: Processes) -> None:
    at_work.post(at_work.murder_later(0, 0.1))
    found, records = lived(at_work, "images at the master", live=FREE, faults={"kind": "none"})
    assert found.missed == 1
    assert all(found.answers.values())
    assert list(audit(iter(records))) == []


@pytest.mark.parametrize("mechanism", ["buddies and a spare", "images at the master"])
def test_a_process_that_dies_unannounced_is_missed_and_its_work_done_again(
    cluster: Processes, mechanism: str
) -> None:
    cluster.post(cluster.murder_later(0, 0.4))
    found, records = lived(cluster, mechanism)
    assert found.missed == 1
    assert all(found.answers.values())
    assert list(audit(iter(records))) == []


def test_reality_predicts_before_it_measures_the_same_runs(cluster: Processes) -> None:
    it = scenario("buddies and a spare")
    calibration = calibrate(cluster)
    assert 0 < calibration.detection < calibration.start
    predicted = predict({"R-LIST-0": it}, [1, 2], Path())
    measured = [measure("R-LIST-0", it, seed, cluster, Path()) for seed in (1, 2)]
    told = "\n".join(Comparison(predicted, measured, "s").lines())
    assert "2 runs: 2 with the right answers" in told
    assert "useful" in told


def test_a_run_that_parts_from_its_prediction_is_told_with_the_deaths_that_nobody_ordered() -> None:
    said = Outcome("EASY", 1, 100.0, {use.value: 1.0 for use in Use})
    slow = attrs.evolve(said, makespan=102.0, missed=1)
    same = attrs.evolve(said, seed=2)
    told = list(Comparison([said, same], [slow, same], "s").lines())
    assert [line for line in told if "seed" in line] == [
        "EASY, seed 1: x 1.0200: 1 process died by no command of ours"
    ]


def test_work_that_is_lost_shows_in_the_answer() -> None:
    work = Work("J1", chains=2, steps=5)
    state = {0: (5, b"?"), 1: (5, b"?")}
    for chain, (_, it) in opened(work.begins).items():
        for unit in range(5):
            it = hashed(it, unit)
        state[chain] = 5, it
    work.results = sealed(state)
    assert work.is_right(hashed)
    work.results = sealed({**state, 1: (5, hashed(state[1][1], 5))})
    assert not work.is_right(hashed)


def test_what_processes_cannot_carry_out_is_refused() -> None:
    with pytest.raises(InputError, match="errors: live processes do not carry that out"):
        playable(scenario("buddies and a spare", errors={"rate": 0.1}))


def test_no_module_of_the_world_is_subclassed_for_it() -> None:
    """Policies, scheduler, jobs, master and protections are those of a simulation."""
    for found in pkgutil.iter_modules(sims.live.__path__):
        module = import_module(f"sims.live.{found.name}")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__.startswith("sims.live"):
                bases = [it.__module__ for it in kind.__mro__]
                assert not [it for it in bases if it.startswith(("actors", "policies"))]
