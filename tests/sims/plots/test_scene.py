from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from actors.events import (
    CheckpointTaken,
    FaultIgnored,
    MembersJoined,
    Outcome,
    RunEnded,
    RunStarted,
)
from actors.runtime import Event, Record
from sims.history.rows import Use
from sims.ledger import account
from sims.plots import KIND, RUN_KIND, USE_PAINTS, Sign
from sims.plots.boxes import Raster, coverage, side_by_side
from sims.plots.pictures import averaged, channels_used
from sims.plots.scene import Scene, middle
from sims.session import run
from tests.parts import parted
from tests.sims.kinds import EVERY, records_of
from tests.sims.plots.made import boxes as made

AT = ("t", "row")


def of(kind: type[Event], records: Iterable[Record]) -> list[Any]:
    """The records of such events."""
    return [it for it in records if isinstance(it.event, kind)]


@pytest.mark.parametrize("name", EVERY)
def test_boxes_cover_what_the_ledger_counts(name: str) -> None:
    scene = Scene.of(records_of(name))
    boxes, ledger = scene.uses, account(records_of(name), scene.header.processors)
    covered = float(((boxes.high - boxes.low) * (boxes.end - boxes.start) * boxes.share).sum())
    spent = ledger.capacity - ledger.total[Use.IDLE]
    assert covered == pytest.approx(float(spent), rel=1e-9)
    told = {use.value: 100 * ledger.share(use) for use in Use if ledger.total[use]}
    assert scene.shares() == pytest.approx(told, rel=1e-6)
    assert boxes.low.min() >= 0
    assert boxes.high.max() <= scene.header.processors
    assert boxes.end.max() <= scene.end


@pytest.mark.parametrize("name", EVERY)
def test_every_run_has_a_box_in_its_jobs_row_and_copies_do_not_overlap(name: str) -> None:
    records = records_of(name)
    scene = Scene.of(records)
    runs = scene.runs[scene.runs.run >= 0]
    assert len(runs) == len(of(RunStarted, parted(records)))
    assert (runs.low.astype(int) == runs.job).all()
    for row in range(len(scene.jobs)):
        mine = runs[runs.job == row]
        for lane in set(mine.low.tolist()):
            there = mine[mine.low == lane]
            order = there.start.argsort(kind="stable")
            assert (there.end[order][:-1] <= there.start[order][1:]).all()


def test_jobs_wait_from_their_submission_to_their_end() -> None:
    scene = Scene.of(records_of("batch-rigid"))
    waits = scene.runs[scene.runs.kind == RUN_KIND["in_system"]]
    assert sorted(waits.job.tolist()) == list(range(100))
    assert waits.start.tolist() == [0] * 100
    assert waits.end.max() == scene.end


def told(name: str, kind: Sign, *columns: str) -> list[tuple[object, ...]]:
    """The signs of a kind: t, row, and so on."""
    marks = Scene.of(records_of(name)).marks
    found = marks[marks.kind == kind]
    return list(zip(*(found[column].tolist() for column in columns), strict=True))


def test_each_attempt_that_failed_is_marked_at_its_end() -> None:
    ended = of(RunEnded, records_of("batch-rigid"))
    failed = [(it.t,) for it in ended if it.event.outcome is Outcome.FAILED]
    assert told("batch-rigid", Sign.ERROR, "t") == failed != []


def test_faults_are_marked_on_the_processors_that_they_struck() -> None:
    struck = [it for kind in (Sign.CRASH, Sign.FAULT) for it in told("malleable-fatal", kind, *AT)]
    assert sorted(struck) == [(50000, 0.5), (50600, 1.5)]
    assert told("malleable-fatal", Sign.FATAL, *AT) == [(50600, 0.5), (50600, 1.5)]


def test_who_went_down_is_marked_with_the_run_that_it_cost_or_as_a_fault() -> None:
    crashes = told("buddies", Sign.CRASH, *AT, "job", "run")
    assert crashes == [(5, 0.5, 0, 0), (9, 2.5, 0, 1), (23, 1.5, 0, 2)]
    faults = told("buddies", Sign.FAULT, *AT, "job")
    assert faults == [(10, 3.5, -1), (24, 3.5, -1)]


def test_each_checkpoint_is_marked_in_the_middle_of_its_run() -> None:
    taken = [it.t for it in of(CheckpointTaken, records_of("buddies"))]
    marks = told("buddies", Sign.CHECKPOINT, *AT, "job")
    assert [t for t, _, _ in marks] == taken
    assert {(job, row) for _, row, job in marks} == {(0, 1.5), (1, 3.5)}


def test_a_job_that_keeps_its_workers_between_two_runs_does_not_wait() -> None:
    queue = Scene.of(records_of("buddies")).queue
    assert queue.waiting[:-1] @ np.diff(queue.t) == 0


