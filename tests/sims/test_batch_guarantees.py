"""The papers' approximation guarantees and worst-case instances, as properties."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.interface.queue import BatchPolicy
from policies.maths.silent_errors import least, moldable_bound, rigid_bound
from policies.maths.speedup import Profile, Rigid, Table, amdahl, communication, mix, roofline
from policies.queue.allocation import LPA, requested
from policies.queue.batches import Exact
from policies.queue.lists import RList, Shelves
from policies.queue.orders import PAPER_ORDERS, large_first, longest_time
from sims.bench.cases import described
from tests.sims.schedules import makespan


@st.composite
def rigid_instances(draw) -> tuple[int, list[Rigid], list[int]]:
    processors = draw(st.integers(1, 12))
    job = st.builds(Rigid, st.integers(1, processors), st.integers(1, 30))
    jobs = draw(st.lists(job, min_size=1, max_size=12))
    count = len(jobs)
    return processors, jobs, draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))


def run(instance, policy: BatchPolicy) -> float:
    processors, jobs, failures = instance
    return makespan(processors, described(jobs), failures, policy).value


@given(rigid_instances(), st.sampled_from(sorted(PAPER_ORDERS)))
@settings(max_examples=120)
def test_lists_of_rigid_jobs_stay_within_their_guarantees(instance, order: str) -> None:
    """rigid21: 2 - 1/P for greedy under any order (proposition 2), 3 - 4/(P + 1) for reservations
    with large jobs first (proposition 1)."""
    processors, jobs, failures = instance
    greedy = run(instance, BatchPolicy(PAPER_ORDERS[order], RList(0), requested))
    reserving = run(instance, BatchPolicy(large_first, RList(None), requested))
    bound = rigid_bound(jobs, failures, processors)
    assert greedy <= (2 - 1 / processors) * bound + 1e-9
    assert reserving <= (3 - 4 / (processors + 1)) * bound + 1e-9


WORK = st.floats(1, 500)
COST = st.floats(0.01, 5)
DEGREE = st.integers(1, 40)
FRACTION = st.floats(0.001, 1)
THEOREMS = {
    "roofline": (2, st.builds(roofline, WORK, DEGREE)),
    "communication": (3, st.builds(communication, WORK, COST)),
    "amdahl": (4, st.builds(amdahl, WORK, FRACTION)),
    "mix": (6, st.builds(mix, WORK, DEGREE, FRACTION, COST)),
}


@pytest.mark.parametrize("model", sorted(THEOREMS))
@given(data=st.data(), processors=st.integers(1, 20))
def test_lpa_list_stays_within_its_theorem_for_each_speedup_model(model, data, processors) -> None:
    ratio, profile = THEOREMS[model]
    profiles: list[Profile] = data.draw(st.lists(profile, min_size=1, max_size=8))
    count = len(profiles)
    failures = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    policy = BatchPolicy(longest_time, RList(0), LPA)
    found = run((processors, profiles, failures), policy)
    times, areas = least(profiles, processors)
    assert found <= ratio * moldable_bound(times, areas, failures, processors) * (1 + 1e-9)


@pytest.mark.parametrize("processors", [1, 4, 9, 16])
def test_shelves_are_a_logarithm_from_the_optimum_on_proposition_3(processors: int) -> None:
    jobs = [Rigid(1, Fraction(1, j)) for j in range(1, processors + 1)]
    instance = processors, jobs, list(range(processors))
    harmonic = sum(Fraction(1, j) for j in range(1, processors + 1))
    assert run(instance, BatchPolicy(longest_time, Shelves(), requested)) == harmonic
    assert run(instance, BatchPolicy(longest_time, RList(0), requested)) == 1
    filled = BatchPolicy(longest_time, Shelves(filling=True), requested)
    assert run(instance, filled) == 1


def proposition_4(processors: int, unit: int, epsilon: Fraction) -> tuple[list[Rigid], list[int]]:
    """Sets i = 1..P: one job of 1/P^(i-1) that fails P^(i-1) - 1 times, (P-1) P^(i-1) of
    (1 + eps)/P^i that never fail."""
    jobs, failures = list[Rigid](), list[int]()
    for i in range(1, processors + 1):
        many = processors ** (i - 1)
        short = (1 + epsilon) * unit / processors**i
        jobs += [Rigid(1, Fraction(unit, many))] + [Rigid(1, short)] * ((processors - 1) * many)
        failures += [many - 1] + [0] * ((processors - 1) * many)
    return jobs, failures


@pytest.mark.parametrize("processors", [2, 3])
def test_filled_shelves_are_p_times_a_unit_long_on_proposition_4(processors: int) -> None:
    jobs, failures = proposition_4(processors, 1, Fraction(1, 1000))
    policy = BatchPolicy(longest_time, Shelves(filling=True), requested)
    assert run((processors, jobs, failures), policy) == processors


@pytest.mark.parametrize("count", [3, 5, 7])
def test_batches_are_a_logarithm_of_the_failures_long_on_theorem_12(count: int) -> None:
    """t_j = 2^-j, f_j = 2^(j-1) - 1: at least K/4, where the optimum is 1/2."""
    jobs = [Table((2.0**-j,)) for j in range(1, count + 1)]
    failures = [2 ** (j - 1) - 1 for j in range(1, count + 1)]
    batch = BatchPolicy(longest_time, RList(0), Exact())
    assert run((count, jobs, failures), batch) >= count / 4
    local = BatchPolicy(longest_time, RList(0), LPA)
    assert run((count, jobs, failures), local) == 0.5
