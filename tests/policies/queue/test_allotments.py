"""Local allocation and the allotments of batches."""

from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.interface.queue import BatchJob
from policies.maths.profiles import Listed
from policies.maths.speedup import Profile, Rigid, Table, amdahl, communication, power, roofline
from policies.queue.allocation import MINTIME, requested
from policies.queue.allotments import Mixed, Programme
from policies.queue.batches import Exact, Scaled
from policies.queue.chains import Chain, Ties

EXAMPLE = (
    Table((11, 7, 5, 4)),
    Table((10, 9.8, 9.6, 9.5)),
    Table((4, 3, 3, 2.5)),
    Table((3, 2, 1.7, 1.4)),
)
"""moldable21, section 4.7."""


def jobs(*profiles: Profile) -> list[BatchJob]:
    return [BatchJob(i, f"J{i + 1}", profile) for i, profile in enumerate(profiles)]


def test_formulas_and_tables_mix_freely() -> None:
    assert MINTIME(jobs(roofline(9, 3), Table((3, 1)), communication(16, 1)), 9) == [3, 2, 4]


def test_rigid_jobs_get_what_they_asked_for_and_moldable_ones_have_not_asked() -> None:
    assert requested(jobs(Rigid(3, 1), Rigid(7, 2)), 4) == [3, 7]
    with pytest.raises(ValueError, match="is moldable"):
        requested(jobs(power(3, 0.5)), 4)


def length(profiles, allotments, processors: int) -> float:
    """L of an allotment (moldable21, equation 8)."""
    rows = list(zip(profiles, allotments, strict=True))
    chains = [sum(n * profile.time(p) for n, p in parts) for profile, parts in rows]
    area = sum(n * p * profile.time(p) for profile, parts in rows for n, p in parts)
    return max(max(chains), area / processors)


def counts(profile: Profile, processors: int) -> range:
    """On how many processors it can run."""
    return range(1, min(processors, len(getattr(profile, "times", range(processors)))) + 1)


WORK = st.floats(5, 500)
PROFILES = st.lists(
    st.one_of(
        st.builds(amdahl, WORK, st.floats(0.001, 1)),
        st.builds(communication, WORK, st.floats(0.01, 3)),
        st.builds(power, WORK, st.floats(0.1, 0.95)),
        st.builds(roofline, WORK, st.integers(1, 20)),
        st.builds(Table, st.lists(st.floats(1, 50), min_size=1, max_size=12)),
    ),
    min_size=1,
    max_size=4,
)


@given(PROFILES, st.integers(1, 12), st.sampled_from([1, 2, 4]))
def test_the_exact_rule_is_the_best_uniform_allotment(profiles, processors: int, g: int) -> None:
    profiles = profiles[:2]
    some = jobs(*profiles)
    found = length(profiles, Exact().allot(some, [g] * len(some), processors), processors)
    best = min(
        length(profiles, [((g, p),) for p in combination], processors)
        for combination in product(*(counts(it, processors) for it in profiles))
    )
    assert found <= best * (1 + 1e-9)


@given(PROFILES, st.integers(1, 12), st.sampled_from([1, 2, 4]))
def test_the_scaled_rule_keeps_the_guarantee_of_lemma_3(profiles, processors: int, g: int) -> None:
    """Rounding down loses at most a unit eps X / g per attempt: L <= (1 + eps) X (equation 11)."""
    some = jobs(*profiles)
    best = length(profiles, Exact().allot(some, [g] * len(some), processors), processors)
    for eps in (0.1, 0.3):
        found = Scaled(eps).allot(some, [g] * len(some), processors)
        assert [sum(n for n, _ in parts) for parts in found] == [g] * len(some)
        assert length(profiles, found, processors) <= (1 + eps) * best * (1 + 1e-9)


@given(PROFILES, st.integers(1, 6), st.sampled_from([1, 2, 3]))
def test_no_allotment_is_shorter_than_the_mixed_one(profiles, processors: int, g: int) -> None:
    profiles = profiles[:2]
    some = jobs(*profiles)
    found = Mixed().allot(some, [g] * len(some), processors)
    assert [sum(n for n, _ in parts) for parts in found] == [g] * len(some)
    chains = [
        [
            tuple((1, p) for p in chain)
            for chain in combinations_with_replacement(counts(it, processors), g)
        ]
        for it in profiles
    ]
    best = min(length(profiles, combination, processors) for combination in product(*chains))
    assert length(profiles, found, processors) == pytest.approx(best, rel=1e-9)


