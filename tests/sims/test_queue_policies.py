"""The field's policies on schedules computed by hand, and against brute force."""

from __future__ import annotations

import tomllib
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.interface.queue import BatchJob
from policies.queue.conservative import Conservative
from policies.queue.estimates import Recent
from policies.queue.lists import Reading, RList
from policies.queue.names import FIELD, order_named
from policies.queue.orders import Usage
from sims.scenario.loader import read
from sims.world import run
from tests.sims.schedules import Schedule, job, queued, schedule

FOUR = queued("0 3 10, 1 3 5, 2 4 10, 3 1 20")
"""On 4 processors J0 blocks J1 until 10, beside which one processor is spare."""


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("FCFS", [0, 10, 15, 25]),
        ("EASY", [0, 10, 23, 3]),  # J3 fits beside J1, and delays J2, which is promised nothing
        ("conservative", [0, 10, 15, 25]),
        ("greedy", [0, 10, 23, 3]),
    ],
)
def test_each_strategy_starts_jobs_when_its_rule_says(name: str, starts: list[float]) -> None:
    assert schedule(4, FOUR, FIELD[name]).in_order == starts


def test_greedy_delays_whom_easy_has_promised_processors() -> None:
    jobs = queued("0 2 10, 1 4 5, 2 2 9, 3 2 7")
    assert schedule(4, jobs, FIELD["EASY"]).in_order == [0, 10, 15, 3]  # 2 + 9 > 10, 3 + 7 = 10
    assert schedule(4, jobs, FIELD["greedy"]).in_order == [0, 17, 2, 10]


def test_conservative_promises_each_job_a_start_and_compresses_when_a_run_ends_early() -> None:
    jobs = queued("0 3 4 10, 1 3 5, 2 4 10, 3 1 20")
    found = schedule(4, jobs, FIELD["conservative"])
    assert found.promises == [("J1", 10, 1), ("J2", 15, 2), ("J3", 25, 3)]
    assert found.in_order == [0, 4, 9, 19]


def test_conservative_backfilling_puts_a_promise_off_where_a_run_outlives_its_estimate() -> None:
    found = schedule(4, queued("0 3 12 10, 1 4 5, 11 1 1"), FIELD["conservative"])
    assert found.promises[0] == ("J1", 10, 1)
    assert found.in_order == [0, 12, 17]


def test_conservative_backfilling_puts_off_who_waits_behind_a_job_that_starts_late() -> None:
    """J0 outlives its estimate of 4 by 2, so that J1 starts at 6, not at 4."""
    found = schedule(1, queued("0 1 6 4, 1 1 10, 2 1 1, 8 1 1"), FIELD["conservative"])
    starts = [(job, start) for job, start, _ in found.promises]
    assert starts == [("J1", 4), ("J2", 14), ("J2", 16), ("J3", 17)]


ORDERED = queued("0 4 10, 1 4 4, 6 1 3")
"""At 10 J1 has waited 9 for 4 on 4 processors, J2 4 for 3 on one."""


@pytest.mark.parametrize(
    ("order", "starts"),
    [
        ("FCFS", [0, 10, 14]),
        ("SJF", [0, 13, 10]),
        ("LA", [0, 10, 14]),
        ("SA", [0, 13, 10]),
        ("WFP3", [0, 10, 14]),  # (9/4)^3 4 = 45.6, (4/3)^3 = 2.4
        ("UNICEP", [0, 13, 10]),  # 9 / (4 log2 4) = 1.125, 4 / (3 log2 2) = 1.33
        ("F1", [0, 10, 14]),  # log10(4) 4 = 2.4, log10(3) + 870 log10(6) = 677
        ("F2", [0, 10, 14]),  # 8, 19,923
        ("F3", [0, 10, 14]),  # 16, 5,338,000
        ("F4", [0, 10, 14]),  # 8, 412,420
    ],
)
def test_each_order_says_who_is_next(order: str, starts: list[float]) -> None:
    assert schedule(4, ORDERED, FIELD["FCFS"], order).in_order == starts


def test_an_order_by_waits_changes_its_mind_while_jobs_wait() -> None:
    # At 4, J1 has waited 3 of 4, J2 1 of 1: J2 first. At 20, 19/4 and 17/1 would say the same,
    # but J3, of 19/20 then, has waited as long as J1 and is the last by any order of ratios.
    jobs = queued("0 1 4, 1 1 4, 3 1 1, 1 1 20")
    assert schedule(1, jobs, FIELD["FCFS"], "WFP3").in_order == [0, 5, 4, 9]
    # J1 is behind J2 when both are short of waits: by 10 it has overtaken it.
    jobs = queued("0 1 10, 0 1 5, 8 1 2")
    assert schedule(1, jobs, FIELD["FCFS"], "WFP3").in_order == [0, 10, 15]  # 10/5 > 2/2


