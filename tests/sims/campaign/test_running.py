"""Many runs: on any executor, each once, resumed where they were interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from sims.campaign import run_many
from sims.campaign.keeping import stored
from sims.campaign.running import QUEUED_PER_CORE
from sims.errors import InputError

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0
"""Seconds of wall time; the workers would sleep for longer."""


def square(number: int) -> int:
    return number * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number


@frozen
class Task:
    """Tasks are told apart by their repr."""

    policy: str
    seed: int


def name(task: Task) -> str:
    return f"{task.policy}/{task.seed}"


class Inline(Executor):
    """Runs at once, in this thread; remembers how much was handed over ahead of need."""

    def __init__(self) -> None:
        self.calls = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def test_every_task_comes_back_with_its_result_on_this_machines_cores() -> None:
    assert sorted(run_many(square, range(50))) == [(k, k * k) for k in range(50)]


@pytest.mark.parametrize("executor", [Inline(), ThreadPoolExecutor(3)])
def test_any_executor_will_do_and_is_left_open(executor: Executor) -> None:
    assert sorted(run_many(square, range(20), executor)) == [(k, k * k) for k in range(20)]
    assert executor.submit(square, 3).result() == 9


def test_a_campaign_of_millions_is_not_queued_whole() -> None:
    taken = 0

    def endless() -> Iterator[int]:
        nonlocal taken
        while True:
            taken += 1
            yield taken

    results = run_many(square, endless(), Inline())
    for _ in range(5):
        next(results)
    results.close()  # type: ignore[attr-defined]
    assert taken < 1000 * QUEUED_PER_CORE


def test_an_error_in_a_task_reaches_the_caller() -> None:
    with pytest.raises(ValueError, match="three"):
        list(run_many(fail_at_three, range(10), Inline()))


# --- resuming -------------------------------------------------------------------------------------

TASKS = [Task(policy, seed) for policy in ("IE", "Y-IE") for seed in range(4)]


def test_results_are_stored_and_not_computed_again(tmp_path: Path) -> None:
    store, executor = tmp_path / "deep" / "results.jsonl", Inline()
    first = dict(run_many(name, TASKS, executor, store))
    assert first == {task: name(task) for task in TASKS}
    again = Inline()
    assert dict(run_many(name, TASKS, again, store)) == first
    assert (executor.calls, again.calls) == (len(TASKS), 0)


def test_an_interrupted_campaign_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """What was finished but not asked for any more is kept, too."""
    store, first = tmp_path / "results.jsonl", Inline()
    results = run_many(name, TASKS, first, store)
    seen = dict(next(results) for _ in range(3))
    results.close()  # type: ignore[attr-defined]
    assert {repr(task) for task in seen} <= set(stored(store))
    assert len(stored(store)) == first.calls
    rest = Inline()
    assert dict(run_many(name, TASKS, rest, store)) == {task: name(task) for task in TASKS}
    assert rest.calls == len(TASKS) - first.calls


def test_a_result_is_on_disk_when_it_is_handed_over(tmp_path: Path) -> None:
    store = tmp_path / "results.jsonl"
    for task, _ in run_many(name, TASKS, Inline(), store):
        assert repr(task) in store.read_text()


def test_a_store_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be used: Is a directory"):
        list(run_many(name, TASKS, Inline(), tmp_path))


ENDLESS = """
import sys, time
from pathlib import Path
from sims.campaign import run_many

def slow(task):
    if task > 0:
        time.sleep(60)
    return task

try:
    list(run_many(slow, range(-9, 40), store=Path(sys.argv[1])))
except KeyboardInterrupt:
    print("interrupted")
"""


def interrupted(script: str, folder: Path) -> tuple[tuple[str, str, int], int]:
    """What a script says that is interrupted once it has stored ten results, and how many it has.

    To the whole process group, as a terminal sends it.
    """
    store, file = folder / "results.jsonl", folder / "script.py"
    file.write_text(script)
    process = subprocess.Popen(
        [sys.executable, file, store],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    began = time.monotonic()
    while not store.exists() or len(store.read_bytes().splitlines()) < 10:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    return (out, err, process.returncode), len(stored(store))


def test_control_c_stops_workers_in_the_middle_and_keeps_what_is_done(tmp_path: Path) -> None:
    assert interrupted(ENDLESS, tmp_path) == (("interrupted\n", "", 0), 10)


def test_control_c_is_as_quiet_where_a_thousand_short_tasks_are_under_way(tmp_path: Path) -> None:
    busy = ENDLESS.replace("time.sleep(60)", "time.sleep(0.005)").replace("40)", "40_000)")
    for folder in map(tmp_path.joinpath, "abc"):
        folder.mkdir()
        said, kept = interrupted(busy, folder)
        assert said == ("interrupted\n", "", 0)
        assert 10 <= kept < 40_000


def test_more_tasks_may_be_asked_for_later(tmp_path: Path) -> None:
    store = tmp_path / "results.jsonl"
    list(run_many(name, TASKS[:5], Inline(), store))
    more = Inline()
    assert len(dict(run_many(name, TASKS, more, store))) == len(TASKS)
    assert more.calls == len(TASKS) - 5


def test_a_failure_keeps_what_was_done_before(tmp_path: Path) -> None:
    store = tmp_path / "results.jsonl"
    with pytest.raises(ValueError, match="three"):
        list(run_many(fail_at_three, range(10), Inline(), store))
    assert {"0", "1", "2"} <= set(stored(store))
    assert "3" not in stored(store)


def test_a_last_line_that_was_cut_is_computed_again(tmp_path: Path) -> None:
    store = tmp_path / "results.jsonl"
    list(run_many(square, range(3), Inline(), store))
    whole = store.read_bytes()
    store.write_bytes(whole[:-4])
    again = Inline()
    assert sorted(run_many(square, range(3), again, store)) == [(0, 0), (1, 1), (2, 4)]
    assert again.calls == 1
    assert sorted(store.read_bytes().splitlines()) == sorted(whole.splitlines())


@pytest.mark.parametrize("line", ["hello", "[1]", '{"task": 1}', '{"result": 1}', "7"])
def test_a_file_of_something_else_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    store = tmp_path / "results.jsonl"
    store.write_text(json.dumps({"task": "0", "result": 0}) + "\n" + line + "\n")
    with pytest.raises(InputError) as caught:
        stored(store)
    assert str(caught.value).startswith(f"{store}: line 2: ")


def test_without_a_store_there_is_nothing_to_resume(tmp_path: Path) -> None:
    assert stored(tmp_path / "none.jsonl") == {}
