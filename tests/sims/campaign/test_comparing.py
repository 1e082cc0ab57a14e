"""Variants on the same seeds: their figures, what is paired, and what is left out."""

from __future__ import annotations

from math import inf, isnan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.interface import BatchPolicy
from policies.queue.allocation import requested
from policies.queue.lists import RList
from policies.queue.orders import first_come
from sims.campaign.axes import as_toml, axis, settings_text
from sims.campaign.batches import Batch, RunResult, RunStatus, simulate_batch
from sims.campaign.certainty import Certainty
from sims.campaign.comparing import Comparison, Verdict, compare, judged, widths
from sims.campaign.door import CALL, Door
from sims.campaign.measured import Measured
from sims.campaign.observations import Compared, run_of
from sims.campaign.plan import Case, Cases
from sims.campaign.question import Question
from sims.campaign.subject import Subject
from sims.campaign.varied import Variants, combined
from sims.errors import InputError
from sims.intervals import Known, mean_of, ratio_of
from sims.metrics.measures import Measure
from sims.metrics.report import Report
from sims.packing import Dependencies, code
from sims.scenario.loader import load
from tests.case_files import listed
from tests.sims.kinds import FILES, SCENARIOS, records_of

VOLATILE = SCENARIOS / "volatile20.toml"
LEVEL = 0.95


def cases_of(*words: str, file: Path = VOLATILE, **more: Any) -> list[Case]:
    settings = combined([axis(word) for word in words], CALL)
    variants = {settings_text(it): dict(it) for it in settings}
    own = {"job.iterations": 2} if "volatile" in file.name else {}
    return list(Cases.of(Question(Subject.of(file, own), Variants(variants), **more)))


def compared(
    *rows: list[float | None], measure: Measure = Measure.MAKESPAN, effect: Any = "ratio"
) -> Comparison:
    """The figures of variants with these values by seed; None: capped."""
    runs = {f"v{k}": list(map(a_run, range(len(row)), row)) for k, row in enumerate(rows)}
    [found] = judged([compare((), measure, runs, "v0", effect)], LEVEL)
    return found


def a_run(seed: int, value: float | None) -> Compared:
    return Compared(seed, RunStatus.CAPPED if value is None else RunStatus.COMPLETED, value)


# --- what is varied -------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "values"), listed(__file__, "values"))
def test_values_are_words_between_commas_or_those_of_a_list(text: str, values: list[Any]) -> None:
    assert list(axis(f"some.key={text}")[1]) == values


@pytest.mark.parametrize("value", [1, 2.5, True, "IE", [1, 2], {"kind": "no", "of": [True, 2]}])
def test_what_a_variant_is_called_can_be_asked_for_again(value: Any) -> None:
    text = as_toml(value) if not isinstance(value, list) else f"[{as_toml(value)}]"
    assert axis(f"some.key={text}")[1] == (value,)


@pytest.mark.parametrize("word", listed(__file__, "refused"))
def test_what_varies_nothing_and_seeds_which_are_common_are_refused(word: str) -> None:
    door = Door("command line", {"vary": "--vary"})
    with pytest.raises(InputError, match="--vary"):
        Variants.of(combined([axis(word)], door), door)


def test_there_is_a_variant_for_every_combination_the_last_key_fastest() -> None:
    found = cases_of("policy.name=IE,Y-IE", "master.channels=1,2")
    assert list(map(str, found)) == [
        "policy.name=IE, master.channels=1",
        "policy.name=IE, master.channels=2",
        "policy.name=Y-IE, master.channels=1",
        "policy.name=Y-IE, master.channels=2",
    ]
    scenarios: list[Any] = [case.scenario(0) for case in found]
    told = [(it.policy.name, it.master.channels, it.job.iterations) for it in scenarios]
    assert told == [("IE", 1, 2), ("IE", 2, 2), ("Y-IE", 1, 2), ("Y-IE", 2, 2)]


def test_without_anything_varied_there_is_the_scenario_as_it_is() -> None:
    [only] = cases_of()
    assert (str(only), only.scenario(0)) == ("as it is", load(VOLATILE, ["job.iterations=2"]))


# --- runs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["volatile20", "batch-easy", "malleable10", "redundant"])
def test_a_run_is_measured_as_its_log_is_summarised(name: str) -> None:
    report = Report.of(records_of(name))
    scenario = load(SCENARIOS / f"{name}.toml", list(FILES[name]))

    def result(*asked: Measure) -> RunResult:
        runs = (("key", scenario, scenario.seed),)
        [found] = simulate_batch(Batch(runs, asked, None, None, SCENARIOS, Dependencies(code())))
        return found

    stretch, flowtime = report.spreads["stretch"], report.spreads["flowtime"]
    assert flowtime is not None
    few = {"makespan": report.summary.makespan, "flowtime": flowtime["mean"]}
    quick = result(Measure.MAKESPAN, Measure.FLOWTIME)
    assert (quick.end, quick.time, quick.values) == (RunStatus.COMPLETED, report.summary.time, few)
    assert quick.jobs == len(report.summary.submitted)
    assert (
        result(*Measure).values.items()
        >= (
            few
            | {
                "stretch": stretch and stretch["mean"],
                "utilisation": report.utilisation,
                "wasted": report.wasted,
                "queue": report.queue.mean,
            }
        ).items()
    )


