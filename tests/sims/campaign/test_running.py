"""Many tasks: on any executor, each once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sims.campaign import executors
from sims.campaign.engine import AHEAD, run_many
from sims.campaign.executors import given
from tests.sims.cli.commands import Said, ended, python, until


def square(number: int) -> int:
    return number * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number


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
    assert taken < 1000 * AHEAD


def test_an_error_in_a_task_reaches_the_caller() -> None:
    with pytest.raises(ValueError, match="three"):
        list(run_many(fail_at_three, range(10), Inline()))


# --- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("hears_ctrl_c")
def test_control_c_leaves_no_lock_of_a_future_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Held, it would keep the thread that manages the executor from ever ending (seen once in two
    hundred presses)."""
    before: list[str] = []

    def pressed(
        pending: Sequence[Future[int]], *_: object, **__: object
    ) -> tuple[set[object], ...]:
        signal.raise_signal(signal.SIGINT)
        before.append("what `wait` does next")
        return set(pending), set()

    monkeypatch.setattr(executors, "wait", pressed)
    with pytest.raises(KeyboardInterrupt):
        given(Inline()).first_of([Future()])
    assert before == ["what `wait` does next"]


ENDLESS = """
import sys, time
from pathlib import Path
from sims.campaign.engine import run_many

def slow(task):
    if task > 0:
        time.sleep(600)
    return task

try:
    with Path(sys.argv[1]).open("w", buffering=1) as file:
        for task, _ in run_many(slow, range(-9, 40)):
            print(task, file=file)
except KeyboardInterrupt:
    print("interrupted")
"""


def interrupted(script: str, folder: Path) -> tuple[Said, int]:
    """What a script says that is interrupted once it has had ten results, and how many it had.

    To the whole process group, as a terminal sends it.
    """
    store, file = folder / "results", folder / "script.py"
    file.write_text(script)
    process = python(file, store, start_new_session=True)
    until(lambda: store.exists() and len(store.read_bytes().splitlines()) >= 10, process)
    os.killpg(process.pid, signal.SIGINT)
    return ended(process), len(store.read_bytes().splitlines())


@pytest.mark.usefixtures("hears_ctrl_c")
def test_control_c_stops_workers_in_the_middle(tmp_path: Path) -> None:
    assert interrupted(ENDLESS, tmp_path) == (Said(0, "interrupted\n", ""), 10)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_control_c_is_as_quiet_where_a_thousand_short_tasks_are_under_way(tmp_path: Path) -> None:
    busy = ENDLESS.replace("time.sleep(600)", "time.sleep(0.005)").replace("40)", "40_000)")
    for folder in map(tmp_path.joinpath, "abc"):
        folder.mkdir()
        said, kept = interrupted(busy, folder)
        assert said == Said(0, "interrupted\n", "")
        assert 10 <= kept < 40_000
