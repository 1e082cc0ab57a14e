"""Many runs: on any executor, each once, resumed where they were interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from sims.campaign import QUEUED_PER_CORE, run_many, stored
from sims.errors import InputError


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
    store = tmp_path / "results.jsonl"
    results = run_many(name, TASKS, Inline(), store)
    seen = dict(next(results) for _ in range(3))
    results.close()  # type: ignore[attr-defined]
    assert set(stored(store)) == {repr(task) for task in seen}
    rest = Inline()
    assert dict(run_many(name, TASKS, rest, store)) == {task: name(task) for task in TASKS}
    assert rest.calls == len(TASKS) - 3


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