def test_two_runs_share_what_is_stored_only_if_nothing_differs() -> None:
    def keys(file: Path, *words: str, **more: Any) -> set[str]:
        return {case.key(k) for case in cases_of(*words, file=file, **more) for k in (0, 1)}

    all_keys = [
        keys(VOLATILE, "policy.name=IE"),
        keys(VOLATILE, "policy.name=Y-IE"),
        keys(VOLATILE, "policy.name=IE", surely=Certainty(until=30)),
        keys(VOLATILE, "policy.name=IE", surely=Certainty(seed=7)),
        keys(SCENARIOS / "volatile-errors.toml", "policy.name=IE"),
    ]
    assert len(set().union(*all_keys)) == sum(map(len, all_keys)) == 10
    # A run is the same whatever is measured; what of it is known is in its result.
    queue = Measured((Measure.QUEUE,))
    assert keys(VOLATILE, "policy.name=IE", measured=queue) == all_keys[0]
    assert keys(VOLATILE, "policy.name=IE,Y-IE") == all_keys[0] | all_keys[1]


@pytest.mark.parametrize(("status", "time", "measure", "counts"), listed(__file__, "counts"))
def test_a_run_with_work_left_has_no_makespan_and_one_cut_where_asked_has_shares(
    status: str, time: float, measure: str, counts: bool
) -> None:
    ended = RunStatus(status)
    result = RunResult("k", 3, ended, time, 1, 0, "w", 0.1, None, values={measure: 0.5})
    found = run_of(result, Measure(measure), until=50)
    assert found == Compared(3, ended, 0.5 if counts else None, "w", jobs=1)


# --- figures --------------------------------------------------------------------------------------

VALUES = st.lists(st.floats(1e-3, 1e9), min_size=2, max_size=20)


@pytest.mark.parametrize(
    ("base", "ours", "known"),
    [((0, 0, 0, 4), (0, 0, 0, 5), [(1.25, inf)]), ((4, 4, 4, 4), (5, 5, 5, 5), [])],
)
def test_a_ratio_that_rests_on_one_pair_is_never_precise_unless_all_runs_are_alike(
    base: tuple[float, ...], ours: tuple[float, ...], known: list[tuple[float, float]]
) -> None:
    cell = compared(base, ours)
    assert list(widths(cell)) == known


@given(VALUES)
def test_a_variant_compared_with_itself_has_ratio_1_and_no_verdict_on_it(
    values: list[float | None],
) -> None:
    """That all pairs are alike does not show that the next one is."""
    both = compared(values, values).lines
    once = len(set(values)) == 1
    base, ours = (line.effect for line in both)
    assert base is not None and base.mean == 1
    # A table has no interval beside a mean that has none.
    assert (base.low, base.high) == (1, 1) if base.bounded else (-inf, inf)
    assert not (once and base.bounded)
    assert ours is not None and (ours.mean, ours.size) == (1, len(values))
    assert ours.low < 1 < ours.high
    assert ours.bounded is not once
    assert both[1].verdict is (Verdict.UNKNOWN if once else Verdict.NOT_SHOWN)
    assert [line.best for line in both] == [len(values)] * 2


POSITIVE = Known(0.0, side=1)
"""What is known of makespans."""


def test_the_ratio_is_paired_by_seed() -> None:
    """Twice as long on every seed: 2, however much the seeds differ."""
    first, second = compared([1, 10, 100, 1000], [2, 20, 200, 2000]).lines
    assert second.effect == ratio_of([2, 20, 200, 2000], [1, 10, 100, 1000], LEVEL, known=POSITIVE)
    assert second.effect.mean == 2
    assert second.mean == mean_of([2, 20, 200, 2000], LEVEL, POSITIVE)
    assert (first.best, second.best) == (4, 0)


@pytest.mark.parametrize(
    ("ours", "theirs", "mean", "effect", "alike"),
    [
        ([4], [2], (2, inf), (0.5, inf), False),
        ([4, 4], [2, 2], (2, inf), (0.5, inf), True),
        ([4, 4], [2, 3], (2.5, None), (0.625, None), False),
        ([4, None], [None, 5], (5, inf), None, False),
        ([4, 5], [None, None], None, None, False),
    ],
)
def test_fewer_than_two_observations_that_pair_have_no_verdict(
    ours: Any, theirs: Any, mean: Any, effect: Any, alike: bool
) -> None:
    """Runs that do not differ show nothing of how they may."""
    found = compared(ours, theirs)
    line = found.lines[1]
    for it, wanted in ((line.mean, mean), (line.effect, effect)):
        if wanted is None:
            assert it is None or (isnan(it.mean) and it.size == 0)
        else:
            assert it is not None and it.mean == wanted[0]
            assert wanted[1] in (None, it.half)
    assert found.alike is alike
    known = effect is not None and effect[1] is None
    assert (line.verdict is Verdict.UNKNOWN) is not known