def test_the_scores_are_the_published_formulas() -> None:
    it = job(0, 1010, 4, 100)
    published = {
        "F1": 2 * 4 + 870 * 3,
        "F2": 10 * 4 + 25_600 * 3,
        "F3": 100 * 4 + 6_860_000 * 3,
        "F4": 100 * 2 + 530_000 * 3,
    }
    scores = {name: -order_named(name, 10)(it, 4, 100, 8, lambda job: 0) for name in published}
    assert scores == pytest.approx(published)


def test_a_fair_share_serves_whoever_has_used_least() -> None:
    jobs = queued("0 1 10 10 a, 1 1 5 5 a, 2 1 12 12 b, 3 1 4 4 a, 4 1 1 1 b, 5 1 1 1 c")
    # At 10 a has used 10, b and c nothing: b, then c. At 23 b has used 12 and a 10: a, to 15.
    found = schedule(1, jobs, FIELD["FCFS"], "FAIR-SHARE")
    assert found.in_order == [0, 23, 10, 29, 28, 22]


def test_usage_halves_in_a_half_life_and_grows_by_what_runs() -> None:
    usage = Usage(half_life=10)
    usage.change("a", 3, 0)
    full = 3 * 10 / log(2)
    assert usage.of("a", 10) == pytest.approx(full / 2)
    usage.change("a", -3, 10)
    assert usage.of("a", 20) == pytest.approx(full / 4)
    assert usage.of("b", 20) == 0


PREEMPTED = """
name = "preempted"
[platform]
workers = 2
[protection]
kind = "images"
period = 3
cost = 0
[job]
kind = "rigid"
[[job.jobs]]
processors = 2
time = 10
[[job.jobs]]
processors = 1
time = 2
release = 5
[[job.jobs]]
processors = 2
time = 1
release = 6
[policy]
name = "EASY"
order = "SJF"
preemption = {preemption}
"""


@pytest.mark.parametrize(
    ("preemption", "kind", "ends"),
    [
        # J1 is cancelled at 5 with its image of 3; at 6 J3 is more urgent than J2, of which
        # nothing is saved yet. J2 starts again at 7 beside nobody: J1 wants both, from 9 to 16.
        ("true", "images", [16, 9, 7]),
        ("false", "images", [10, 13, 11]),
        ("true", "none", [10, 13, 11]),  # there is nothing to go on from
    ],
)
def test_a_run_makes_way_for_a_more_urgent_job_and_goes_on_from_its_image(
    preemption: str, kind: str, ends: list[float]
) -> None:
    text = PREEMPTED.replace("{preemption}", preemption).replace('"images"', f'"{kind}"')
    if kind != "images":
        text = text.replace("period = 3\ncost = 0\n", "")
    found = Schedule()
    run(read(tomllib.loads(text), "preempted"), [found])
    assert [found.ends[name] for name in ("J1", "J2", "J3")] == ends


# --- estimates -----------------------------------------------------------------------------------


def test_recent_times_are_believed_and_made_longer_where_they_are_exceeded() -> None:
    recent = Recent()
    mine, hers, nobodys = queued("0 1 500 1000 a, 0 1 5 20 a, 0 1 5 20")
    assert recent(mine, 1) == 1000
    for time in (10, 30, 50):
        recent.completed(mine, time)
    assert recent(mine, 1) == 40  # of the last two
    assert recent(hers, 1) == 20  # never more than was asked for
    assert recent(nobodys, 1) == 20
    longer = [recent.longer(mine, time) for time in (40, 100, 900, 1000)]
    assert longer == [100, 400, 1000, None]


def test_what_has_been_learnt_of_a_user_lets_a_short_job_backfill() -> None:
    jobs = queued("0 2 10 100 a, 20 1 60 60 b, 21 2 9 100 c, 22 1 5 100 a")
    assert schedule(2, jobs, FIELD["EASY"]).starts["J3"] == 89
    assert schedule(2, jobs, FIELD["EASY"], estimates=Recent()).starts["J3"] == 22