def test_channels_are_counted_for_images_that_are_fetched_and_saved_too() -> None:
    scene = Scene.of(records_of("images"))
    times, levels = channels_used(scene)
    assert sum(levels.values()).max() == scene.channels == 1
    used = {what: float(level[:-1] @ np.diff(times)) for what, level in levels.items()}
    assert used == {"program": 8, "data": 2, "image": 2, "saved image": 4}


def test_rows_of_a_run_on_many_workers_stay_in_line_with_those_of_one() -> None:
    scene = Scene.of(records_of("buddies"))
    boxes = scene.look_of_uses().of(scene.rows_of_processors())
    behind = np.array([paint.state for paint in USE_PAINTS])[boxes.kind]
    assert {round(float(low) % 1, 9) for low in boxes.low[~behind]} == {0.15}
    assert {round(float(high) % 1, 9) for high in boxes.high[~behind]} == {0.85}


def test_the_middle_of_the_largest_interval_stands_for_a_set_of_processors() -> None:
    assert middle("0-3 10-20 5") == 15
    assert middle("7") == 7


def test_the_queue_is_empty_after_the_last_job() -> None:
    queue = Scene.of(records_of("batch-easy")).queue
    for level in (queue.waiting, queue.running):
        assert level.min() >= 0
        assert level.max() > 0 == level[-1]


def test_a_curve_of_many_steps_keeps_its_area() -> None:
    times = np.arange(0, 1500, 0.25)
    levels = np.array([times % 2, times % 3])
    found, means = averaged(times, levels)
    assert len(found) < 2100
    assert means[:, :-1] @ np.diff(found) == pytest.approx(levels[:, :-1] @ np.diff(times))


def test_bars_of_groups_add_up_to_the_whole_pool() -> None:
    records = records_of("batch-rigid")
    scene = Scene.of(records)
    ledger = account(records, scene.header.processors)
    areas = coverage(scene.uses, Raster(64, 1, scene.header.processors, scene.end))
    for use in (Use.USEFUL, Use.LOST):
        assert areas[KIND[use.value]].mean() == pytest.approx(ledger.share(use))


def test_shares_of_a_processor_lie_beside_each_other_in_its_row() -> None:
    spans = ((0, 4, 0.5), (0, 2, 0.25), (1, 3, 0.25), (2, 4, 0.25))
    shared = made(*((7, 8, start, end, 0, share) for start, end, share in spans))
    boxes = side_by_side(shared)
    assert boxes.low.tolist() == [7, 7.5, 7.75, 7.5]
    assert boxes.high.tolist() == [7.5, 7.75, 8, 7.75]
    assert boxes.share.tolist() == [1, 1, 1, 1]


def test_a_fault_without_effect_is_marked_where_it_struck() -> None:
    ignored = of(FaultIgnored, records_of("ignored"))
    struck = [(it.t, it.event.worker + 0.5) for it in ignored]
    assert told("ignored", Sign.IGNORED, *AT) == struck != []


def test_work_that_went_on_in_another_run_is_not_painted_as_cancelled() -> None:
    records = records_of("malleable10")
    went_on = Scene.of(records).runs.kind == RUN_KIND["went_on"]
    started = [it.event for it in of(RunStarted, records)]
    sources = {(it.job, it.source) for it in started if it.source is not None}
    assert 0 < went_on.sum() <= len(sources)


def test_who_has_joined_a_run_counts_for_where_its_checkpoints_are_marked() -> None:
    records = records_of("promised")
    [joined] = of(MembersJoined, records)
    assert (joined.event.job, joined.event.processors) == ("T2", "0-1")
    marks = told("promised", Sign.CHECKPOINT, *AT, "job", "run")
    after = next(it for it in marks if it[2] == 1 and it[0] > joined.t)
    assert after[1:] == (middle("2-5 8 10 0-1") + 0.5, 1, 1)


def test_the_rest_of_a_whole_node_is_told_from_workers_that_nobody_holds() -> None:
    result = run(
        {
            "name": "nodes",
            "unit": "s",
            "platform": {
                "workers": 8,
                "node": 4,
                "partitions": [{"name": "a", "units": "0-7", "exclusive": True}],
            },
            "job": {"kind": "rigid", "jobs": [{"processors": 3, "time": 10, "queue": "a"}]},
            "policy": {"name": "EASY"},
        }
    )
    scene = Scene.of(result.records())
    [rest] = scene.uses[scene.uses.kind == KIND["rest of its nodes"]]
    assert (rest.low, rest.high, rest.start, rest.end) == (3, 4, 0, 10)
    assert scene.shares() == {"useful": 37.5, "idle": 62.5}
