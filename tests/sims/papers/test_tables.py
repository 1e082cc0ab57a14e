"""Every table and figure at smoke size: beside what is stored, and beside the paper's numbers."""

from __future__ import annotations

import json
from itertools import pairwise
from math import exp
from pathlib import Path

import pytest
from attrs import evolve

from sims.campaign.axes import as_toml
from sims.campaign.executors import local
from sims.intervals import Estimate
from sims.papers import ITEMS, STORED, complaints, current, differences, item, store_anew, stored
from sims.papers.published import loss_per_failure
from sims.papers.values import BASES, Value, table
from tests.sims.cli.commands import Shell
from tests.sims.papers.papers import LOG

pytestmark = pytest.mark.usefixtures("unchecked")

RUN = {
    "moldable21/example": "13 (13 in)",
    "malleable17/figure7": "mean gain, %",
    "malleable17/figure11": "faults that counted",
    "redundancy17/lemmas": "Lemma 5",
    "rigid21/figure4b": "(4.8 ",
    "rigid21/proposition3": "(1.00005 in)",
    "published/meta": "(0.684 ",
    "published/ray": "predicted from other numbers",
    "study/enrolment": "worth enrolling",
    "study/survive": "cut off",
}
"""One of each kind, and what it prints; of the others only the values are compared."""