def test_a_run_that_has_lasted_as_long_as_was_believed_is_expected_to_go_on_from_that_instant() -> (
    None
):
    jobs = queued("0 2 10 100 a, 20 1 60 100 a, 21 2 9 100 c, 30 1 5 50 d")
    # J1 was to end at 30, as J0 took 10; now it is to end at 90, and J3 fits before that.
    assert schedule(2, jobs, FIELD["EASY"], estimates=Recent()).starts["J3"] == 30


# --- brute force ---------------------------------------------------------------------------------

P, END = 4, 140
sets = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, P), st.integers(1, 6), st.integers(0, 5)),
    min_size=1,
    max_size=8,
)
"""(time after the one before, processors, time, how much more was asked for)."""


def jobs_of(rows, exact: bool) -> list[BatchJob]:
    jobs, now = [], 0
    for index, (gap, processors, time, more) in enumerate(rows):
        now += gap
        jobs.append(job(index, now, processors, time, None if exact else time + more))
    return jobs


class Slots:
    """Free processors of each slot."""

    def __init__(self, running, now: int) -> None:
        self.free = [P] * END
        for end, processors in running:
            self.take(now, end - now, processors)

    def earliest(self, now: int, it: BatchJob) -> int:
        held, processors = size(it)
        return next(t for t in range(now, END) if min(self.free[t : t + held]) >= processors)

    def take(self, at: int, held: int, processors: int) -> None:
        for t in range(at, at + held):
            self.free[t] -= processors

    def place(self, now: int, it: BatchJob) -> int:
        at = self.earliest(now, it)
        self.take(at, *size(it))
        return at


def brute(jobs: list[BatchJob], plan) -> list[float]:
    """Starts, slot by slot; `plan(slots, waiting, now, early)` says who starts now."""
    starts, running, waiting = {}, {}, []
    for now in range(END):
        gone = [it for it, (end, _) in running.items() if end == now]
        early = any(running[it][1] > now for it in gone)
        for it in gone:
            del running[it]
        new = [it for it in jobs if it.submitted == now]
        waiting += new
        if not (gone or new):
            continue
        slots = Slots([(told, it.profile.processors) for it, (_, told) in running.items()], now)
        for it in plan(slots, waiting, now, early):
            waiting.remove(it)
            starts[it.name] = now
            running[it] = now + it.profile.length, now + size(it)[0]
    return [starts[it.name] for it in jobs]


def size(it: BatchJob) -> tuple[int, int]:
    return int(it.believed(it.profile.processors)), it.profile.processors


def all_reserved(slots: Slots, waiting, now: int, early: bool) -> list[BatchJob]:
    """R-LIST-Q: made afresh each time, one after the other."""
    return [it for it in waiting if slots.place(now, it) == now]


class Kept:
    """Conservative: places are kept, and compressed in their order when a run ends early."""

    def __init__(self) -> None:
        self.places: dict[BatchJob, int] = {}

    def __call__(self, slots: Slots, waiting, now: int, early: bool) -> list[BatchJob]:
        for it in sorted(waiting, key=lambda it: (self.places.get(it, END), it.index)):
            if early or it not in self.places:
                self.places[it] = slots.place(now, it)
            else:
                slots.take(self.places[it], *size(it))
        return [it for it in waiting if self.places[it] == now]


@given(sets)
@settings(max_examples=150)
def test_easy_never_delays_the_first_reservation_when_estimates_are_exact(rows) -> None:
    jobs = jobs_of(rows, exact=True)
    found = schedule(P, jobs, RList(1, Reading.EASY))
    for name, start, told in found.promises:
        it = next(it for it in jobs if it.name == name)
        busy = [
            (int(found.ends[other.name]), other.profile.processors)
            for other in jobs
            if found.starts[other.name] < told < found.ends[other.name]
            or (found.starts[other.name] == told and other.index < it.index)
        ]
        assert start == Slots(busy, int(told)).earliest(int(told), it)
        assert found.starts[name] <= start


@given(sets)
@settings(max_examples=150)
def test_a_changed_plan_is_the_plan_made_anew_and_never_later_than_promised(rows) -> None:
    jobs = jobs_of(rows, exact=False)
    found = schedule(P, jobs, Conservative())
    assert found.in_order == brute(jobs, Kept())
    assert all(found.starts[name] <= start for name, start, _ in found.promises)


@given(sets)
@settings(max_examples=150)
def test_reserving_for_twins_together_up_to_the_horizon_is_reserving_for_each(rows) -> None:
    jobs = jobs_of(rows, exact=False)
    for reading in (Reading.FRESH, Reading.EASY):
        assert schedule(P, jobs, RList(None, reading)).in_order == brute(jobs, all_reserved)