@given(PROFILES, st.integers(1, 12), st.sampled_from([1, 2, 4]))
def test_the_programme_is_within_lemma_3_of_the_mixed_allotment(
    profiles, processors: int, g: int
) -> None:
    some = jobs(*profiles)
    best = length(profiles, Mixed().allot(some, [g] * len(some), processors), processors)
    for eps in (0.1, 0.3):
        found = Programme(eps).allot(some, [g] * len(some), processors)
        assert length(profiles, found, processors) <= (1 + eps) * best * (1 + 1e-9)


def test_the_mixed_allotment_of_the_example_reaches_5_75() -> None:
    """moldable21, section 4.7: the second batch; the best uniform allotment has L = 6."""
    allotted = Mixed().allot(jobs(*EXAMPLE[2:]), [2, 2], 4)
    assert list(allotted) == [((1, 4), (1, 2)), ((1, 2), (1, 1))]
    assert length(EXAMPLE[2:], allotted, 4) == 5.75


def test_the_mixed_rule_refuses_what_it_cannot_compare() -> None:
    with pytest.raises(ValueError, match=r"2500 x 2500 of them are too many: allot by `scaled`"):
        Mixed().allot(jobs(amdahl(1e6, 0.1)), [2], 2500)


def test_the_programme_may_be_unbalanced_where_whole_processors_make_area_uneven() -> None:
    """Six units for two attempts: 2 + 4 is the cheapest; 3 + 3 affords no narrow attempt."""
    table = Listed.of(Table((4.5, 2.6)), 2)
    assert Chain.of(table, 2, 6, 1.0, Ties.FEWEST).counts == (2, 1)


def test_at_equal_area_chains_are_as_fast_or_as_narrow_as_asked() -> None:
    table = Listed.of(Table((6, 3, 2)), 3)
    assert Chain.of(table, 1, 6, 1.0, Ties.FASTEST).counts == (3,)
    assert Chain.of(table, 1, 6, 1.0, Ties.FEWEST).counts == (1,)


def test_an_eps_outside_its_range_is_refused() -> None:
    for rule in (Scaled, Programme):
        with pytest.raises(ValueError, match="eps"):
            rule(0)


def test_a_chain_spends_its_units_where_they_save_most_area() -> None:
    """Times 4, 2, 1 in units of 1 with areas 4, 4, 6: three units are best spent as 1 + 2."""
    table = Listed.of(Table((4, 2.5, 2)), 3)
    chain = Chain.of(table, 2, 6, 1.0, Ties.FASTEST)
    assert chain.counts == (2, 1)
    assert chain.area == 9
    assert Chain.of(table, 2, 3, 1.0, Ties.FASTEST).counts == ()


@pytest.mark.parametrize("rule", [Exact(), Scaled(), Scaled(0.3), Mixed(), Programme(0.3)])
def test_no_allotment_hangs_on_the_unit_of_time(rule) -> None:
    tables = [Table((11, 7, 5, 4)), Table((10, 9.5, 9.25, 9)), Table((3, 2, 1.75, 1.5))]
    small = [Table(tuple(time / 1024 for time in table.times)) for table in tables]
    wide = list(rule.allot(jobs(*tables), [2, 2, 2], 4))
    assert list(rule.allot(jobs(*small), [2, 2, 2], 4)) == wide
    formulas = [amdahl(64, 0.25), roofline(40, 3)]
    tiny = [amdahl(64 / 1024, 0.25), roofline(40 / 1024, 3)]
    found = list(rule.allot(jobs(*formulas), [2, 2], 4))
    assert list(rule.allot(jobs(*tiny), [2, 2], 4)) == found


@given(PROFILES, st.integers(1, 6), st.sampled_from([1, 2, 4]))
@settings(max_examples=40)
def test_every_rule_allots_as_many_attempts_as_are_asked_for_and_none_nothing(
    profiles, processors: int, g: int
) -> None:
    some = jobs(*profiles[:2])
    for rule in (Exact(), Scaled(), Mixed(), Programme()):
        for parts in rule.allot(some, [g] * len(some), processors):
            assert sum(times for times, _ in parts) == g
            assert all(times > 0 and 1 <= count <= processors for times, count in parts)
