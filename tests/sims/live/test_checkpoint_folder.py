"""Checkpoints of tasks in a folder: what is kept, what is refused, and calls that go on from there
after their program, their scheduler, or everything has been killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import holdfast
import numpy as np
import pytest

from sims.errors import InputError
from sims.live.checkpoint_folder import CheckpointFolder, Identity, identity
from sims.live.failures import ClusterLost
from tests.sims.campaign.campaigns import dask, dask_worker, part_of_cluster
from tests.sims.cli.commands import ROOT, environment, until
from tests.sims.live.steps import Field, heat
from tests.sims.live.test_tasks import start, uninterrupted

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
SAME = Identity("mine.step", "digest", "dict", 100, 2)
PERIOD, STEPS = 20, 300


def folder(place: object, same: Identity = SAME, name: str = "it") -> CheckpointFolder:
    return CheckpointFolder(str(place), name, same, ["first", "second"])


# --- files ----------------------------------------------------------------------------------------


def test_the_last_two_checkpoints_of_each_task_are_kept_and_the_last_one_is_found(
    tmp_path: Path,
) -> None:
    kept = folder(tmp_path)
    for step in (10, 20, 30):
        kept.write(0, (step, f"after {step}".encode()))
    kept.write(1, (5, b"other"))
    names = sorted(it.name for it in (tmp_path / "it").iterdir())
    assert names == [
        f"{it}.checkpoint" for it in ("0-000000000020", "0-000000000030", "1-000000000005")
    ]
    assert folder(tmp_path).found(fresh=False) == {0: (30, b"after 30"), 1: (5, b"other")}
    assert folder(tmp_path, name="another").found(fresh=False) == {}


def test_a_call_that_went_on_removes_what_the_one_before_has_left(tmp_path: Path) -> None:
    folder(tmp_path).write(0, (10, b"a"))
    later = folder(tmp_path)
    later.found(fresh=False)
    for step in (20, 30):
        later.write(0, (step, b"b"))
    assert len(list((tmp_path / "it").iterdir())) == 2


@pytest.mark.parametrize(
    "spoil", [bytes.upper, lambda it: it[:-1], lambda _: b"", lambda _: b"[1]\n"]
)
def test_a_spoilt_checkpoint_is_named_and_the_one_before_is_taken(
    tmp_path: Path, spoil: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = folder(tmp_path)
    kept.write(0, (10, b"before"))
    kept.write(0, (20, b"after"))
    last = max((tmp_path / "it").iterdir())
    last.write_bytes(spoil(last.read_bytes()))
    assert folder(tmp_path).found(fresh=False) == {0: (10, b"before")}
    assert f"{last} is spoilt (" in capsys.readouterr().err
    first = min((tmp_path / "it").iterdir())
    first.write_bytes(spoil(first.read_bytes()))
    with pytest.raises(InputError, match=r"all checkpoints of state 0 in .* are spoilt"):
        folder(tmp_path).found(fresh=False)
    assert folder(tmp_path).found(fresh=True) == {}
    assert list((tmp_path / "it").iterdir()) == []


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        (
            Identity("mine.other", "else", "dict", 100, 2),
            "the function was mine.step, and is mine.other",
        ),
        (
            Identity("mine.step", "else", "dict", 100, 2),
            "the function's source, or a value that it was",
        ),
        (Identity("mine.step", "digest", "list", 100, 2), "the state was a dict, and is a list"),
        (Identity("mine.step", "digest", "dict", 50, 2), "the steps were 100, and are 50"),
        (Identity("mine.step", "digest", "dict", 100, 3), "the number of states was 2, and is 3"),
    ],
)
def test_checkpoints_of_another_call_are_refused_naming_the_difference(
    tmp_path: Path, other: Identity, problem: str
) -> None:
    folder(tmp_path).write(0, (10, b"state"))
    with pytest.raises(InputError) as refused:
        folder(tmp_path, other).found(fresh=False)
    assert f"{tmp_path}/it is another call's: {problem}" in str(refused.value)
    assert "fresh=True" in str(refused.value)
    assert ";" not in refused.value.problem
    assert len(list((tmp_path / "it").iterdir())) == 1


def test_another_start_state_and_another_python_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as changed:
        changed.setattr("platform.python_version", lambda: "3.99.1")
        folder(tmp_path).write(0, (10, b"state"))
    CheckpointFolder(str(tmp_path), "it", SAME, ["changed", "second"]).found(fresh=False)
    said = capsys.readouterr().err
    assert "is of Python 3.99.1" in said
    assert "the call began from another start state; it goes on from step 10" in said


def test_what_a_killed_program_was_writing_is_no_checkpoint(tmp_path: Path) -> None:
    kept = folder(tmp_path)
    kept.write(0, (10, b"state"))
    whole = next((tmp_path / "it").iterdir())
    whole.with_name("0-000000000020.checkpoint.4711").write_bytes(whole.read_bytes()[:-2])
    assert folder(tmp_path).found(fresh=False) == {0: (10, b"state")}


def test_a_url_of_fsspec_is_a_folder(tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}"
    folder(place).write(0, (10, b"state"))
    assert folder(place).found(fresh=False) == {0: (10, b"state")}


def test_a_folder_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "it").write_text("a file")
    with pytest.raises(InputError, match=r"call: checkpoints: .* cannot be opened"):
        folder(tmp_path)


def made(factor: float, how: Callable[[int], int] = abs) -> Callable[[float, int], float]:
    def step(state: float, number: int) -> float:
        return state * factor + how(number)

    return step


class Counting:
    def __init__(self, by: int) -> None:
        self.by = by

    def __call__(self, state: int, number: int) -> int:
        return state + self.by


def test_a_function_is_another_one_if_its_source_or_a_value_that_it_was_made_with_differs() -> None:
    def of(function: Callable[..., Any]) -> Identity:
        return identity(function, [1.0], 10)

    assert of(made(2.0)) == of(made(2.0))
    assert of(made(2.0)).source != of(made(3.0)).source
    assert of(partial(heat, step=1)).source != of(partial(heat, step=2)).source
    assert of(partial(heat, step=1)).function == "tests.sims.live.steps.heat"
    assert of(Counting(1)) == of(Counting(1))
    assert of(Counting(1)).source != of(Counting(2)).source
    one = of(lambda state, _: state + 1)
    two = of(lambda state, _: state + 2)
    assert one.source != two.source
    assert of(made(1)).state == "float"
    assert identity(heat, [{}, np.zeros(1)], 3).state == "dict, numpy.ndarray"


# --- whole calls ----------------------------------------------------------------------------------

SCRIPT = """\
import os, sys, time
from pathlib import Path

