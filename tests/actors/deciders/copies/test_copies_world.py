"""What happens in a cluster with redundant copies, one rule at a time."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from attrs import frozen
from numpy.random import Generator

from actors.events import Compound, JobCompleted, Outcome, RunEnded, RunStarted
from actors.redundant.costs import Costs
from actors.redundant.events import CopiesSettled, CopyPlaced, CopySettled, JobSized
from actors.redundant.placement import PlacementRule, Placer
from actors.redundant.server import Failures
from actors.runtime import ActorFailed, Deadlock, Event, Record
from policies.interface.redundancy import ActiveJobs, CopyAllocation
from policies.maths.gains import FrozenTwoPoint, GainFunction
from policies.maths.speeds import TwoPoint
from policies.redundancy import Fcfs, LapsR, ProcessorSharing, Srpt, SrptR, SrptREven
from tests.actors.redundant.worlds import plan, run, varied

FAST_LATER = ((0.0, 1.0), (2.0, 4.0))
WITHDRAWN = Outcome.WITHDRAWN
STOPS = ((0.0, 1.0), (1.0, 0.0))


def workload(jobs: int, load: float, servers: int, seed: int = 3) -> list[tuple[float, float]]:
    rng = np.random.default_rng(seed)
    times = rng.exponential(1 / (load * servers), jobs).cumsum().tolist()
    return list(zip(times, rng.exponential(1, jobs).tolist(), strict=True))


def told(records: list[Record]) -> list[Event]:
    """All events, those of copies one by one."""
    events = (record.event for record in records)
    return [part for it in events for part in (it.parts() if isinstance(it, Compound) else (it,))]


def test_a_job_ends_when_its_first_copy_ends() -> None:
    assert run(plan(), [(0, 6)], [FAST_LATER]).completed.tolist() == [3.0]


def test_the_furthest_copy_is_cloned_when_a_job_arrives() -> None:
    # Server 0 runs at 1, server 1 at 3: at 1 the job is at 3 of 5; then it has server 1 alone,
    # with the newcomer, which is smaller, on server 0; when it ends the newcomer has both.
    ended = run(plan(), [(0, 5), (1, 1)], [((0, 1),), ((0, 3),)]).completed
    assert ended.tolist() == pytest.approx([1 + 2 / 3, 1 + 2 / 3 + 1 / 9])


def test_without_cloning_a_slow_copy_keeps_its_own_progress() -> None:
    cloned = run(plan(), [(0, 5), (1, 3), (1, 3)], [((0, 3),), ((0, 1),)])
    own = run(plan(SrptR(cloning=False)), [(0, 5), (1, 3), (1, 3)], [((0, 3),), ((0, 1),)])
    assert own.total >= cloned.total


def test_a_stopped_server_does_not_end_its_copy() -> None:
    with pytest.raises(Deadlock, match="its first copy"):
        run(plan(servers=1), [(0, 2)], [STOPS])


def test_a_copy_that_ends_as_its_server_stops_has_ended() -> None:
    assert run(plan(servers=1), [(0, 1)], [STOPS]).completed.tolist() == [1.0]


def test_an_instant_with_arrivals_and_departures_is_one_checkpoint() -> None:
    records: list[Record] = []
    run(plan(), [(0, 2), (2, 1), (2, 1)], records=records)
    times = [record.t for record in records if isinstance(record.event, CopiesSettled)]
    assert times == [2.0, 3.0]


def test_on_constant_speeds_srpt_with_redundancy_equals_srpt_exactly() -> None:
    jobs = workload(500, 0.7, 8)
    assert (
        run(plan(SrptR(), 8), jobs).completed.tolist()
        == run(plan(SrptREven(), 8), jobs).completed.tolist()
        == run(plan(Srpt(), 8), jobs).completed.tolist()
    )


def test_redundancy_shortens_flowtimes_on_varying_speeds() -> None:
    jobs, speeds = workload(400, 0.5, 10), TwoPoint(4.0, 0.3)
    with_copies, without = (varied(policy, speeds, jobs, 10, 1) for policy in (SrptR(), Srpt()))
    assert with_copies.total < 0.6 * without.total


def test_speed_augmentation_divides_all_times_where_jobs_come_at_once() -> None:
    jobs = [(0.0, size) for size in (3.0, 1.0, 2.0)]
    slow, fast = run(plan(), jobs), run(plan(speed=2.0), jobs)
    assert fast.completed.tolist() == pytest.approx([time / 2 for time in slow.completed])


def test_the_newest_job_under_laps_r_has_all_machines_at_half_share_when_beta_n_is_m() -> None:
    view = ActiveJobs(2, *(np.arange(1.0, 5.0) for _ in range(3)))
    given = LapsR(Fraction(1, 2))(view, np.random.default_rng(0))
    assert (given.jobs.tolist(), given.copies.tolist()) == ([3, 2, 1], [2, 1, 1])
    assert given.share == Fraction(1, 2)


def test_a_checkpoint_that_costs_time_delays_jobs_that_have_progress() -> None:
    free = run(plan(servers=1), [(0, 2), (1, 5)]).completed
    costly = run(plan(servers=1, costs=Costs(checkpoint=0.5)), [(0, 2), (1, 5)]).completed
    assert free.tolist() == [2.0, 7.0]
    assert costly.tolist() == [2.5, 7.5]


def test_a_clone_costs_time_only_where_the_state_was_not_held() -> None:
    # Both copies of the first job are as far at 1: its state counts as held by server 0, where it
    # stays; at 4 the second job, held by server 1, gets server 0 as well, which must fetch it.
    steady, faster = ((0, 1),), ((0, 1), (4, 2))
    jobs = [(0, 4), (1, 9)]
    assert run(plan(costs=Costs(clone=0.5)), jobs, [steady, steady]).completed.tolist() == [4, 10]
    free = run(plan(), jobs, [faster, steady]).completed
    costly = run(plan(costs=Costs(clone=0.5)), jobs, [faster, steady]).completed
    assert (free[1], costly[1]) == (7.0, 7.5)


def test_a_failure_loses_the_part_of_progress_that_the_rule_says() -> None:
    jobs, failures = [(0.0, 30.0)], Failures(mtbf=10.0, downtime=1.0)
    kept = run(plan(servers=1, failures=failures), jobs, seed=5)
    lost = run(plan(servers=1, failures=failures, costs=Costs(lost=1.0)), jobs, seed=5)
    assert 30 < kept.completed[0] < lost.completed[0]


def test_mean_semantics_follow_g() -> None:
    ended = run(plan(servers=2, gain=FrozenTwoPoint(4.0)), [(0, 7)]).completed
    assert ended.tolist() == pytest.approx([7 / (4 * (1 - 0.75**2))])


def test_a_gain_that_is_no_straight_line_restarts_at_every_checkpoint() -> None:
    gain = GainFunction(lambda copies, time: time + (1 - 1 / copies) * min(time, 1), peak=2.0)
    # 1.5 copies' worth in the first unit after each checkpoint, then 1: alone until 2 (2.5 done),
    # then the newcomer (smaller) and the job have a server each.
    ended = run(plan(servers=2, gain=gain), [(0, 4), (2, 1)]).completed
    assert ended.tolist() == pytest.approx([3 + 0.5 / 1.5, 3.0])


def test_copies_are_logged_as_runs_that_tell_every_job_s_story() -> None:
    records: list[Record] = []
    jobs = workload(60, 0.6, 3)
    run(plan(servers=3), jobs, records=records)
    events = told(records)
    started = Counter(e.job for e in events if isinstance(e, RunStarted))
    ended = [e for e in events if isinstance(e, RunEnded)]
    assert Counter(e.job for e in ended) == started
    completed = [e.job for e in ended if e.outcome is Outcome.COMPLETED]
    assert sorted(completed) == sorted(e.job for e in events if isinstance(e, JobCompleted))
    assert len([e for e in events if isinstance(e, CopyPlaced)]) == len(ended)


def test_a_copy_starts_from_the_furthest_state_of_the_checkpoint_before() -> None:
    records: list[Record] = []
    run(plan(servers=3), workload(40, 0.6, 3), records=records)
    furthest: dict[str, float] = {}
    for event in told(records):
        if isinstance(event, CopySettled) and event.furthest:
            furthest[event.job] = event.progress
        elif isinstance(event, CopyPlaced):
            assert event.progress == pytest.approx(furthest.get(event.job, 0.0), abs=1e-12)


def test_nothing_of_what_is_left_after_rounding_keeps_a_completed_job_short_of_its_size() -> None:
    records: list[Record] = []
    run(plan(servers=3), workload(60, 0.6, 3), records=records)
    sizes = {e.job: e.size for e in told(records) if isinstance(e, JobSized)}
    won = [e for e in told(records) if isinstance(e, CopySettled) and e.outcome is not WITHDRAWN]
    assert [e.progress for e in won] == [sizes[e.job] for e in won]
    assert all(e.furthest for e in won)


def test_a_run_is_the_same_with_and_without_a_log() -> None:
    jobs = workload(80, 0.6, 3)
    for policy in (SrptR(), SrptR(cloning=False), LapsR(), ProcessorSharing(), Fcfs()):
        silent, logged = run(plan(policy, 3), jobs), run(plan(policy, 3), jobs, records=[])
        assert silent.completed.tolist() == logged.completed.tolist()


def test_uniform_placement_keeps_the_copies_of_a_job_apart() -> None:
    placer = Placer(5, PlacementRule.UNIFORM, np.random.default_rng(0))
    counts = np.array([3, 1, 1, 1, 2, 4])
    allocation = CopyAllocation(np.arange(6), counts, Fraction(1, 3))
    for _ in range(50):
        servers = placer.place(allocation, [str(k) for k in range(6)]).tolist()
        for first, count in zip(counts.cumsum() - counts, counts, strict=True):
            assert len(set(servers[first : first + count])) == count


def test_under_a_policy_that_lets_jobs_stay_nobody_moves() -> None:
    records: list[Record] = []
    run(plan(Fcfs(), 3, placement=PlacementRule.UNIFORM), workload(60, 0.7, 3), records=records)
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
        run(plan(Wrong(answer)), [(0, 1)])


ONE = np.array([0])


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
        run(plan(Wrong(answer)), [(0, 1)])


def broken(jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
    raise SystemExit(f"no more than\n{len(jobs)}")


def test_an_error_inside_a_policy_is_told_with_its_place() -> None:
    place = rf"\(test_redundant_world\.py, line {broken.__code__.co_firstlineno + 1}\)"
    with pytest.raises(ActorFailed, match=f":broken raised SystemExit: no more than 1 {place}$"):
        run(plan(broken), [(0, 1)])


def test_servers_are_not_shared_without_multitasking() -> None:
    jobs = [(0.1 * k, 1.0) for k in range(8)]
    with pytest.raises(ActorFailed, match="without multitasking"):
        run(plan(LapsR(), multitasking=False), jobs)
    assert len(run(plan(SrptR(), multitasking=False), jobs).jobs) == 8
