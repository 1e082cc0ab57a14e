"""What the work of a scenario costs is measured, and a simulation with these costs predicts it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.events import PartMeasured, Stage, StageStarted, TransferKind, TransferStarted
from sims.errors import InputError
from sims.live import calibration, trial
from sims.live.activities import Activities
from sims.live.calibration import (
    FAILURES,
    Lengths,
    calibrated,
    costs_of,
    drawn,
    predictable,
    rehearse,
    rehearsed,
    survey,
)
from sims.live.carrier import Carrier
from sims.live.holder import Holder, hashed
from sims.live.processes import Processes
from sims.live.reality import Comparison, measure, predict
from sims.log import LogFile
from sims.packing import dumps, pack
from sims.scenario import Scenario
from sims.scenario.jobs import IterativeSection
from sims.scenario.live import LiveSection
from sims.scenario.loader import read
from tests.sims.cli.commands import Shell

TASKS = {
    "name": "tasks",
    "platform": {"workers": 2},
    "faults": {"mtbf": 20, "downtime": 1},
    "job": {
        "kind": "rigid",
        "jobs": [{"processors": 1, "time": 300}, {"processors": 1, "time": 250}],
    },
    "protection": {"kind": "images", "period": 75, "cost": 1, "recovery": 1},
    "live": {"scale": 1.0, "pace": "free"},
}


def tasks(**sections: Any) -> Scenario:
    return read(TASKS | sections, "tasks", Path())


def test_a_calibrated_scenario_counts_steps_and_parts_in_measured_time() -> None:
    """A step takes 0.5, a checkpoint 0.25, and a program 3: 60 steps take 30, a period of 75 takes
    37.5; a recovery has not been measured, and stays."""
    own = {"processors": 1, "time": 10, "protection": {"kind": "images", "period": 4, "cost": 1}}
    given = tasks(
        job={"kind": "rigid", "jobs": [{"processors": 1, "time": 60}, own]},
        master={"channels": 1, "program": 1, "data": 2, "image": 1},
    )
    costs = {"step": 0.5, "cost": 0.25, "program": 3.0}
    found = calibrated(given, costs)
    first, second = found.job.jobs
    assert (first.time, second.time) == (30, 5)  # type: ignore[union-attr]
    assert (found.protection.period, found.protection.cost) == (37.5, 0.25)
    assert found.protection.recovery == 1
    assert second.protection is not None
    assert (second.protection.period, second.protection.cost) == (2, 0.25)
    assert found.master is not None
    assert (found.master.program, found.master.data) == (3, 2)


def test_a_calibrated_scenario_sends_the_same_bytes_live() -> None:
    """A program of 2 s and an image of 1 s at 10 MB/s are 20 and 10 MB; they took 0.5 s and 4 s,
    and data was not measured. So policies see what the prediction counts with."""
    given = tasks(
        master={"channels": 1, "program": 2, "data": 3, "image": 1},
        live={"bandwidth": 10, "scale": 0.1},
    )
    found = calibrated(given, {"step": 0.5, "program": 0.5, "image": 4.0})
    assert found.live.rates == (40.0, 10.0, 2.5)
    for kind, before, after in (
        (TransferKind.PROGRAM, 2, 0.5),
        (TransferKind.DATA, 3, 3),
        (TransferKind.SAVE, 1, 4),
    ):
        assert sent(found.live, kind, after) == sent(given.live, kind, before)


def sent(about: LiveSection, kind: TransferKind, time: float) -> list[int]:
    """Sizes of the chunks of a message that takes this time by the scenario."""
    sizes: list[int] = []

    class Silent(Processes):
        async def call(self, number: int, method: str, *arguments: Any) -> Any:
            sizes.append(arguments[0] if method == "send" else len(arguments[0]))

    nothing: Any = None
    activities = Activities(Silent(nothing, True, hashed, nothing), "", about)
    activities.carrier = Carrier(activities.processes, about, nothing, 1, 1.0)
    event = TransferStarted(0, "J1", 0, kind, time)
    asyncio.run(activities._pass_bytes(event, time))
    return sizes


def test_costs_are_means_with_the_errors_of_these_means() -> None:
    """Parts of 10 and 30 steps took 5 and 18: 23 for 40 steps; 0.5 and 0.6 a step differ by 0.1,
    of which the mean's standard error is half."""
    lengths = Lengths()
    lengths.parts["step"] += [(5.0, 10.0), (18.0, 30.0)]
    lengths.parts["cost"] += [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]
    costs = costs_of(lengths)
    assert costs["step"] == pytest.approx((23 / 40, 0.05))
    assert costs["cost"] == pytest.approx((2.0, 1 / np.sqrt(3)))
    assert drawn(costs, 0) == {key: mean for key, (mean, _) in costs.items()}
    found = [drawn(costs, k)["step"] for k in range(1, 2001)]
    assert np.mean(found) == pytest.approx(costs["step"][0], rel=0.01)
    assert np.std(found) == pytest.approx(costs["step"][1], rel=0.1)


def test_a_drawn_cost_is_above_0_where_the_measured_parts_differ_much() -> None:
    """Their standard error is as large as their mean: of normal draws, one in six is below 0."""
    draws = [drawn({"step": (0.5, 0.5)}, k)["step"] for k in range(1, 2001)]
    assert min(draws) > 0
    assert np.mean(draws) == pytest.approx(0.5, rel=0.1)
    assert np.std(draws) == pytest.approx(0.5, rel=0.2)


def test_a_rehearsal_without_a_computed_part_is_refused() -> None:
    with pytest.raises(InputError, match="no run of the rehearsal computed"):
        costs_of(Lengths())


