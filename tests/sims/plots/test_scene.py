from __future__ import annotations

import numpy as np
import pytest

from actors.events import (
    CheckpointTaken,
    FaultIgnored,
    MembersJoined,
    Outcome,
    RunEnded,
    RunStarted,
    WorkloadEnded,
)
from sims.ledger import Use
from sims.parts import parted
from sims.plots.boxes import BoxTable
from sims.plots.lanes import side_by_side
from sims.plots.ledger import by_group
from sims.plots.marks import Mark, Sign, middle
from sims.plots.palette import IN_SYSTEM, KIND, RUN_PAINTS, USE_PAINTS
from sims.plots.scene import Scene
from tests.sims.kinds import EVERY, records_of
from tests.sims.worlds import play


@pytest.mark.parametrize("name", EVERY)
def test_boxes_cover_what_the_ledger_counts(name: str) -> None:
    scene = Scene.of(records_of(name), ledger=True)
    boxes = scene.uses.boxes()
    covered = float(((boxes.high - boxes.low) * (boxes.end - boxes.start) * boxes.share).sum())
    spent = scene.ledger.capacity - scene.ledger.total[Use.IDLE]
    assert covered == pytest.approx(float(spent), rel=1e-9)
    assert boxes.low.min() >= 0
    assert boxes.high.max() <= scene.header.processors
    assert boxes.end.max() <= scene.end


@pytest.mark.parametrize("name", EVERY)
def test_every_run_has_a_box_in_its_jobs_row_and_copies_do_not_overlap(name: str) -> None:
    records = records_of(name)
    scene = Scene.of(records)
    boxes = scene.rows_of_jobs()
    runs = boxes.where(boxes.run >= 0)
    assert len(runs) == sum(isinstance(it.event, RunStarted) for it in parted(records))
    assert (runs.low.astype(int) == runs.job).all()
    for row in range(len(scene.jobs)):
        mine = runs.where(runs.job == row)
        for lane in set(mine.low.tolist()):
            there = mine.where(mine.low == lane)
            order = there.start.argsort(kind="stable")
            assert (there.end[order][:-1] <= there.start[order][1:]).all()


def test_jobs_wait_from_their_submission_to_their_end() -> None:
    scene = Scene.of(records_of("batch-rigid"))
    boxes = scene.runs.boxes()
    waits = boxes.where(boxes.kind == RUN_PAINTS.index(IN_SYSTEM))
    assert waits.job.tolist() != []
    assert sorted(waits.job.tolist()) == list(range(100))
    assert waits.start.tolist() == [0] * 100
    assert waits.end.max() == scene.end


def test_each_attempt_that_failed_is_marked_at_its_end() -> None:
    records = records_of("batch-rigid")
    failed = [
        it.t
        for it in records
        if isinstance(it.event, RunEnded) and it.event.outcome is Outcome.FAILED
    ]
    assert failed
    assert [mark.t for mark in Scene.of(records).marks] == failed
    assert {mark.kind for mark in Scene.of(records).marks} == {Sign.ERROR}


def test_faults_are_marked_on_the_processors_that_they_struck() -> None:
    marks = Scene.of(records_of("malleable-fatal")).marks
    struck = [(it.t, it.processor) for it in marks if it.kind in (Sign.CRASH, Sign.FAULT)]
    assert struck == [(50000, 0), (50600, 1)]
    fatal = [(it.t, it.processor) for it in marks if it.kind is Sign.FATAL]
    assert fatal == [(50600, 0), (50600, 1)]


def test_workers_whose_crash_cost_a_run_are_marked() -> None:
    records = records_of("volatile20")
    crashes = [mark for mark in Scene.of(records).marks if mark.kind is Sign.CRASH]
    lost = [
        it.t
        for it in records
        if isinstance(it.event, RunEnded) and it.event.outcome is Outcome.LOST
    ]
    assert lost
    assert {mark.t for mark in crashes} == set(lost)


def told(name: str, kind: Sign) -> list[Mark]:
    return [mark for mark in Scene.of(records_of(name)).marks if mark.kind is kind]


def test_who_went_down_is_marked_with_the_run_that_it_cost_or_as_a_fault() -> None:
    crashes = [(it.t, it.processor, it.job, it.run) for it in told("buddies", Sign.CRASH)]
    assert crashes == [(5, 0, "a", 0), (9, 2, "a", 1), (23, 1, "a", 2)]
    faults = [(it.t, it.processor, it.job) for it in told("buddies", Sign.FAULT)]
    assert faults == [(10, 3, None), (24, 3, None)]


def test_each_checkpoint_is_marked_in_the_middle_of_its_run() -> None:
    taken = [it.t for it in records_of("buddies") if isinstance(it.event, CheckpointTaken)]
    marks = told("buddies", Sign.CHECKPOINT)
    assert [mark.t for mark in marks] == taken
    assert {(mark.job, mark.processor) for mark in marks} == {("a", 1), ("b", 3)}


