"""Promises of conservative backfilling where jobs overtake and workers go away; compression, held
against giving each job the earliest place anew, slot by slot."""

from __future__ import annotations

from bisect import insort

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.interface.queue import BatchJob, Queued, Run
from policies.maths.speedup import Rigid
from policies.queue.conservative import Conservative, Due, compress
from policies.queue.free_profile import FreeProfile
from sims.scenario.loader import read
from sims.world import run
from tests.sims.schedules import Schedule, job, schedule


def test_a_job_that_the_order_puts_before_another_delays_no_promise_to_it() -> None:
    jobs = [job(0, 0, 2, 10), job(1, 1, 2, 5), job(2, 2, 2, 1), job(3, 3, 2, 3)]
    found = schedule(2, jobs, Conservative(), "SJF")
    assert found.promises == [("J1", 10, 1), ("J2", 15, 2), ("J3", 16, 3)]


def scheduled(*reclaims: list[float]) -> Schedule:
    """Two workers; J2 wants both from 1 on, and J3 one from 12 on."""
    jobs = [(1, 10, 0), (2, 5, 1), (1, 3, 12)]
    listed = [{"processors": p, "time": time, "release": at} for p, time, at in jobs]
    table = {
        "name": "away",
        "unit": "s",
        "platform": {"workers": 2},
        "job": {"kind": "rigid", "jobs": listed},
        "policy": {"name": "conservative"},
        "reclaims": list(reclaims),
    }
    found = Schedule()
    run(read(table, "away"), [found])
    return found


def test_while_nobody_knows_when_a_worker_comes_back_no_promise_needs_it() -> None:
    calm, away = scheduled(), scheduled([2, 14, 1])
    assert calm.promises == [("J2", 10, 1), ("J3", 15, 12)]
    assert calm.starts == {"J1": 0, "J2": 10, "J3": 15}
    # The first was made before the worker went. It is back at 14, and J3 ends at 15.
    assert away.promises == [("J2", 10, 1), ("J2", 15, 14)]
    assert away.starts == {"J1": 0, "J2": 15, "J3": 12}


def test_a_job_that_arrives_while_a_worker_is_away_is_promised_a_start_once_it_is_back() -> None:
    """The worker is away over [0, 5): it is not known at 1, when J2 arrives, that it comes back."""
    assert scheduled([0, 5, 1]).promises == [("J2", 10, 5), ("J3", 15, 12)]


P, END = 6, 600
KINDS = [(p, held) for p in (1, 2, 3, 4, 6) for held in (1.0, 2.0, 3.0, 5.0, 8.0, 14.0)]


def earliest(free: list[int], now: int, held: int, processors: int) -> int:
    """`free`: processors of each slot."""
    return next(t for t in range(now, END) if min(free[t : t + held]) >= processors)


def use(free: list[int], start: int, held: int, processors: int) -> None:
    for t in range(start, start + held):
        free[t] -= processors


def slots_of(free_profile: FreeProfile) -> list[int]:
    free, steps = [0] * (2 * END), [*zip(free_profile.times, free_profile.counts, strict=True)]
    for (begin, count), (end, _) in zip(steps, [*steps[1:], (2.0 * END, 0)], strict=True):
        free[int(begin) : int(end)] = [count] * (int(end) - int(begin))
    return free


def queue_of(rows: list[int]) -> list[Queued]:
    return [
        Queued(BatchJob(i, f"J{i}", Rigid(*KINDS[k])), *KINDS[k], (0, i))
        for i, k in enumerate(rows)
    ]


@given(
    st.lists(st.tuples(st.integers(1, P), st.integers(1, 40)), min_size=1, max_size=6),
    st.lists(st.integers(0, len(KINDS) - 1), min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), min_size=1, max_size=6),
)
@settings(max_examples=150)
def test_compression_gives_each_the_earliest_place_in_the_order_of_their_starts(
    runs, rows, news
) -> None:
    """Runs end early, and time passes."""
    ends, free = [], 0
    for processors, end in runs:
        if sum(p for p, _ in ends) + processors <= P:
            ends.append((processors, end + 10))
    free = P - sum(p for p, _ in ends)
    free_profile = FreeProfile.of(
        0, free, [Run(float(e), i, p, None, (), i) for i, (p, e) in enumerate(ends)]
    )
    due: list[Due] = []
    for waiting, kind in zip(queue_of(rows), rows, strict=True):
        step, _ = free_profile.earliest(waiting.processors, waiting.held)
        insort(due, (free_profile.times[step], waiting.key, waiting, kind))
        free_profile.take(step, waiting.processors, waiting.held)
    now = 0
    for later, share in news:
        now += later
        ends = [it for it in ends if it[1] > now]
        if not ends:
            break
        free_profile.advance(float(now))
        due = [it for it in due if it[0] > now]  # the others have begun
        processors, end = ends.pop(int(share * (len(ends) - 1)))
        free_profile.release(float(now), float(end), processors)
        expected = _anew(slots_of(free_profile), due, now)
        starts = compress(free_profile, due, KINDS, float(end))
        found = {it.key[1]: int(time) for time, _, it, _ in due}
        found |= {it.key[1]: now for it in starts}
        assert found == expected
        for it in starts:
            assert it.key[1] not in {waiting.key[1] for _, _, waiting, _ in due}
        assert due == sorted(due, key=lambda it: it[:2])
        assert min(free_profile.counts) >= 0


def _anew(free: list[int], due: list[Due], now: int) -> dict[int, int]:
    """Each in turn leaves its place and takes the earliest one."""
    found = {}
    for start, (_, index), waiting, _ in list(due):
        held, processors = int(waiting.held), waiting.processors
        use(free, int(start), held, -processors)
        found[index] = earliest(free, now, held, processors)
        use(free, found[index], held, processors)
    return found