import holdfast
import numpy as np


def step(field, number):
    with Path("FOLDER", "steps").open("a") as file:
        file.write(f"{number}\\n")
    time.sleep(0.01)
    return (field + np.roll(field, 1, 0) + np.roll(field, 1, 1)) / 3 + number / 1e6


if __name__ == "__main__":
    field = np.arange(400.0).reshape(20, 20) % 7
    images = {"kind": "images", "period": PERIOD}
    about = dict(workers=2, protection=images, checkpoints="kept")
    if len(sys.argv) > 1:
        about["scheduler"] = sys.argv[1]
    np.save("answer", holdfast.live.run(step, field, steps=STEPS, **about))
"""


def script(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    file = folder / "calls.py"
    text = SCRIPT
    for name, value in {"PERIOD": PERIOD, "STEPS": STEPS, "FOLDER": folder}.items():
        text = text.replace(name, str(value))
    file.write_text(text)
    return subprocess.Popen(
        [sys.executable, str(file), *words],
        cwd=folder,
        env=environment(PYTHONPATH=os.pathsep.join((str(ROOT), str(ROOT / "sims/python")))),
        stderr=subprocess.PIPE,
    )


def answer() -> Field:
    field = np.arange(400.0).reshape(20, 20) % 7
    for number in range(STEPS):
        field = (field + np.roll(field, 1, 0) + np.roll(field, 1, 1)) / 3 + number / 1e6
    return field


def saved(folder: Path) -> int:
    """The step of the last checkpoint in a folder; 0 where there is none."""
    names = (it.name for it in folder.glob("kept/step/*.checkpoint"))
    return max((int(it.split("-")[1].split(".")[0]) for it in names), default=0)


def computed(folder: Path) -> list[int]:
    path = folder / "steps"
    return [int(it) for it in path.read_text().split()] if path.exists() else []


def test_the_same_call_goes_on_after_its_program_was_killed(tmp_path: Path) -> None:
    """The cluster is the program's own, and ends with it. The second program computes again what
    followed the last checkpoint, which is at most a period."""
    killed = script(tmp_path)
    until(lambda: saved(tmp_path) >= 100)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    at, before = saved(tmp_path), computed(tmp_path)
    assert script(tmp_path).wait(120) == 0
    assert np.array_equal(np.load(tmp_path / "answer.npy"), answer())
    after = computed(tmp_path)[len(before) :]
    # What the killed program's workers still computed before they ended comes first.
    again = after[after.index(at) :] if at in after else after
    assert again == list(range(at, STEPS))
    assert max(before) - at <= PERIOD + 1


def test_the_same_call_goes_on_after_its_scheduler_was_killed(tmp_path: Path) -> None:
    """Without a folder the error has the last state, and another call can begin from it."""
    state, kept = start(tmp_path), tmp_path / "kept"
    images = {"kind": "images", "period": PERIOD}
    about: dict[str, Any] = {"steps": STEPS, "protection": images}

    def lost(**more: Any) -> ClusterLost:
        folder = tmp_path / f"{len(more)}"
        folder.mkdir()
        where = folder / "cluster.json"
        words = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        with part_of_cluster(folder, *words, "--scheduler-file", str(where)) as scheduler:
            until(where.exists, scheduler)
            with dask_worker(folder):

                def callback(it: holdfast.live.Progress) -> None:
                    if it.checkpoint >= 100:
                        scheduler.kill()

                with pytest.raises(ClusterLost) as raised:
                    holdfast.live.run(
                        heat, state, scheduler=str(where), callback=callback, **about, **more
                    )
        return raised.value

    error = lost()
    assert error.step >= 100
    assert np.array_equal(error.state["field"], uninterrupted(state, error.step))
    assert "begins from this error's `state`" in str(error)
    error = lost(checkpoints=kept)
    assert "the same call, which goes on from its checkpoints" in str(error)
    with dask(tmp_path, 1) as scheduler:
        task = holdfast.live.submit(heat, state, scheduler=scheduler, checkpoints=kept, **about)
        found = task.result(120)
    assert np.array_equal(found["field"], uninterrupted(state, STEPS))
    assert task.cost.computed == STEPS - error.step


def test_the_same_call_goes_on_after_all_was_killed_at_once(tmp_path: Path) -> None:
    where = tmp_path / "cluster.json"
    words = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    with part_of_cluster(tmp_path, *words, "--scheduler-file", str(where)) as scheduler:
        until(where.exists, scheduler)
        with dask_worker(tmp_path) as one, dask_worker(tmp_path) as two:
            program = script(tmp_path, str(where))
            until(lambda: saved(tmp_path) >= 100)
            everything = scheduler, one, two, program
            for it in everything:
                it.kill()
            for it in everything:
                it.wait(60)
    where.unlink()
    at, before = saved(tmp_path), len(computed(tmp_path))
    with dask(tmp_path) as again:
        assert script(tmp_path, again).wait(120) == 0
    assert np.array_equal(np.load(tmp_path / "answer.npy"), answer())
    assert computed(tmp_path)[before:] == list(range(at, STEPS))


def test_a_call_whose_tasks_are_all_complete_needs_no_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = start(tmp_path)
    about: dict[str, Any] = {"steps": 40, "workers": 1, "checkpoints": tmp_path, "name": "mine"}
    first = holdfast.live.run(heat, state, **about)
    monkeypatch.setattr("sims.live.tasks.opened", None)
    again = holdfast.live.run(heat, state, **about)
    assert np.array_equal(first["field"], again["field"])
    with pytest.raises(InputError, match="the steps were 40, and are 41"):
        holdfast.live.run(heat, state, **{**about, "steps": 41})


def test_a_folder_that_becomes_full_ends_the_call_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = CheckpointFolder.write

    def write(self: CheckpointFolder, task: int, state: Any) -> None:
        if state[0] >= 100:
            with self._refusing("written"):
                raise OSError(28, "No space left on device")
        written(self, task, state)

    monkeypatch.setattr(CheckpointFolder, "write", write)
    with pytest.raises(InputError, match=r"call: checkpoints: .* cannot be written: No space left"):
        holdfast.live.run(
            *(heat, start(tmp_path)),
            steps=STEPS,
            workers=1,
            protection={"kind": "images", "period": PERIOD},
            checkpoints=tmp_path,
        )


# --- the end of a worker --------------------------------------------------------------------------

TOLD = """\
import asyncio, signal, sys, time
from sims.live import holder
from sims.packing import pack

holder.GRACE = 0.3


async def listen():
    asyncio.ensure_future(holder.Holder(pack(holder.hashed), False).told_to_end())
    await asyncio.sleep(0)


loop = asyncio.new_event_loop()
loop.run_until_complete(listen())
print("listens", flush=True)
%s
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("loop", "number"), [("", signal.SIGKILL), ("loop.close()", signal.SIGTERM)]
)
def test_a_worker_that_is_told_to_end_ends_also_when_its_loop_does_not_run(
    loop: str, number: int
) -> None:
    """As the scheduler ends, a worker closes its loop; a SIGTERM that came then was lost."""
    process = subprocess.Popen(
        [sys.executable, "-c", TOLD % loop],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "listens\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == -number
    process.stdout.close()
