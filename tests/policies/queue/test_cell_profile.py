"""The free workers of cells over time, and the places of jobs there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from policies.interface.cells import Cells
from policies.interface.queue import BatchJob, BatchView, Queued, Run
from policies.maths.speedup import Rigid
from policies.queue.cell_grid import NOW, Grid, Place
from policies.queue.cell_profile import CellProfile
from policies.queue.free_profile import Sought

PARTITIONS = {"a": range(4), "b": range(2, 6), "c": range(6, 8)}


def job(index: int, partition: int, processors: int, held: float) -> Queued:
    processors = min(processors, len(list(PARTITIONS.values())[partition]))
    known = BatchJob(index, f"J{index}", Rigid(processors, held), partition=partition)
    return Queued(known, processors, held, (0, index))


def profile_of(now: float, windows: list[Any], runs: list[tuple[int, float]]) -> CellProfile:
    """Worker k of `runs` is used until its time."""
    cells = Cells.of(8, PARTITIONS, [((a, a + n), who) for a, n, who in windows])
    used = dict(runs)
    running = [
        Run(end, k, 1, None, ((k, k),), k, cells.parts(((k, k),))) for k, end in used.items()
    ]
    running.sort(key=lambda run: run.end)
    vacant = tuple((k, k) for k in range(8) if k not in used)
    view = SimpleNamespace(now=now, cells=cells, vacant=vacant, running=running)
    return CellProfile.of(cast(BatchView, view))


KINDS = st.tuples(st.integers(0, 2), st.integers(1, 4), st.integers(1, 9))
RUNS = st.lists(st.tuples(st.integers(0, 7), st.integers(1, 20)), max_size=8)
WINDOWS = st.lists(
    st.tuples(st.integers(0, 25), st.integers(1, 9), st.sets(st.integers(0, 7), min_size=1)),
    max_size=2,
)


def free_by_slot(profile: CellProfile, cell: int) -> list[int]:
    grid = profile.grids[profile.cells.component_of[cell]]
    column, found = grid.column_of[cell], list[int]()
    for step, time in enumerate(grid.times):
        until = grid.times[step + 1] if step + 1 < len(grid.times) else 80
        found += [int(grid.rows[step, column])] * int(until - time)
    return found


def test_a_place_is_moved_also_where_no_step_begins_with_it() -> None:
    """A worker is used from 0 to 15 in place of 10 to 25."""
    grid = Grid.of(0, [3], Cells.of(4, {}, ()), 0, [(20, ((0, 1),))])
    grid.slide(((0, 1),), 0, 10, 15)
    free = [int(it) for it in grid.rows[: len(grid.times), 0]]
    assert dict(zip(grid.times, free, strict=True)) == {0: 2, 10: 3, 15: 4, 20: 5, 25: 4}


@given(RUNS, st.lists(KINDS, min_size=1, max_size=8), WINDOWS)
def test_each_job_gets_the_earliest_place_by_the_least_numbers_free_in_its_cells(
    runs: list[tuple[int, float]], kinds: list[tuple[int, int, int]], windows: list[Any]
) -> None:
    profile = profile_of(0, windows, runs)
    cells = profile.cells
    for index, kind in enumerate(kinds):
        waiting, held = job(index, *kind), kind[2]
        free = [free_by_slot(profile, cell) for cell in range(len(cells.cells))]

        def room(cell: int, start: int, free: list[list[int]] = free, held: int = held) -> int:
            if cells.cells[cell].windows.closed(start, start + held):
                return 0
            return max(0, min(free[cell][start : start + held]))

        own = cells.of_partition[waiting.job.partition]
        expected = next(
            t for t in range(70) if sum(room(cell, t) for cell in own) >= waiting.processors
        )
        start, parts = profile.earliest(waiting)
        assert max(start, 0) == expected
        assert sum(count for _, count in parts) == waiting.processors
        assert all(count <= room(cell, expected) for cell, count in parts)
        profile.take((start, parts), waiting)


@given(RUNS, st.lists(KINDS, min_size=1, max_size=9), WINDOWS, st.data())
def test_an_earlier_place_is_the_one_that_a_job_finds_that_gives_up_its_own_first(
    runs: list[tuple[int, float]],
    kinds: list[tuple[int, int, int]],
    windows: list[Any],
    data: st.DataObject,
) -> None:
    profile = profile_of(0, windows, runs)
    jobs = [job(index, *kind) for index, kind in enumerate(kinds)]
    places = dict[int, Place]()
    for waiting in jobs:
        places[waiting.key[1]] = profile.earliest(waiting)
        profile.take(places[waiting.key[1]], waiting)
    gone = data.draw(st.sampled_from(jobs))
    profile.take(places.pop(gone.key[1]), gone, 1)
    for waiting in jobs:
        place = places.get(waiting.key[1], (NOW, ()))
        if place[0] == NOW:
            continue
        found = profile.earlier(waiting, place, place[0], Sought())
        profile.take(place, waiting, 1)
        again = profile.earliest(waiting)
        assert found == (again if again[0] < place[0] else None)
        profile.take(place, waiting)
        if found is not None:
            profile.move(waiting, place, found)
            places[waiting.key[1]] = found


@given(RUNS, st.lists(KINDS, min_size=2, max_size=9), WINDOWS, st.data())
def test_where_one_job_has_no_place_those_that_need_more_and_begin_later_have_none(
    runs: list[tuple[int, float]],
    kinds: list[tuple[int, int, int]],
    windows: list[Any],
    data: st.DataObject,
) -> None:
    profile = profile_of(0, windows, runs)
    jobs = [job(index, *kind) for index, kind in enumerate(kinds)]
    places = list[Place]()
    for waiting in jobs:
        places.append(profile.earliest(waiting))
        profile.take(places[-1], waiting)
    gone = data.draw(st.integers(0, len(jobs) - 1))
    profile.take(places[gone], jobs[gone], 1)
    waits = [k for k in range(len(jobs)) if k != gone and places[k][0] != NOW]
    for one in waits:
        sought = Sought()
        profile.earlier(jobs[one], places[one], places[one][0], sought)
        for other in waits:
            seen, _ = sought.before(jobs[other].processors, jobs[other].held)
            later = places[other][0] >= places[one][0]
            if later and jobs[other].job.partition == jobs[one].job.partition:
                found = profile.earlier(jobs[other], places[other], places[other][0], Sought())
                assert found is None or max(found[0], 0) >= seen
