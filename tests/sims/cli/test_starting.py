"""Starting files, shipped examples, and checking a file before it is run."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import islice

import pytest

from sims.examples import AXES, CAMPAIGNS, CELLS, FOLDER, campaigns, cells, examples, scenario_file
from sims.kit import Point
from sims.scenario.keys import FILE, schema, tables
from sims.scenario.loader import load, parse, read
from tests.case_files import listed
from tests.sims.cli.commands import TINY, Shell

# --- holdfast new ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", AXES["kind"]["parts"])
def test_a_new_scenario_of_each_kind_runs_as_it_is(shell: Shell, kind: str) -> None:
    path = shell.write(shell("new", "scenario", kind).out, f"{kind}.toml")
    assert shell("check", path).code == 0
    said = shell.told("run", path, "--log", "none")
    assert (said["kinds"], said["completed"]) == ([kind], True)


def test_a_new_fleet_runs_as_it_is_and_has_four_lines_to_edit(shell: Shell) -> None:
    text = shell("new", "scenario", "fleet").out
    path = shell.write(text, "fleet.toml")
    assert text.count("# edit: ") == 4
    said = shell("check", path)
    assert (said.code, "No effect" in said.out, "Warning" in said.out) == (0, False, False)
    assert shell.told("run", path, "--log", "none")["completed"] is True


@pytest.mark.parametrize("kind", CELLS)
def test_a_new_scenario_explains_every_key_of_its_tables(kind: str) -> None:
    text = scenario_file(kind)
    for table in tables():
        if f"\n{table.heading()}\n" in text and table.kind in (None, kind):
            for key in table.keys:
                inner = f"{table.place}.{key.name}"
                shown = rf"^(#?{key.name} = |# {key.name} \(unset\): |# \[{inner}\]: )"
                assert re.search(shown, text, re.MULTILINE), inner


@pytest.mark.parametrize("kind", CELLS)
def test_defaults_that_are_reported_mean_the_same_once_they_are_given(kind: str) -> None:
    text = scenario_file(kind)
    given = re.sub(r"^#(\w+ = )(?!\"\"$)", r"\1", text, flags=re.MULTILINE)
    assert given.count("\n#") < text.count("\n#")
    assert read(tomllib.loads(given), "test") == read(tomllib.loads(text), "test")


def test_a_new_scenario_of_any_cell_is_the_matrixs_own() -> None:
    for cell in islice(cells(), 0, None, 29):
        text = scenario_file(cell, seed=3)
        assert "seed = 3\nunit" in re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
        assert read(tomllib.loads(text), "test").name == cell.replace("/", "-")


def test_a_new_scenario_lies_beside_the_schema_that_its_first_line_names(shell: Shell) -> None:
    said = shell("new", "scenario", "rigid", "-o", "mine/rigid.toml")
    assert said.out.splitlines() == ["mine/rigid.toml", f"mine/{FILE}"]
    first = (shell.folder / "mine/rigid.toml").read_text().splitlines()[0]
    named = shell.folder / "mine" / first.removeprefix("#:schema ")
    assert json.loads(named.read_text()) == schema() == shell("keys", "--schema").json()
    assert shell("new", "scenario", "moldable", "-o", "mine/other.toml").out == "mine/other.toml\n"


@pytest.mark.parametrize("point", Point)
def test_there_is_a_policy_to_begin_with_for_each_decision_point(
    shell: Shell, point: Point
) -> None:
    text = shell("new", "policy", point.value).out
    compile(text, point.value, "exec")
    assert text.startswith('"""')
    assert len(text.splitlines()) < 40


