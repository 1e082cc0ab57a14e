"""Long tasks of a program's own, on a Dask cluster of its own, whose workers are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
import traceback
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
from sims.live.calls import Call
from sims.live.tasks import bar
from sims.log import LogFile
from tests.sims.campaign.campaigns import dask
from tests.sims.cli.commands import ROOT, ended, environment, python
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
    found = list(holdfast.live.run_all(heat, states, steps=40, workers=2, protection="none"))
    assert sorted(it.number for it in found) == [0, 1, 2]
    for it in found:
        assert it.state["number"] == it.number
        assert np.array_equal(it.state["field"], uninterrupted(states[it.number], 40))
        assert (it.cost.computed, it.cost.again, it.cost.losses) == (40, 0, 0)


def test_a_task_whose_worker_is_killed_at_once_begins_again(tmp_path: Path) -> None:
    """While the first steps are measured there is no checkpoint, and no world yet."""
    state = start(tmp_path)
    with dask(tmp_path, 2) as scheduler:
        killer = threading.Thread(target=kill_who_computes, args=(tmp_path / "who", 2), daemon=True)
        killer.start()
        found = holdfast.live.run(heat, state, steps=60, scheduler=scheduler, workers=2)
        killer.join()
    assert np.array_equal(found["field"], uninterrupted(state, 60))


def failing(state: dict[str, Any], step: int) -> dict[str, Any]:
    """A step that raises an error when it comes to the number that the state names."""
    if step == state["at"]:
        raise Unfit("no more", step)
    time.sleep(0.01)
    return state


class Unfit(Exception):
    """An error of a program's own, with two arguments."""


@pytest.mark.parametrize("at", [0, 60])
def test_an_error_of_a_step_is_raised_as_it_was_with_its_traceback_and_a_note(at: int) -> None:
    """The error of the first steps, which are measured, and that of a later one."""
    with pytest.raises(Unfit) as raised:
        holdfast.live.run(failing, {"at": at}, steps=100, workers=1)
    error = raised.value
    assert error.args == ("no more", at)
    [note] = error.__notes__
    assert note.startswith(f"J1, step {at}, worker 0 (")
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.filename, last.name, last.line) == (
        str(Path(__file__)),
        "failing",
        'raise Unfit("no more", step)',
    )
    assert error.__cause__ is None
    assert error.__context__ is None


def growing(state: list[Any], step: int) -> list[Any]:
    """A step whose state cannot be pickled from the third one on, or is no list then."""
    return [*state, (it for it in ())] if step == 2 else state


def test_a_state_that_cannot_be_pickled_is_named() -> None:
    with pytest.raises(InputError, match="call: state: the start state cannot be pickled: TypeE"):
        holdfast.live.run(growing, (it for it in ()), steps=3)
    with pytest.raises(InputError, match=r"states\[1\]: the start state cannot be pickled"):
        list(holdfast.live.run_all(growing, [[], (it for it in ())], steps=3))
    with pytest.raises(InputError, match="call: function: the state after 3 steps cannot be pick"):
        holdfast.live.run(growing, [], steps=3, workers=1)