def test_a_checkpoint_that_is_lost_is_marked_on_all_that_were_struck() -> None:
    task = {"p": 2, "t": 10, "protection": "buddies", "period": 4, "recovery": 1}
    world = {"workers": 2, "faults": [[5, 0], [6, 1]], "downtime": 2, "jobs": [task]}
    fatal = [it for it in Scene.of(play(world)).marks if it.kind is Sign.FATAL]
    assert [(mark.t, mark.processor) for mark in fatal] == [(6, 0), (6, 1)]


def test_a_job_that_keeps_its_workers_between_two_runs_does_not_wait() -> None:
    scene = Scene.of(records_of("buddies"))
    times, levels = scene.levels.waiting.curve(scene.end)
    waited = levels[:-1] @ (times[1:] - times[:-1])
    assert waited == 0


def test_channels_are_counted_for_images_that_are_fetched_and_saved_too() -> None:
    scene = Scene.of(records_of("images"))
    assert set(scene.levels.transfers) == {"program", "data", "image", "save"}
    used = {}
    for note, level in scene.levels.transfers.items():
        times, levels = level.curve(scene.end)
        used[note] = float(levels[:-1] @ (times[1:] - times[:-1]))
    assert used == {"program": 8, "data": 2, "image": 2, "save": 4}


def test_rows_of_a_run_on_many_workers_stay_in_line_with_those_of_one() -> None:
    boxes = Scene.of(records_of("buddies")).rows_of_processors()
    behind = np.array([paint.state for paint in USE_PAINTS])[boxes.kind]
    assert {round(float(low) % 1, 9) for low in boxes.low[~behind]} == {0.15}
    assert {round(float(high) % 1, 9) for high in boxes.high[~behind]} == {0.85}


def test_the_middle_of_the_largest_interval_stands_for_a_set_of_processors() -> None:
    assert middle("0-3 10-20 5") == 15
    assert middle("7") == 7


def test_the_queue_is_empty_before_the_first_job_and_after_the_last() -> None:
    scene = Scene.of(records_of("batch-easy"))
    for level in (scene.levels.waiting, scene.levels.running):
        times, levels = level.curve(scene.end)
        assert times[0] == 0
        assert levels.min() >= 0
        assert levels[-1] == 0
    waiting, running = scene.levels.waiting, scene.levels.running
    assert sum(waiting.steps) == sum(running.steps) == 0


def test_transfers_never_use_more_channels_than_the_master_has() -> None:
    scene = Scene.of(records_of("volatile20"))
    assert scene.channels == 5
    assert set(scene.levels.transfers) == {"program", "data"}
    steps = sorted(
        (t, by)
        for level in scene.levels.transfers.values()
        for t, by in zip(level.times, level.steps, strict=True)
    )
    level = 0.0
    for _, by in steps:
        level += by
        assert 0 <= level <= scene.channels


def test_a_curve_of_many_steps_keeps_its_area() -> None:
    scene = Scene.of(records_of("batch-easy"))
    level = scene.levels.running
    for k in range(6000):
        level.step(k + 0.25, 1)
        level.step(k + 0.5, -1)
    times, levels = level.curve(scene.end)
    area = -sum(t * by for t, by in zip(level.times, level.steps, strict=True))
    assert len(times) < 2100
    widths = times[1:] - times[:-1]
    assert float(levels[:-1] @ widths) == pytest.approx(area, rel=1e-6)


def test_bars_of_groups_add_up_to_the_whole_pool() -> None:
    records = records_of("batch-rigid")
    assert any(isinstance(it.event, WorkloadEnded) for it in records)
    scene = Scene.of(records, ledger=True)
    areas = by_group(scene.uses.boxes(), scene.header.processors, 64)
    for use in (Use.USEFUL, Use.LOST):
        assert areas[KIND[use]].sum() == pytest.approx(float(scene.ledger.total[use]))


def test_shares_of_a_processor_lie_beside_each_other_in_its_row() -> None:
    table = BoxTable()
    useful = KIND[Use.USEFUL]
    for span, share in (((0, 4), 0.5), ((0, 2), 0.25), ((1, 3), 0.25), ((2, 4), 0.25)):
        table.add((7, 8, *span), useful, (0, 0, 0), share)
    boxes = side_by_side(table.boxes())
    assert boxes.low.tolist() == [7, 7.5, 7.75, 7.5]
    assert boxes.high.tolist() == [7.5, 7.75, 8, 7.75]
    assert boxes.share.tolist() == [1, 1, 1, 1]


def test_a_fault_without_effect_is_marked_where_it_struck() -> None:
    records = records_of("ignored")
    struck = [(it.t, it.event.worker) for it in records if isinstance(it.event, FaultIgnored)]
    marks = [it for it in Scene.of(records).marks if it.kind is Sign.IGNORED]
    assert struck
    assert [(it.t, it.processor) for it in marks] == struck


def test_who_has_joined_a_run_counts_for_where_its_checkpoints_are_marked() -> None:
    records = records_of("promised")
    [joined] = [it for it in records if isinstance(it.event, MembersJoined)]
    assert (joined.event.job, joined.event.processors) == ("T2", "0-1")
    marks = [it for it in Scene.of(records).marks if it.kind is Sign.CHECKPOINT and it.job == "T2"]
    after = next(it for it in marks if it.t > joined.t)
    assert (after.run, after.processor) == (1, middle("2-5 8 10 0-1"))
