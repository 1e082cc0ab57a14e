"""Expected free processors."""

from hypothesis import given
from hypothesis import strategies as st

from policies.interface.queue import BatchJob, Queued, Reservation, Run
from policies.maths.speedup import Rigid
from policies.queue.free_profile import FreeProfile


def run(end: float, index: int, processors: int) -> Run:
    job = BatchJob(index, f"J{index}", Rigid(processors, 1))
    return Run(end, index, processors, Queued(job, processors, 1, (0, index)), (), index)


def test_processors_come_free_when_attempts_are_expected_to_end() -> None:
    free_profile = FreeProfile.of(0, 1, [run(2, 0, 1), run(2, 1, 2), run(5, 2, 4)])
    assert free_profile.times == [0, 2, 5]
    assert free_profile.counts.tolist() == [1, 4, 8]


def test_a_reservation_begins_at_the_first_step_that_is_wide_enough_for_long_enough() -> None:
    promise = Reservation(1, Queued(BatchJob(1, "J1", Rigid(2, 2)), 2, 2, (0, 1)))
    free_profile = FreeProfile.of(0, 2, [run(4, 0, 1)], [promise])
    assert free_profile.times[free_profile.earliest(2, 1)[0]] == 0
    assert free_profile.times[free_profile.earliest(2, 2)[0]] == 3
    assert free_profile.times[free_profile.earliest(3, 1)[0]] == 4


def test_what_is_taken_is_free_again_afterwards() -> None:
    free_profile = FreeProfile.of(0, 4, [])
    free_profile.take(0, 3, 5)
    assert (free_profile.times, free_profile.counts.tolist()) == ([0, 5], [1, 4])
    assert not free_profile.fits(0, 2, 1)
    assert free_profile.fits(1, 4, 100)


def test_an_attempt_past_its_estimate_gives_no_processor_now() -> None:
    """Its end lies in the past; whoever needs its processors is reserved the next moment."""
    free_profile = FreeProfile.of(10, 1, [run(7, 0, 3)])
    assert free_profile.free_now == 1
    assert free_profile.earliest(2, 5) == (1, 4)
    assert free_profile.times[1] == 10
    assert free_profile.overdue
    assert not FreeProfile.of(10, 1, [run(11, 0, 3)]).overdue
    assert not FreeProfile.of(10, 4, []).overdue


@given(
    st.lists(
        st.tuples(st.integers(0, 300), st.integers(1, 100), st.integers(1, 3)),
        min_size=1,
        max_size=40,
    )
)
def test_an_free_profile_knows_all_that_was_taken_and_given_back(rows) -> None:
    """However often its room for steps has to grow."""
    free_profile, free = FreeProfile.of(0, 200, []), [200] * 400
    for begin, held, processors in rows:
        free_profile.release(begin, begin + held, processors)
        step, _ = free_profile.earliest(2 * processors, held, begin)
        start = int(free_profile.times[step])
        free_profile.take(step, 2 * processors, held)
        for t in range(400):
            free[t] += processors * (begin <= t < begin + held)
            free[t] -= 2 * processors * (start <= t < start + held)
    steps = [*zip(free_profile.times, free_profile.counts, strict=True)]
    assert [[n for time, n in steps if time <= t][-1] for t in range(400)] == free