@pytest.mark.parametrize(
    ("argument", "value", "accepted"),
    [
        ("steps", 2.5, "a whole number from 0"),
        ("steps", -3, "a whole number from 0"),
        ("steps", True, "a whole number from 0"),
        ("mtbf", 0, "seconds, above 0"),
        ("mtbf", float("inf"), "seconds, above 0"),
        ("patience", -1, "seconds, above 0"),
        ("workers", 0, "a whole number from 1"),
        ("policy", "FIFO", "FCFS, EASY"),
        ("protection", 7, "images, none, or a table"),
        ("protection", {"kind": "images", "period": [3]}, "steps, young or daly"),
        ("protection", {"kind": "images", "perod": 3}, "period"),
        ("scheduler", 7, "a Client or a Cluster"),
        ("scheduler", "nowhere.json", "dask scheduler --scheduler-file"),
        ("log", "no/such/folder/it.jsonl", "a file in a folder of yours"),
        ("callback", 7, "a function of (progress)"),
        ("name", "it", "checkpoints too"),
        ("fresh", True, "checkpoints too"),
        ("checkpoints", "nosuchfs://here", "a folder of yours"),
        ("checkpoints", 5, "a folder or a URL"),
        ("checkpoints", "", "a folder or a URL"),
        ("steps", 10**30, "a whole number that fits in 64 bits"),
        ("foo", 1, "steps, scheduler, workers, protection"),
    ],
)
def test_an_argument_that_cannot_be_used_is_refused_before_anything_is_connected(
    argument: str, value: Any, accepted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sims.live.tasks.opened", None)
    how: dict[str, Any] = {"steps": 10, argument: value}
    with pytest.raises(InputError) as refused:
        holdfast.live.run(heat, {}, **how)
    key, _, rest = str(refused.value).removeprefix("call: ").partition(":")
    assert key.startswith(argument)
    assert accepted in rest


@pytest.mark.parametrize("at", [0, 60])
def test_a_step_that_does_not_end_ends_the_call_in_one_message(
    tmp_path: Path, at: int, capsys: pytest.CaptureFixture[str]
) -> None:
    state = {"at": at, "file": str(tmp_path / "who")}
    with pytest.raises(InputError, match=r"J1: worker 0 has not answered for 1\.5 s") as refused:
        holdfast.live.run(hanging, state, steps=100, workers=1, patience=1.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "who").read_text()), 0)
    assert str(refused.value).startswith("call: patience: ")
    said = "worker 0 has not answered for 0.75 s; it is killed after 1.5 s"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("at", [5, 60])
@pytest.mark.parametrize("end", [3, -signal.SIGKILL])
def test_a_step_that_always_ends_its_process_ends_the_call_after_three_deaths(
    tmp_path: Path, at: int, end: int
) -> None:
    file = tmp_path / "who"
    state = {"at": at, "end": end, "file": str(file)}
    with pytest.raises(InputError) as refused:
        holdfast.live.run(deadly, state, steps=100, workers=1)
    how = "exit code 3" if end > 0 else "SIGKILL"
    said = f"call: function: J1: step {at} on worker 0 has ended its process ({how}), 3 times in a"
    assert str(refused.value).startswith(said)
    assert file.read_text().count("dies") in (3, 4)


def test_a_step_that_ends_its_process_is_found_on_a_cluster_of_the_callers_own(
    tmp_path: Path,
) -> None:
    from distributed import LocalCluster

    about: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    about["local_directory"] = str(tmp_path)
    with LocalCluster(**about) as cluster:  # type: ignore[no-untyped-call]
        state = {"at": None, "end": 3, "file": str(tmp_path / "who")}
        holdfast.live.run(deadly, state, steps=20, scheduler=cluster)
        assert [*tmp_path.rglob("step-*")] == []
        with pytest.raises(InputError, match=r"J1: step 5 on worker . has ended its process, "):
            state = {"at": 5, "end": 3, "file": os.devnull}
            holdfast.live.run(deadly, state, steps=100, scheduler=cluster)


def test_processes_that_die_within_different_steps_are_replaced_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "who"
    state = {"at": None, "end": 3, "file": str(file)}
    assert holdfast.live.run(deadly, state, steps=20, workers=1) == state
    assert file.read_text().count("dies") == 5


def deadly(state: dict[str, Any], step: int) -> dict[str, Any]:
    """A step of ten milliseconds that ends its process: always at the step that the state names, or
    else once at each of five."""
    time.sleep(0.01)
    file = Path(state["file"])
    before = file.read_text().count("dies") if file.is_file() else 0
    if step == state["at"] or (state["at"] is None and step == 2 + before and before < 5):
        with file.open("a") as out:
            out.write("dies ")
        if state["end"] > 0:
            os._exit(state["end"])
        os.kill(os.getpid(), -state["end"])
    return state


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
    table = {"kind": "images"} | ({} if asked is None else {"period": asked})
    call = Call(heat, [], 0, protection=table, mtbf=1000)
    found = call.protecting(step=0.1, cost=0.2)
    assert found == {"kind": "images", "period": period, "cost": 2.0, "on_notice": "save"}


