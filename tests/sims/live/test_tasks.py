"""Long tasks of a program's own, on a Dask cluster of its own, whose workers are killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import holdfast
import numpy as np
import pytest

from actors.events import CheckpointTaken, NoticeGiven, PartMeasured, RunEnded, RunStarted
from actors.runtime import Event
from sims.audit.audit import audit
from sims.errors import InputError
from sims.log import LogFile
from tests.sims.campaign.campaigns import dask
from tests.sims.live.steps import Field, diffused, heat

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
STEPS = 400


def kill_who_computes(file: Path, step: int, number: int = signal.SIGKILL) -> int:
    """Send a signal to the process that computes this step, and return its id."""
    while True:
        process, _, at = (file.read_text() if file.exists() else "").partition(" ")
        if at.endswith(".") and float(at) >= step:
            os.kill(int(process), number)
            return int(process)
        time.sleep(0.002)


def start(folder: Path) -> dict[str, Any]:
    return {"field": np.arange(40_000.0).reshape(200, 200) % 7, "file": str(folder / "who")}


def uninterrupted(state: dict[str, Any], steps: int = STEPS) -> Field:
    field: Field = state["field"]
    for step in range(steps):
        field = diffused(field, step)
    return field


def logged(folder: Path, kill: Callable[[], object], period: int) -> list[Event]:
    """The events of a task whose processes are killed meanwhile; its answer is right, and its log
    breaks no law."""
    log, state = folder / "it.jsonl", start(folder)
    with dask(folder, 2) as scheduler:
        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        images = {"kind": "images", "period": period}
        about = {"scheduler": scheduler, "workers": 2, "log": log, "protection": images}
        found = holdfast.live.run(heat, state, steps=STEPS, **about)
        killer.join()
    assert np.array_equal(found["field"], uninterrupted(state))
    records = list(LogFile(log))
    assert list(audit(iter(records))) == []
    return [it.event for it in records]


def test_a_task_goes_on_elsewhere_from_its_last_checkpoint_when_its_worker_is_killed(
    tmp_path: Path,
) -> None:
    """Nobody starts a worker anew here. The killed run computed some steps that the second one
    computes again, but only those after the last checkpoint."""
    events = logged(tmp_path, lambda: kill_who_computes(tmp_path / "who", 300), 40)
    lost, ended = (it for it in events if isinstance(it, RunEnded))
    _, again = (it for it in events if isinstance(it, RunStarted))
    assert (lost.outcome.value, ended.outcome.value) == ("lost", "completed")
    taken = [it.done for it in events if isinstance(it, CheckpointTaken) and it.run == 0]
    assert again.begun == max(taken) > 0
    assert again.processors != "0"
    assert all(it.busy <= it.length for it in events if isinstance(it, PartMeasured))


def test_a_task_saves_its_state_at_once_when_its_process_is_told_to_end(tmp_path: Path) -> None:
    """The period is longer than the task: all that is saved is saved because of the SIGTERM, which
    comes some steps before the process is killed."""
    file = tmp_path / "who"

    def tell_and_kill() -> None:
        process = kill_who_computes(file, 150, signal.SIGTERM)
        assert kill_who_computes(file, 250) == process

    events = logged(tmp_path, tell_and_kill, 2 * STEPS)
    (notice,) = (it for it in events if isinstance(it, NoticeGiven))
    (taken,) = (it for it in events if isinstance(it, CheckpointTaken))
    _, again = (it for it in events if isinstance(it, RunStarted))
    assert notice.time is None
    assert again.begun == taken.done > 0


def test_many_tasks_wait_for_workers_in_the_queue(tmp_path: Path) -> None:
    states = [start(tmp_path) | {"number": number} for number in range(3)]
    for number, it in enumerate(states):
        it["field"] = it["field"] + number
    found = holdfast.live.run_all(heat, states, steps=40, workers=2, protection="none")
    for before, after in zip(states, found, strict=True):
        assert after["number"] == before["number"]
        assert np.array_equal(after["field"], uninterrupted(before, 40))


def test_a_task_whose_worker_is_killed_at_once_begins_again(tmp_path: Path) -> None:
    """While the first steps are measured there is no checkpoint, and no world yet."""
    state = start(tmp_path)
    with dask(tmp_path, 2) as scheduler:
        killer = threading.Thread(target=kill_who_computes, args=(tmp_path / "who", 2), daemon=True)
        killer.start()
        found = holdfast.live.run(heat, state, steps=60, scheduler=scheduler, workers=2)
        killer.join()
    assert np.array_equal(found["field"], uninterrupted(state, 60))


def test_an_error_of_the_function_ends_the_call_and_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="KeyError: 'field'"):
        holdfast.live.run(heat, {"file": str(tmp_path / "who")}, steps=5, workers=1)


@pytest.mark.parametrize("at", [0, 60])
def test_a_step_that_does_not_end_ends_the_call_in_one_message(
    tmp_path: Path, at: int, capsys: pytest.CaptureFixture[str]
) -> None:
    state = {"at": at, "file": str(tmp_path / "who")}
    with pytest.raises(InputError, match=r"J1: worker 0 has not answered for 1\.5 s") as refused:
        holdfast.live.run(hanging, state, steps=100, workers=1, patience=1.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "who").read_text()), 0)
    assert "live.patience" in str(refused.value)
    said = "worker 0 has not answered for 0.75 s; it is killed after 1.5 s"
    assert said in capsys.readouterr().err


def hanging(state: dict[str, Any], step: int) -> dict[str, Any]:
    """A step of ten milliseconds, or one that lasts for ever: asleep where it is the first, at work
    where it is a later one."""
    time.sleep(0.01)
    if step == state["at"]:
        Path(state["file"]).write_text(f"{os.getpid()}")
        while step:
            pass
        time.sleep(3600)
    return state


def test_no_steps_need_no_cluster() -> None:
    assert holdfast.live.run(heat, {"any": 1}, steps=0) == {"any": 1}


@pytest.mark.parametrize(
    ("asked", "period"), [("young", 200), ("daly", 199), (7, 7), (0.2, 1), (None, 200)]
)
def test_a_period_is_a_number_of_steps_or_a_formula(asked: Any, period: int) -> None:
    """Young: sqrt(2 * 1000 s * 0.2 s) = 20 s, which are 200 steps of 0.1 s. Daly: 20 s times
    1 + 0.01 / 3 + 0.0001 / 9, less 0.2 s: 19.867 s, 199 steps."""
    from holdfast.live import _protection

    table = {"kind": "images"} | ({} if asked is None else {"period": asked})
    found = _protection(table, step=0.1, cost=0.2, mtbf=1000)
    assert found == {"kind": "images", "period": period, "cost": 2.0, "on_notice": "save"}
    with pytest.raises(InputError, match="steps, young or daly"):
        _protection({"kind": "images", "period": "weekly"}, 0.1, 0.2, 1000)
