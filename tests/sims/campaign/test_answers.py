"""What a comparison says in a sentence: no more than its intervals support."""

from __future__ import annotations

from collections.abc import Sequence

from sims.campaign.answers import answer, assumptions, lacking
from sims.campaign.batches import RunStatus
from sims.campaign.comparing import Comparison, compare, judged
from sims.campaign.observations import Compared
from sims.examples import example
from sims.intervals import LEVEL
from sims.metrics.measures import Measure
from sims.session import load

COST, GOODPUT = Measure.COST, Measure.GOODPUT
BASE = [10.0, 10.2, 9.8, 10.1, 9.9]


def compared(gauge: Measure = COST, **rows: Sequence[float]) -> Comparison:
    """The comparison of variants by their values on seeds 0, 1 and so on with those of BASE."""
    runs = {
        name: [Compared(k, RunStatus.COMPLETED, value) for k, value in enumerate(row)]
        for name, row in {"base": BASE, **rows}.items()
    }
    return judged([compare((), gauge, runs, "base")], LEVEL)[0]


def scaled(ratio: float) -> list[float]:
    return [ratio * value + 0.01 * (-1) ** k for k, value in enumerate(BASE)]


def test_the_best_of_the_better_ones_is_named_with_its_ratio() -> None:
    text = answer([compared(good=scaled(0.9), best=scaled(0.8))], "base")
    assert text is not None
    assert text.startswith("best is better than base: cost 0.80")
    assert text.endswith("of its, and so is good; 5 runs of each variant.")


def test_more_of_a_measure_may_be_better() -> None:
    text = answer([compared(GOODPUT, more=scaled(1.2), less=scaled(0.8))], "base")
    assert text is not None
    assert text.startswith("more is better than base: goodput 1.2")


def test_where_variants_are_only_worse_that_is_said() -> None:
    text = answer([compared(bad=scaled(1.2))], "base")
    assert text == (
        "No variant is shown to be better than base by its cost; worse: bad; "
        "5 runs of each variant."
    )


def test_where_intervals_show_nothing_the_sentence_says_nothing_of_a_direction() -> None:
    noisy = [12.0, 8.0, 11.0, 9.0, 10.0]
    text = answer([compared(noisy=noisy)], "base")
    assert (
        text == "Nothing shows that any variant's cost differs from base's; 5 runs of each variant."
    )


def test_several_cells_are_counted() -> None:
    cells = [compared(other=scaled(0.8)), compared(other=scaled(1.2)), compared(other=scaled(0.7))]
    assert answer(cells, "base") == (
        "By cost, other is better than base in 2 and worse in 1 of 3 cells; "
        "5 runs of each variant in each cell."
    )


def test_cells_with_other_numbers_of_runs_say_both() -> None:
    """Precision asks for 5 runs in one cell, and for 4 in the other."""
    fewer = {
        name: [Compared(k, RunStatus.COMPLETED, value) for k, value in enumerate(row[:4])]
        for name, row in (("base", BASE), ("other", scaled(0.8)))
    }
    cells = [compared(other=scaled(0.8)), judged([compare((), COST, fewer, "base")], LEVEL)[0]]
    said = answer(cells, "base")
    assert said is not None and said.endswith("; 4 to 5 runs of each variant in each cell.")


def test_where_too_few_runs_differ_for_an_interval_a_note_says_how_many_would_do() -> None:
    cell = compared(rare=[10.0, 10.0, 12.0, 10.0, 10.0])
    assert list(lacking([cell], "cost")) == [
        "Too few of the 5 runs have another cost than the rest (rare: 1) for an interval; "
        "with 15 runs, 3 are to be expected."
    ]


def test_runs_that_differ_by_rounding_alone_are_too_few_whatever_their_number() -> None:
    cell = compared(near=[0.3, 0.1 + 0.2, 0.3, 0.3, 0.3])
    assert list(lacking([cell], "cost")) == [
        "Too few of the 5 runs have another cost than the rest (near: 0) for an interval."
    ]


def test_what_is_not_compared_has_no_sentence() -> None:
    assert answer([compared()], "base") is None


def test_assumptions_name_faults_their_age_and_start_ups() -> None:
    table = {
        "name": "it",
        "unit": "s",
        "platform": {"workers": 2},
        "job": {"kind": "rigid", "startup": 60, "jobs": [{"processors": 1, "time": 1}]},
        "faults": {"kind": "weibull", "mtbf": 9, "shape": 0.7, "age": "stationary"},
    }
    assert assumptions(load(table)) == ("weibull faults of stationary units, a start-up of 60 s")
    hang = {"mtbf": 9, "effect": "hang", "detection": 1}
    laws = [table["faults"], hang, {"kind": "list", "strikes": [[1, 0]]}]
    table |= {"faults": {"laws": laws}, "errors": {"rate": 0.1}}
    assert assumptions(load(table)) == (
        "weibull faults of stationary units, exponential hangs of new units, listed faults, "
        "silent errors, a start-up of 60 s"
    )
    log = {"kind": "rigid", "lublin": {"jobs": 9}, "resample": {"blocks": 3}}
    assert assumptions(
        load({"name": "it", "unit": "s", "platform": {"workers": 2}, "job": log})
    ) == ("no faults, no start-up, 3 blocks of one log drawn anew in each run")
    drawn = {"job": {"kind": "rigid", "synthetic": {"count": 2, "processors": [1, 2]}}}
    assert assumptions(load({"name": "it", "unit": "s", "platform": {"workers": 2}} | drawn)) == (
        "no faults, no start-up, the same drawn jobs for all seeds"
    )
    assert assumptions(load(example("volatile20"))) == (
        "no faults, owners as given, no start-up, the same drawn workers for all seeds"
    )