def test_a_seed_on_which_some_run_was_capped_is_in_no_pair() -> None:
    found = compared([4, 6, 8, None], [2, None, 4, 1])
    first, second = found.lines
    assert found.paired == (0, 2)
    assert (first.mean, second.mean) == (
        mean_of([4, 6, 8], LEVEL, POSITIVE),
        mean_of([2, 4, 1], LEVEL, POSITIVE),
    )
    assert second.effect == ratio_of([2, 4], [4, 8], LEVEL, known=POSITIVE)
    assert (first.best, second.best) == (0, 2)
    assert [line.as_asked for line in found.lines] == [3, 3]
    assert [line.left_out for line in found.lines] == [{RunStatus.CAPPED: 1}] * 2


def test_nothing_is_a_multiple_of_0() -> None:
    found = compared([0, 0], [0.5, 0.25], measure=Measure.WASTED)
    assert [line.effect for line in found.lines] == [None, None]
    assert [line.best for line in found.lines] == [2, 0]


def test_the_best_utilisation_is_the_highest_and_a_tie_counts_for_both() -> None:
    found = compared([0.5, 0.5, 0.2], [0.5, 0.6, 0.1], measure=Measure.UTILISATION)
    assert [line.best for line in found.lines] == [2, 2]


# --- verdicts -------------------------------------------------------------------------------------


def verdicts(found: Comparison) -> list[Verdict]:
    """Of all but the baseline."""
    base, *others = (line.verdict for line in found.lines)
    assert base is Verdict.BASELINE
    return others


def test_better_is_less_of_a_makespan_and_more_of_a_utilisation() -> None:
    rows: list[list[float | None]] = [[10, 11, 12, 13], [5, 6, 7.5, 8], [10, 12, 11, 13]]
    less, more = compared(*rows), compared(*rows, measure=Measure.UTILISATION)
    assert verdicts(less) == [Verdict.BETTER, Verdict.NOT_SHOWN]
    assert verdicts(more) == [Verdict.WORSE, Verdict.NOT_SHOWN]


PAIRS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=8)


@given(st.lists(PAIRS, min_size=1, max_size=4), st.sampled_from(["ratio", "difference"]))
def test_better_is_exactly_an_interval_that_excludes_no_difference(rows: Any, effect: Any) -> None:
    """Whatever is compared beside it, and the interval contains its estimate."""
    most = min(map(len, rows))
    base = [float(theirs) for _, theirs in rows[0][:most]]
    found = compared(base, *([float(it) for it, _ in row[:most]] for row in rows), effect=effect)
    none = {"ratio": 1, "difference": 0}[effect]
    for line in found.lines[1:]:
        it = line.effect
        assert it is not None and it.low <= it.mean <= it.high
        said = {True: Verdict.BETTER, False: Verdict.WORSE}[it.high < none]
        shown = Verdict.NOT_SHOWN if it.bounded else Verdict.UNKNOWN
        assert line.verdict is (shown if it.low <= none <= it.high else said)


def test_intervals_are_wider_the_more_variants_are_compared() -> None:
    """What is shown alone is not among twenty: they hold all together (Bonferroni)."""
    base: list[float | None] = [10, 12, 11, 13, 10, 12]
    near: list[float | None] = [9.1, 11.9, 10.2, 12.8, 9.2, 11.6]
    assert verdicts(compared(base, near)) == [Verdict.BETTER]
    many = compared(base, *[near] * 20)
    assert verdicts(many) == [Verdict.NOT_SHOWN] * 20
    assert many.lines[1].effect == ratio_of(near, base, 1 - 0.05 / 20, known=POSITIVE)  # type: ignore[arg-type]


def test_runs_with_other_jobs_are_unlike_and_pair_with_nobody() -> None:
    runs = {
        "a": [Compared(0, RunStatus.COMPLETED, 1.0, "x")],
        "b": [Compared(0, RunStatus.COMPLETED, 2.0, "y")],
    }
    found = compare((), Measure.MAKESPAN, runs, "a")
    assert verdicts(found) == [Verdict.UNLIKE]
    assert (found.paired, found.lines[1].effect, found.lines[1].best) == ((), None, 0)


def test_a_variant_that_never_ends_spoils_no_other_comparison() -> None:
    found = compared([10, 11, 12, 13], [5, 6, 7.5, 8], [None] * 4)
    assert verdicts(found) == [Verdict.BETTER, Verdict.UNKNOWN]
    assert found.paired == ()


def test_an_object_is_labelled_by_a_short_name() -> None:
    assert as_toml(BatchPolicy(first_come, RList(0), requested, "mine")) == "mine"
    assert as_toml(BatchPolicy(first_come, RList(0), requested)) == "BatchPolicy"
    assert as_toml(RList(0)) == "RList"
    assert as_toml(first_come) == "first_come"