def test_a_task_that_is_submitted_can_be_awaited_while_the_loop_goes_on(tmp_path: Path) -> None:
    state, ticks = start(tmp_path), 0

    async def main() -> dict[str, Any]:
        nonlocal ticks
        task = holdfast.live.submit(heat, state, steps=60, workers=1)
        waiting = asyncio.ensure_future(asyncio.wait_for(task, 60))
        while not waiting.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert task.cost.computed == 60
        assert task.cost.seconds > 0
        return await waiting

    assert np.array_equal(asyncio.run(main())["field"], uninterrupted(state, 60))
    assert ticks > 10


def test_a_task_that_is_cancelled_ends_and_leaves_its_checkpoints(tmp_path: Path) -> None:
    state, seen = start(tmp_path), threading.Event()
    task = holdfast.live.submit(
        *(heat, state),
        steps=100_000,
        workers=1,
        protection={"kind": "images", "period": 5},
        checkpoints=tmp_path,
        callback=lambda it: it.checkpoint > 100 and seen.set(),
    )
    assert seen.wait(60)
    assert task.cancel()
    task.join(60)
    assert len(list((tmp_path / "heat").iterdir())) == 2


def test_a_callback_learns_of_steps_and_its_error_ends_the_call(tmp_path: Path) -> None:
    seen = []

    def callback(it: holdfast.live.Progress) -> None:
        seen.append(it)
        if it.step >= 100:
            raise Unfit("enough", it.step)

    with pytest.raises(Unfit, match="enough"):
        holdfast.live.run(
            *(heat, start(tmp_path)),
            steps=100_000,
            workers=1,
            protection={"kind": "images", "period": 20},
            callback=callback,
        )
    assert [it.step for it in seen] == sorted(it.step for it in seen)
    assert {it.steps for it in seen} == {100_000}


def test_a_client_and_its_cluster_are_schedulers_and_a_task_of_theirs_is_no_caller(
    tmp_path: Path,
) -> None:
    from distributed import Client, LocalCluster

    state = start(tmp_path)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for scheduler in (client, cluster):
            found = holdfast.live.run(heat, state, steps=20, scheduler=scheduler)
            assert np.array_equal(found["field"], uninterrupted(state, 20))
        with pytest.raises(InputError, match="call: it is made within a task of a Dask worker"):
            client.submit(holdfast.live.run, heat, state, steps=20).result(20)
    with pytest.raises(InputError, match=r"call: scheduler: .* is closed"):
        holdfast.live.run(heat, state, steps=20, scheduler=client)


def test_a_cluster_of_fewer_workers_than_asked_for_is_the_argument_scheduler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sims.live.processes.COMING", 0.5)
    with dask(tmp_path, 1) as scheduler, pytest.raises(InputError) as refused:
        holdfast.live.run(heat, {}, steps=3, scheduler=scheduler, workers=5)
    said = "call: scheduler: it has 1 worker after 0.5 s; accepted: one of 5 or more"
    assert str(refused.value) == said


def test_workers_that_are_threads_of_the_program_are_refused() -> None:
    from distributed import Client

    with (
        Client(processes=False, n_workers=1, dashboard_address=None) as client,
        pytest.raises(InputError, match="its workers are threads of this program"),
    ):
        holdfast.live.run(heat, {}, steps=20, scheduler=client)


def test_a_call_on_a_cluster_of_its_own_leaves_no_worker_and_no_fork_server(tmp_path: Path) -> None:
    """Multiprocessing's resource tracker stays, as of any program that uses it."""
    lines = (
        "import holdfast, psutil, tests.sims.live.steps as steps",
        "if __name__ == '__main__':",
        "    holdfast.live.run(steps.count, 0, steps=5, workers=2)",
        "    left = psutil.Process().children(recursive=True)",
        "    print([it.cmdline() for it in left if 'resource_tracker' not in str(it.cmdline())])",
    )
    script = tmp_path / "calls.py"
    script.write_text("\n".join(lines))
    said = ended(python(str(script), env=environment(PYTHONPATH=str(ROOT))))
    assert (said.code, said.out) == (0, "[]\n"), said.err


def test_a_bar_shows_steps_the_last_checkpoint_and_losses_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with bar(Call(heat, [{}], 0, progress=True)) as tell:
        assert tell is not None
        tell(holdfast.live.Progress(0, 30, 40, 20, 1))
    assert "saved 20, 1 lost" in capsys.readouterr().err
    with bar(Call(heat, [{}], 0)) as tell:
        assert tell is None  # no terminal here
