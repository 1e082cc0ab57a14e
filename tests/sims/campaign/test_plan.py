"""The plan of a campaign: cases are made when their turn comes, however many there are."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attrs import evolve

from sims.campaign import plan as planning
from sims.campaign.certainty import Certainty
from sims.campaign.engine import execute
from sims.campaign.executors import given
from sims.campaign.plan import LOOKED_AT, Cases, Made
from sims.campaign.question import Question
from sims.campaign.results import Results, Store
from sims.campaign.subject import Subject
from sims.campaign.varied import Variants
from sims.errors import InputError

MANY = '''\
"""A campaign's scenarios, each noted in a file."""

from pathlib import Path


def make(a, b):
    with Path(__file__).with_name("made").open("a") as file:
        print(a, b, file=file)
    time = 1 + b if (a, b) != (0, 7) else -1
    return {"name": "many", "platform": {"workers": 2}, "policy": {"name": "R-LIST-0"},
            "job": {"kind": "rigid", "jobs": [{"processors": a % 2 + 1, "time": time}]}}
'''


def many(folder: Path, first: int = 1, last: int = 4000) -> Question:
    """Of `last - first` times 300 points, three variants and a thousand replications."""
    (folder / "many.py").write_text(MANY)
    return Question(
        Subject("many:make", folder),
        Variants(
            {name: {"policy.order": name} for name in ("LPT", "SPT", "HPA")},
            {"a": tuple(range(first, last)), "b": tuple(range(300))},
        ),
        surely=Certainty(1000),
    )


def made(folder: Path) -> int:
    return len((folder / "made").read_text().splitlines())


def alive() -> int:
    """Scenarios with what a run needs, in memory."""
    return sum(isinstance(it, Made) for it in gc.get_objects())


class Enough(Exception):
    """Ends a campaign."""


@pytest.mark.slow
def test_of_billions_of_cells_few_scenarios_are_made_before_results_come(tmp_path: Path) -> None:
    asked = []

    def watch(done: int, total: int) -> None:
        asked.append(total)
        if done > 20:
            raise Enough

    campaign = many(tmp_path, last=2)
    with ThreadPoolExecutor(1) as executor, pytest.raises(Enough):
        execute(campaign, given(executor, slots=1), watch=watch)
    assert set(asked) == {300 * 3 * 1000}
    assert 300 <= made(tmp_path) < 10_000
    assert len(Cases(many(tmp_path))) == 3999 * 300 * 3


def test_scenarios_that_had_their_turn_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "KEPT", 20)
    gc.collect()
    before = alive()
    results = Results(many(tmp_path), Cases(many(tmp_path)))
    runs = results.missing()
    variants = {(case.number, case.key(k)) for case, k in (next(runs) for _ in range(200))}
    assert len(variants) == made(tmp_path) == 200
    assert alive() <= before + 20


def test_every_variant_and_value_is_looked_at_where_not_all_cases_are(tmp_path: Path) -> None:
    looked = list(Cases(many(tmp_path)).looked_at())
    assert len(looked) == 3999
    assert {case.point[0] for case in looked} == {("a", a) for a in range(1, 4000)}
    assert {case.point[1] for case in looked} == {("b", b) for b in range(300)}
    assert {case.variant for case in looked} == {"LPT", "SPT", "HPA"}
    axes = {"a": tuple(range(LOOKED_AT))}
    few = Cases(Question(Subject(Path("x.toml")), Variants(axes=axes)))
    assert list(map(str, few.looked_at())) == list(map(str, few))


def test_each_case_is_there_once_by_point_and_then_by_variant(tmp_path: Path) -> None:
    plan = Cases(many(tmp_path, first=3998))
    told = [(case.point, case.variant) for case in plan]
    assert len(told) == len(set(told)) == 2 * 300 * 3
    assert told[901] == ((("a", 3999), ("b", 0)), "SPT")
    assert [case.place for case in next(plan.points())] == [0, 0, 0]


def test_replications_come_in_rounds_so_that_who_stops_early_has_some_of_each(
    tmp_path: Path,
) -> None:
    few = Variants(axes={"a": (1, 2), "b": (0,)})
    question = evolve(many(tmp_path), varied=few, surely=Certainty(5))
    order = [(dict(case.point)["a"], k) for case, k in Results.of(question).missing()]
    rounds = ([0], [1], [2, 3], [4])
    assert order == [(a, k) for ks in rounds for a in (1, 2) for k in ks]


def test_a_value_that_cannot_be_is_refused_before_anything_runs_however_many_there_are(
    tmp_path: Path,
) -> None:
    question = many(tmp_path, last=3)
    wrong = evolve(question.varied, variants={"XPT": {"policy.order": "XPT"}})
    with pytest.raises(InputError, match=r"policy\.order: 'XPT'"):
        execute(evolve(question, varied=wrong), store=Store(tmp_path / "results"))
    assert not (tmp_path / "results").exists()


def test_a_combination_that_cannot_be_ends_the_campaign_in_a_line_and_keeps_what_is_done(
    tmp_path: Path,
) -> None:
    """a = 0 and b = 7 are no scenario together; the first look has each, but not both."""
    store = Store(tmp_path / "results")
    with ThreadPoolExecutor(1) as executor:
        workers = given(executor, slots=1)
        with pytest.raises(InputError, match=r"job\.jobs\.0\.time: -1"):
            execute(many(tmp_path, first=0, last=2), workers, store)
    assert 0 < len(store.results) <= 7 * 3
