"""What happens with redundant copies in columns, one rule at a time."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from attrs import frozen
from numpy.random import Generator

from actors.deciders.copies.placement import PlacementRule, Placer
from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    JobCompleted,
    JobDescribed,
    Outcome,
    RunEnded,
    RunStarted,
    WorkloadEnded,
)
from actors.runtime import ActorFailed, Deadlock, Record, System
from policies.copies import Fcfs, LapsR, ProcessorSharing, Srpt, SrptR, SrptREven
from policies.interface.copies import ActiveJobs, CopyAllocation, Sharing
from policies.maths.gains import FrozenTwoPoint, GainFunction
from policies.maths.speeds import TwoPoint
from tests.actors.deciders.copies.worlds import (
    columns,
    described,
    run,
    spawn_columns,
    told,
    varied,
)

FAST_LATER = ((0.0, 1.0), (2.0, 4.0))
CANCELLED = Outcome.CANCELLED
STOPS = ((0.0, 1.0), (1.0, 0.0))


def workload(jobs: int, load: float, workers: int, seed: int = 3) -> list[tuple[float, float]]:
    rng = np.random.default_rng(seed)
    times = rng.exponential(1 / (load * workers), jobs).cumsum().tolist()
    return list(zip(times, rng.exponential(1, jobs).tolist(), strict=True))


def test_a_job_ends_when_its_first_copy_ends() -> None:
    assert run(columns(), [(0, 6)], [FAST_LATER]).completed.tolist() == [3.0]


def test_the_furthest_copy_is_cloned_when_a_job_arrives() -> None:
    # Worker 0 runs at 1, worker 1 at 3: at 1 the job is at 3 of 5; then it has worker 1 alone,
    # with the newcomer, which is smaller, on worker 0; when it ends the newcomer has both.
    ended = run(columns(), [(0, 5), (1, 1)], [((0, 1),), ((0, 3),)]).completed
    assert ended.tolist() == pytest.approx([1 + 2 / 3, 1 + 2 / 3 + 1 / 9])


def test_without_cloning_a_slow_copy_keeps_its_own_progress() -> None:
    cloned = run(columns(), [(0, 5), (1, 3), (1, 3)], [((0, 3),), ((0, 1),)])
    own = run(columns(SrptR(cloning=False)), [(0, 5), (1, 3), (1, 3)], [((0, 3),), ((0, 1),)])
    assert own.total >= cloned.total


def test_a_stopped_worker_does_not_end_its_copy() -> None:
    with pytest.raises(Deadlock, match="its first copy"):
        run(columns(), [(0, 2)], [STOPS], workers=1)


def test_a_copy_that_ends_as_its_worker_stops_has_ended() -> None:
    assert run(columns(), [(0, 1)], [STOPS], workers=1).completed.tolist() == [1.0]


def test_an_instant_with_arrivals_and_departures_is_one_checkpoint() -> None:
    records: list[Record] = []
    run(columns(), [(0, 2), (2, 1), (2, 1)], records=records)
    times = [record.t for record in records if isinstance(record.event, CopiesSettled)]
    assert times == [2.0, 3.0]


def test_on_constant_speeds_srpt_with_redundancy_equals_srpt_exactly() -> None:
    jobs = workload(500, 0.7, 8)
    assert (
        run(columns(SrptR()), jobs, workers=8).completed.tolist()
        == run(columns(SrptREven()), jobs, workers=8).completed.tolist()
        == run(columns(Srpt()), jobs, workers=8).completed.tolist()
    )


def test_redundancy_shortens_flowtimes_on_varying_speeds() -> None:
    jobs, speeds = workload(400, 0.5, 10), TwoPoint(4.0, 0.3)
    with_copies, without = (varied(policy, speeds, jobs, 10, 1) for policy in (SrptR(), Srpt()))
    assert with_copies.total < 0.6 * without.total


def test_twice_the_speed_halves_all_times_where_jobs_come_at_once() -> None:
    jobs = [(0.0, size) for size in (3.0, 1.0, 2.0)]
    slow, fast = run(columns(), jobs), run(columns(), jobs, [((0, 2.0),)] * 2)
    assert fast.completed.tolist() == pytest.approx([time / 2 for time in slow.completed])


def test_the_newest_job_under_laps_r_has_all_machines_at_half_share_when_beta_n_is_m() -> None:
    view = ActiveJobs(2, *(np.arange(1.0, 5.0) for _ in range(3)))
    given = LapsR(Fraction(1, 2))(view, np.random.default_rng(0))
    assert (given.jobs.tolist(), given.copies.tolist()) == ([3, 2, 1], [2, 1, 1])
    assert given.share == Fraction(1, 2)


def test_mean_semantics_follow_g() -> None:
    ended = run(columns(gain=FrozenTwoPoint(4.0)), [(0, 7)], workers=2).completed
    assert ended.tolist() == pytest.approx([7 / (4 * (1 - 0.75**2))])


def test_a_gain_that_is_no_straight_line_restarts_at_every_checkpoint() -> None:
    gain = GainFunction(lambda copies, time: time + (1 - 1 / copies) * min(time, 1), peak=2.0)
    # 1.5 copies' worth in the first unit after each checkpoint, then 1: alone until 2 (2.5 done),
    # then the newcomer (smaller) and the job have a worker each.
    ended = run(columns(gain=gain), [(0, 4), (2, 1)], workers=2).completed
    assert ended.tolist() == pytest.approx([3 + 0.5 / 1.5, 3.0])


def test_copies_are_logged_as_runs_that_tell_every_job_s_story() -> None:
    records: list[Record] = []
    jobs = workload(60, 0.6, 3)
    run(columns(), jobs, records=records, workers=3)
    events = told(records)
    started = Counter(e.job for e in events if isinstance(e, RunStarted))
    ended = [e for e in events if isinstance(e, RunEnded)]
    assert Counter(e.job for e in ended) == started
    completed = [e.job for e in ended if e.outcome is Outcome.COMPLETED]
    assert sorted(completed) == sorted(e.job for e in events if isinstance(e, JobCompleted))
    assert len([e for e in events if isinstance(e, RunStarted)]) == len(ended)


def test_a_copy_starts_from_the_furthest_state_of_the_checkpoint_before() -> None:
    records: list[Record] = []
    run(columns(), workload(40, 0.6, 3), records=records, workers=3)
    furthest: dict[str, tuple[float, int | None]] = {}
    done: dict[str, dict[int, float]] = {}
    for event in told(records):
        if isinstance(event, RunEnded):
            runs = done.setdefault(event.job, {})
            runs[event.run] = event.done
            best = max(runs.values())
            furthest[event.job] = best, min(run for run, it in runs.items() if it == best)
        elif isinstance(event, RunStarted):
            begun, source = furthest.get(event.job, (0, None))
            assert event.begun == event.saved == pytest.approx(begun, abs=1e-12)
            assert event.source == source


def test_where_only_placements_are_told_their_sources_are_right_all_the_same() -> None:
    class Starts(list[Record]):
        wants = frozenset((CopiesPlaced,))

        def __call__(self, record: Record) -> None:
            self.append(record)

    starts, records = Starts(), list[Record]()
    for sink in (starts, records.append):
        system = System(0, [sink])
        spawn_columns(system, columns(), 3, described(workload(40, 0.6, 3)))
        system.run()
    assert [it.event for it in starts] == [
        it.event for it in records if isinstance(it.event, CopiesPlaced)
    ]


def test_without_cloning_a_copy_names_the_run_whose_own_state_it_goes_on_from() -> None:
    records: list[Record] = []
    speeds = [((0, 3),), ((0, 1),)]
    run(columns(SrptR(cloning=False)), [(0, 5), (1, 3), (1.5, 9)], speeds, records)
    done = {(e.job, e.run): e.done for e in told(records) if isinstance(e, RunEnded)}
    started = [e for e in told(records) if isinstance(e, RunStarted)]
    assert any(e.source for e in started)
    for event in started:
        come = 0 if event.source is None else done[event.job, event.source]
        assert event.begun == come


def test_nothing_of_what_is_left_after_rounding_keeps_a_completed_job_short_of_its_size() -> None:
    records: list[Record] = []
    run(columns(), workload(60, 0.6, 3), records=records, workers=3)
    sizes = {e.job: e.work for e in told(records) if isinstance(e, JobDescribed)}
    won = [e for e in told(records) if isinstance(e, RunEnded) and e.outcome is not CANCELLED]
    assert [e.done for e in won] == [sizes[e.job] for e in won]


def test_at_the_end_all_jobs_and_runs_are_counted_after_the_last_has_completed() -> None:
    records: list[Record] = []
    run(columns(), workload(20, 0.6, 3), records=records, workers=3)
    ended = [e for e in told(records) if isinstance(e, RunEnded)]
    assert records[-1].event == WorkloadEnded(20, 0, len(ended))
    assert isinstance(records[-2].event, JobCompleted)


def test_a_run_is_the_same_with_and_without_a_log() -> None:
    jobs = workload(80, 0.6, 3)
    for policy in (SrptR(), SrptR(cloning=False), LapsR(), ProcessorSharing(), Fcfs()):
        silent = run(columns(policy), jobs, workers=3)
        logged = run(columns(policy), jobs, records=[], workers=3)
        assert silent.completed.tolist() == logged.completed.tolist()


def test_uniform_placement_keeps_the_copies_of_a_job_apart() -> None:
    placer = Placer(np.arange(5), PlacementRule.UNIFORM, np.random.default_rng(0))
    counts = np.array([3, 1, 1, 1, 2, 4])
    allocation = CopyAllocation(np.arange(6), counts, Fraction(1, 3))
    for _ in range(50):
        workers = placer.place(allocation, [str(k) for k in range(6)]).tolist()
        for first, count in zip(counts.cumsum() - counts, counts, strict=True):
            assert len(set(workers[first : first + count])) == count


def test_under_a_policy_that_lets_jobs_stay_nobody_moves() -> None:
    records: list[Record] = []
    decider = columns(Fcfs(), rule=PlacementRule.UNIFORM)
    run(decider, workload(60, 0.7, 3), records=records, workers=3)
    places: dict[str, str] = {}
    for event in told(records):
        if isinstance(event, RunStarted):
            assert places.setdefault(event.job, event.processors) == event.processors


@frozen
class Wrong:
    """A policy with a fixed answer."""

    answer: object

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        return self.answer


@pytest.mark.parametrize(
    ("jobs", "copies", "share", "problem"),
    [
        ([0], [3], Fraction(1), "1 to 2 copies"),
        ([0], [0], Fraction(1), "1 to 2 copies"),
        ([1], [1], Fraction(1), "not there"),
        ([-1], [1], Fraction(1), "not there"),
        ([0, 0], [1, 1], Fraction(1), "twice"),
        ([0], [1], Fraction(3, 2), "share"),
        ([], [], Fraction(1), "not empty"),
    ],
)
def test_a_decision_that_cannot_be_carried_out_is_refused_by_the_policy_s_name(
    jobs: list[int], copies: list[int], share: Fraction, problem: str
) -> None:
    answer = CopyAllocation(np.array(jobs, dtype=int), np.array(copies, dtype=int), share)
    with pytest.raises(ActorFailed, match=rf"(?s)Wrong.*{problem}.*remaining"):
        run(columns(Wrong(answer)), [(0, 1)])


ONE = np.array([0])
BOTH = np.array([0, 1])


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (CopyAllocation(ONE, ONE + 2, stay=True), "jobs that stay have one copy each"),
        (
            CopyAllocation(ONE, ONE + 2, sharing=Sharing.ROTATION),
            "a job that rotates has one copy",
        ),
        (
            CopyAllocation(BOTH, BOTH * 0 + 2, Fraction(2, 3)),
            "it puts 2 copies on one worker; at share 2/3 a worker has room for 1",
        ),
        (
            CopyAllocation(BOTH, BOTH * 0 + 1, Fraction(2, 3), sharing=Sharing.ROTATION),
            "it puts 2 copies on one worker",
        ),
    ],
)
def test_nobody_gets_more_of_a_worker_than_it_has(answer: CopyAllocation, problem: str) -> None:
    with pytest.raises(ActorFailed, match=rf"(?s)Wrong.*{problem}.*remaining"):
        run(columns(Wrong(answer)), [(0, 1), (0, 1)])


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "an answer is a CopyAllocation"),
        (ONE, "an answer is a CopyAllocation"),
        (CopyAllocation([0], ONE + 1), "`jobs` is an array of whole numbers"),
        (CopyAllocation(ONE, np.array([1.0])), "`copies` is an array of whole numbers"),
        (CopyAllocation(np.array([True]), ONE + 1), "`jobs` is an array of whole numbers"),
        (CopyAllocation(ONE, np.array([[1]])), "`copies` is an array of whole numbers"),
        (CopyAllocation(ONE, ONE + 1, share=None), "`share` is a number"),
        (CopyAllocation(ONE, ONE + 1, share=np.nan), "`share` is a number"),
        (CopyAllocation(ONE, ONE + 1, sharing="copies"), "`sharing` is Sharing.COPIES or "),
    ],
)
def test_an_answer_of_another_type_is_refused_with_what_would_be_accepted(
    answer: object, problem: str
) -> None:
    with pytest.raises(ActorFailed, match=f":Wrong answered .*: {problem}.*; it saw 1 jobs on 2"):
        run(columns(Wrong(answer)), [(0, 1)])


def broken(jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
    raise SystemExit(f"no more than\n{len(jobs)}")


def test_an_error_inside_a_policy_is_told_with_its_place() -> None:
    place = rf"\(test_copies_world\.py, line {broken.__code__.co_firstlineno + 1}\)"
    with pytest.raises(ActorFailed, match=f":broken raised SystemExit: no more than 1 {place}$"):
        run(columns(broken), [(0, 1)])


def test_workers_are_not_shared_without_multitasking() -> None:
    jobs = [(0.1 * k, 1.0) for k in range(8)]
    with pytest.raises(ActorFailed, match="each holds one run"):
        run(columns(LapsR(), multitasking=False), jobs)
    assert len(run(columns(SrptR(), multitasking=False), jobs).jobs) == 8