def test_a_rehearsal_is_short_and_fails_one_worker_after_the_other() -> None:
    """300 steps of 2 s take 600 s, and 8 of them 15 s, but it has at least 1.5 periods of 75:
    113 steps, 226 s."""
    short = rehearsed(tasks(), 2.0)
    times = [it.time for it in short.job.jobs]  # type: ignore[union-attr]
    assert times == [226, 226]
    assert short.live.step == 2
    [law] = short.faults.laws
    assert [(round(time, 3), worker) for time, worker in law.strikes] == [
        *((3.0, 0), (6.0, 1)),
        *((9.0, 0), (12.0, 1)),
    ]


def test_in_a_rehearsal_a_worker_is_down_until_its_process_is_there() -> None:
    """A program that is sent earlier would wait for the process, which is no cost of a program.
    15 s of 51 iterations of 100 steps of 10 ms, each twice, are 15 at most."""
    about = {
        "workers": [{"count": 2, "task_time": 100, "availability": "uu"}],
        "master": {"channels": 1, "program": 2, "data": 1},
        "job": {"kind": "iterative", "tasks": 2, "iterations": 51},
        "policy": {"name": "IE"},
        "live": {"scale": 0.1},
        "unit": "s",
    }
    given = read({"name": "tasks", **about}, "tasks", Path())
    short = rehearsed(given, 0.01, start=0.2)
    [law] = short.faults.laws
    assert len(law.strikes) == FAILURES
    assert law.downtime == pytest.approx(2.0)
    assert isinstance(short.job, IterativeSection)
    assert short.job.iterations == 15


def test_a_run_of_a_name_that_was_forgotten_computes_anew() -> None:
    """The survey computes under one name again and again; an instruction that the process took for
    one of the time before was not carried out, and the next one took twice as long."""
    done: list[int] = []

    async def survey_twice() -> None:
        holder = Holder(pack(hashed, Path()), mortal=False)
        for _ in range(2):
            await holder.load("trial", {0: (0, dumps(b""))})
            for order, target in ((1, 1), (2, 3)):
                about = "trial", order, [0], target, 0.0, "", "", True
                done.append((await holder.compute(*about))[0][0])
            await holder.forget("trial", ())

    asyncio.run(survey_twice())
    assert done == [1, 3] * 2


@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"live": {"pace": 0.1}}, "live.pace"),
        (
            {"job": {"kind": "moldable", "jobs": [{"speedup": {"kind": "table", "times": [5]}}]}},
            "job.kind",
        ),
        ({"protection": {"kind": "images", "period": "young", "cost": 1}}, "protection.period"),
        ({"protection": {"kind": "images", "period": 5}}, "protection.cost"),
        (
            {"job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 5, "program": 2}]}},
            "job.jobs.program",
        ),
        ({"platform": {"workers": 4096}}, "platform.workers"),
    ],
)
def test_what_a_calibration_cannot_measure_is_refused(sections: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError, match=key.replace(".", r"\.")):
        predictable(tasks(**sections), own=True)


def test_the_command_refuses_a_pace_in_one_line(shell: Shell) -> None:
    path = shell.write(
        'name = "it"\nlive = {pace = 0.1}\nplatform = {workers = 1}\n'
        'job = {kind = "rigid", jobs = [{processors = 1, time = 5}]}\n'
    )
    said = shell("reality", path, "--runs", "1")
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert "live.pace" in said.err


IMAGES = {"kind": "images", "period": 6, "cost": 1, "recovery": 1}
LEVELS = {"kind": "buddies", "period": 6, "cost": 1, "recovery": 1, "images_every": 2}


@pytest.mark.parametrize(
    ("protection", "failures", "processors", "measured_too"),
    [
        (IMAGES, FAILURES, 1, set[str]()),
        (IMAGES | {"blocking": False, "slowdown": 0.5}, 0, 1, set[str]()),
        (LEVELS | {"image_cost": 1, "blocking": False}, 0, 2, {"image_cost"}),
    ],
)
def test_a_simulation_with_measured_costs_predicts_live_runs(
    at_work: Processes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    protection: dict[str, Any],
    failures: int,
    processors: int,
    measured_too: set[str],
) -> None:
    """How near depends on what else the machine does: within a factor of four on a busy one."""
    monkeypatch.setattr(trial, "LONG_ENOUGH", 0.03)
    monkeypatch.setattr(calibration, "REHEARSAL", 1.2)
    monkeypatch.setattr(calibration, "FAILURES", failures)
    few = {"kind": "rigid", "jobs": [{"processors": processors, "time": 90}] * 2}
    faults = {"mtbf": 20 if failures else 2000, "downtime": 1}
    it = predictable(tasks(seed=1, job=few, protection=protection, faults=faults), own=False)
    step, lines = at_work.post(survey(at_work)).result()
    assert any(line.startswith("  2 at once") for line in lines)
    log = tmp_path / "rehearsal.jsonl"
    costs = costs_of(rehearse(it, step, at_work, Path(), log))
    events = [record.event for record in LogFile(log)]
    assert any(isinstance(it, PartMeasured) for it in events)
    recovers = [isinstance(it, StageStarted) and it.stage is Stage.RECOVERING for it in events]
    # Whether a failure of the rehearsal comes after a checkpoint depends on the machine's speed.
    assert costs.keys() - {"recovery"} == {"step", "cost"} | measured_too
    assert any(recovers) or "recovery" not in costs
    predicted = predict({"EASY": it}, costs, [1], tmp_path)
    measured = [measure("EASY", calibrated(it, drawn(costs, 0)), at_work, tmp_path)]
    assert measured[0].checkpoints >= 14
    assert all(it.right and it.sound for it in measured)
    compared = Comparison(predicted, measured, "s")
    [theirs], [ours] = compared.makespans("EASY")
    assert 0.25 < ours / theirs < 4
    assert "1 run: 1 with right answers, " in list(compared.lines())