@pytest.mark.parametrize(("point", "name", "setting"), listed(__file__, "points"))
def test_a_new_policy_runs_as_it_is_in_the_users_own_file(
    shell: Shell, point: str, name: str, setting: str
) -> None:
    shell("new", "policy", point, "-o", "mine.py")
    words = ("--set", setting, "--policies", ".", "--log", "none", "--json")
    said = shell("run", FOLDER / f"{name}.toml", *words)
    assert said.json()["completed"], said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("scenario", "rigit"), ["'rigit' is none", "rigid, moldable", "master"]),
        (("policy", "queue"), ["'queue' is none", "strategy", "service"]),
    ],
)
def test_what_cannot_be_begun_is_refused_with_what_can(
    shell: Shell, words: tuple[str, ...], told: list[str]
) -> None:
    assert all(part in shell.refused("new", *words) for part in told)


def test_a_new_file_replaces_no_other(shell: Shell) -> None:
    path = shell.write("mine", "mine.py")
    said = shell("new", "policy", "order", "-o", path)
    assert (said.code, path.read_text()) == (2, "mine")
    assert "is there already" in said.complaint()


# --- holdfast examples ----------------------------------------------------------------------------


def test_examples_are_listed_with_what_they_show(shell: Shell) -> None:
    lines = shell("examples").out.splitlines()
    assert {line.split()[0] for line in lines} == {*examples(), *campaigns()}
    assert all(len(line.split()) > 4 for line in lines)


def test_all_examples_are_copied_with_the_files_that_they_name_and_can_be_run(
    shell: Shell,
) -> None:
    assert shell("examples", "--all", "-o", "mine").code == 0
    copies = {path.name for path in (shell.folder / "mine").iterdir()}
    files = (*FOLDER.iterdir(), *CAMPAIGNS.iterdir())
    assert copies == {path.name for path in files if path.is_file()}
    assert shell("check", "mine/batch-easy.toml").code == 0
    assert shell("examples", "--all", "-o", "mine").code == 0  # alike: nothing is lost


def test_a_copied_example_replaces_no_file(shell: Shell) -> None:
    path = shell.write("mine", "figure1.toml")
    said = shell("examples", "figure1")
    assert (said.code, path.read_text()) == (2, "mine")
    assert "figure1.toml: is there already" in said.complaint()


def test_an_example_that_there_is_not_is_refused(shell: Shell) -> None:
    assert "'figure9' is none; accepted: adversary" in shell("examples", "figure9").complaint()


# --- holdfast check -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", examples())
def test_what_is_understood_is_the_same_scenario_with_nothing_left_out(
    shell: Shell, name: str
) -> None:
    path = FOLDER / f"{name}.toml"
    said = shell("check", path)
    head, _, understood = said.out.partition("\n\n")
    assert said.code == 0
    assert all(word in head for word in (name, "jobs "))
    assert read(tomllib.loads(understood), "test", FOLDER) == load(path)
    assert set(parse(path)) <= set(tomllib.loads(understood))


def test_checking_runs_nothing_and_writes_nothing(shell: Shell) -> None:
    shell.write("def never(view, rng):\n    raise SystemExit('asked')\n", "asked.py")
    path = shell.write(TINY.replace('"IE"', '"asked:never"'))
    before = shell.files()
    assert shell("check", path).code == 0
    assert {it for it in shell.files() if "__pycache__" not in it} == before


@pytest.mark.parametrize(("old", "new", "told"), listed(__file__, "refused"))
def test_a_file_that_cannot_be_run_is_refused_as_by_a_run(
    shell: Shell, old: str, new: str, told: str
) -> None:
    path = shell.write(TINY.replace(old, new))
    line = shell.refused("check", path)
    assert told in line
    assert line == shell("run", path).complaint()


def test_settings_without_an_effect_are_reported(shell: Shell) -> None:
    said = shell("check", shell.write(TINY), "--set", "policy.order=SPT")
    assert "No effect: policy.order: IE decides as enrolment, not as queue." in said.out


def test_a_key_can_be_overridden_before_it_is_checked(shell: Shell) -> None:
    path = shell.write(TINY)
    said = shell("check", path, "--set", "job.iterations=300")
    assert "\niterations = 300\n" in said.out
    assert shell.told("check", path) == {"jobs": 1}