@pytest.mark.parametrize("name", RUN)
def test_a_table_that_is_run_has_its_stored_values_and_draws_its_figure(
    name: str,
    tmp_path_factory: pytest.TempPathFactory,
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.getbasetemp() / name.partition("/")[0]  # runs alike are run once
    told: list[Value] = []
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(
        "sims.cli.papers.table", lambda title, values: told.extend(values) or table(title, values)
    )
    out = shell("papers", "run", name, "--size", "smoke", "--results", folder).out
    assert RUN[name] in out
    assert not list(complaints(told, stored()[name]["intervals"]))
    drawn = [line.split()[1] for line in out.splitlines() if line.startswith("picture")]
    one = item(name)
    asked = int(one.drawn and one.campaign("smoke").picture is not None)
    assert len(drawn) == (2 if name == "malleable17/figure11" else asked)
    assert all(Path(path).stat().st_size > 10_000 for path in drawn)


def test_every_published_value_says_what_it_rests_on() -> None:
    published = [it for it in ITEMS if it.name.startswith("published/")]
    assert len(published) == 8
    for one in published:
        assert set(one.basis.values()) <= set(BASES), one.name
        rows = one.printed.keys() - {"columns", "only_with_input"}
        assert rows <= one.basis.keys() or "*" in one.basis, one.name


def test_what_a_failure_costs_is_exact_for_checkpoints_that_stop_the_job() -> None:
    # One segment without a checkpoint: T = M (e^(w/M) - 1), and T / M failures are expected.
    time = 10 * (exp(3 / 10) - 1)
    assert loss_per_failure(10, 5, 1, 4, 3) == pytest.approx((time - 3) / (time / 10))
    # Rare failures: half of a segment of save and work, and the time to load.
    assert loss_per_failure(1e9, 42, 42, 180, 180_000) == pytest.approx(153, rel=2e-3)


def test_all_other_tables_have_their_stored_values(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [it for it in ITEMS if it.name not in RUN]
    monkeypatch.setattr("sims.cli.papers.ITEMS", others)
    assert shell("papers", "check").out == f"{len(others) - 1} tables and figures, 0 differ\n"


def test_the_stored_values_tell_the_rules_of_retirement_apart() -> None:
    known = stored()["published/airesim-retirement"]["intervals"]
    ours = {key: ends for key, ends in known.items() if key.endswith("training, h")}
    ends = sorted(ends for key, ends in ours.items() if key.startswith("random |"))
    assert len(ends) == 3
    assert all(high < low for (_, high), (low, _) in pairwise(ends))


def test_each_is_listed_with_its_measured_cost(shell: Shell) -> None:
    lines = shell("papers").out.splitlines()
    for one in ITEMS:
        [line] = [line for line in lines if f" {one.name} " in line]
        assert line.count(" s ") >= 1 or one.needs_input


def test_every_printed_row_is_of_a_policy_at_a_place_of_a_campaign() -> None:
    for one in ITEMS:
        whole = one.campaign("full") if one.drawn else None
        rows = {key: row for key, row in one.printed.items() if isinstance(row, list)}
        columns = rows.pop("columns", [])
        assert all(len(row) == len(columns) for row in rows.values())
        for key in set(rows) - {"*"} if whole else ():
            *places, who = key.split(" | ")
            turned = not set(columns) - set(whole.varied.variants)  # rows of quantities, one place
            assert turned or any(name.startswith(who) for name in whole.varied.variants)
            known = {as_toml(it) for values in whole.varied.axes.values() for it in values}
            assert set(places) <= known


def test_a_table_with_other_values_is_reported_and_fails(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = json.loads(STORED.read_text())
    key = "LPA | makespan"
    table["moldable21/example"]["intervals"][key] = [9, 10]
    other = shell.write(json.dumps(table), "stored.json")
    monkeypatch.setattr(differences, "__defaults__", (other,))
    both = [item("moldable21/example"), item("malleable17/example")]
    monkeypatch.setattr("sims.cli.papers.ITEMS", [*both, item("volatile13/realtraces")])
    said = shell("papers", "check")
    assert said.code == 1
    assert f"moldable21/example: {key}: 13, was 9 to 10" in said.out
    assert "2 tables and figures, 1 differ" in said.out
    said = shell("papers", "check", "malleable17/example")
    assert (said.code, said.err) == (0, "")


def test_missing_and_new_values_are_reported() -> None:
    value = Value((("p", 2),), "who", "what", Estimate(1.0, 0.9, 1.1, 4))
    assert list(complaints([value], {"x": (0, 1)})) == ["x: gone", f"{value.key}: new"]


def test_what_is_stored_holds_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "stored.json"
    with local(1) as workers:
        store_anew([item("malleable17/example")], workers, path)
        assert differences(item("malleable17/example"), workers, path) == []


def test_the_papers_value_is_covered_to_its_digits() -> None:
    value = Value((), "", "", Estimate(1.0, 0.964, 1.026, 9), "0.96")
    assert value.covered
    assert not evolve(value, paper="0.95").covered
    assert str(evolve(value, paper="1.04")).endswith("(1.04 out)")


# --- names, input, results ------------------------------------------------------------------------


def test_a_paper_s_number_stands_for_its_key() -> None:
    old = ("000/table1", "001/figure4a", "002/table1", "004/study-load", "study/survive")
    keys = ("moldable21", "rigid21", "volatile13", "redundancy17", "study")
    assert [item(current(name)).name.partition("/")[0] for name in old] == list(keys)


@pytest.mark.parametrize("action", ["run", "check"])
def test_an_old_name_works_and_says_what_to_write(action: str, shell: Shell) -> None:
    said = shell("papers", action, "003/example")
    told = "holdfast: 003/example is an old name: write malleable17/example\n"
    assert (said.code, said.err) == (0, told)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("005/table1", "005/table1"),
        ("volatile13/table1 --input log.swf", "--input: volatile13/table1 reads nothing"),
        ("volatile13/table1 --evidence", "--evidence: volatile13/table1 has none"),
        ("rigid21/table1 --input /nowhere.swf", "/nowhere.swf"),
        (f"rigid21/table1 --input {LOG} --evidence", "rigid21/table1 has none"),
        ("volatile13/realtraces", "--input"),
        (f"volatile13/realtraces --input {Path(__file__).parent}", "no .json file"),
        ("redundancy17/study-load --set policy.placement=XYZ", "XYZ"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(words: str, problem: str, shell: Shell) -> None:
    assert problem in shell.refused("papers", "run", *words.split(), "--size", "smoke")


def test_check_refuses_what_needs_an_input_by_its_name_not_by_an_option_of_run(
    shell: Shell,
) -> None:
    assert shell.refused("papers", "check", "volatile13/realtraces") == (
        "holdfast: command line: NAME: volatile13/realtraces runs on an input of yours, with which "
        "nothing is stored; accepted: another name of `holdfast papers`"
    )


def test_an_interrupted_table_resumes_from_its_results(shell: Shell) -> None:
    axes = ["--axis", "fastest=[1]", "--axis", "channels=[5]", "--axis", "number=[0]"]
    words = ["papers", "run", "volatile13/table2", *axes, "--replications", "1"]
    words += ["--set", "job.cap=2000"]
    first, files = shell(*words), shell.files()
    assert shell(*words) == first
    assert shell.files() == files
    assert "Y-IE" in first.out


def test_at_a_smaller_size_published_values_do_not_stand_beside_ours(
    shell: Shell, tmp_path: Path
) -> None:
    words = ["papers", "run", "published/airesim-retirement", "--size", "smoke", "--only", "never"]
    out = shell(*words, "--axis", "placement=fewest-faults", "--results", tmp_path).out
    assert "whose values do not stand beside it" in out
    assert "fewest-faults" in out and "2122.5" not in out
    assert "what the paper prints" not in out
