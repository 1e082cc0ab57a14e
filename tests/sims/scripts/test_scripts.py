"""The scripts that come with Holdfast run, print their answers and leave a picture."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from sims.examples import SCRIPTS, scripts
from tests.sims.cli.commands import ROOT, Said, Shell, ended, environment, python

OURS = sorted(name for name in scripts() if "/" not in name)
LONGEST = 40


def code(path: Path) -> list[str]:
    """Lines that hold code: neither docstrings, comments, blank lines nor imports."""
    tree = ast.parse(path.read_text())
    other = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    lines = enumerate(path.read_text().splitlines(), 1)
    return [it for number, it in lines if number not in other and it.split("#")[0].strip()]


def run(name: str, folder: Path) -> Said:
    """Run a copied script in a folder."""
    path = f"{ROOT}:{ROOT / 'sims' / 'python'}"
    said = ended(python(f"{name}.py", cwd=folder, env=environment(PYTHONPATH=path)))
    assert said.code == 0, said.err
    return said


def answer(name: str, shell: Shell) -> str:
    """What a copied script prints; it leaves a picture of its name."""
    pytest.importorskip("matplotlib")
    assert shell("examples", "--scripts", name).out == f"{name}.py\n"
    said = run(name, shell.folder)
    assert f"{name}.svg" in shell.files()
    return said.out


@pytest.mark.parametrize("name", OURS)
def test_a_script_has_at_most_forty_lines_of_code(name: str) -> None:
    assert len(code(SCRIPTS / f"{name}.py")) <= LONGEST


def test_each_script_says_what_it_does() -> None:
    assert all(len(sentence.split()) > 5 for sentence in scripts().values())


def test_no_script_has_the_name_of_a_package_that_it_would_hide() -> None:
    names = {name.partition("/")[0] for name in scripts()}
    assert not names & {"actors", "policies", "sims", "holdfast", "simpy", "asyncio"}


def test_the_study_of_bandwidth_says_how_many_workers_are_enough(shell: Shell) -> None:
    lines = answer("bandwidth", shell).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["n_com = 1", "n_com = 2", "n_com = 4"]
    slots = [float(line.split()[-2]) for line in lines]
    # Ten iterations of 12 messages of 5 slots need the channel for 600 slots.
    assert slots[0] > 600
    assert slots == sorted(slots, reverse=True)


def test_the_job_that_waited_longest_is_told_of(shell: Shell) -> None:
    pytest.importorskip("polars")
    first, _, head, *rest = answer("one_job", shell).splitlines()
    name = first.split()[0]
    assert re.fullmatch(r"J\d+ waited [\d.]+ h", first)
    assert f"{name} submitted" in head
    assert any("waits for workers" in line for line in rest)


def test_orders_are_compared_with_intervals_and_a_verdict(shell: Shell) -> None:
    told = answer("compare_orders", shell)
    rows = [line.split() for line in told.splitlines()]
    assert {row[0]: row[-1] for row in rows if "of" in row[1:4]}["LPT"] == "baseline"
    assert "95 %" in told


def test_the_chance_of_a_rare_event_is_the_one_of_the_formula(shell: Shell) -> None:
    """That of a birth-death process to climb from 1 to 5 before it is at 0."""
    low, high = map(float, re.findall(r"[\d.]+e-\d+", answer("rare_event", shell))[1:])
    products = [1.0]
    for down in range(1, 5):
        products.append(products[-1] * down / ((10 - down) / 100))
    assert low < 1 / sum(products) < high < 10 * low


def test_the_agent_of_the_script_balks_at_a_long_queue(shell: Shell) -> None:
    said = answer("agent", shell)
    assert "mine 0 submitted by the agent Patron" in said
    assert int(re.findall(r"came back later (\d+) times", said)[0]) > 0


def test_own_actors_take_the_time_that_the_channel_allows(shell: Shell) -> None:
    """Workers get their tasks at 2, 4 and 6; each asks again after 5 and waits for 2: the last of
    four rounds of 7 ends at 6 + 3 x 7 + 5."""
    assert "take 32," in answer("own_actors", shell)
    assert shell.told("summary", "own_actors.jsonl")["kinds"] == {"TaskDone": 12}


def test_scripts_are_listed_and_copied_by_name(shell: Shell) -> None:
    listed = shell("examples", "--scripts").out
    assert [line.split()[0] for line in listed.splitlines()] == list(scripts())
    refusal = shell.refused("examples", "--scripts", "nothing")
    assert "'nothing' is none; accepted: agent, bandwidth, compare_orders" in refusal
    shell("examples", "--scripts", "--all", "-o", "all")
    assert {f"all/{name.rpartition('/')[2]}.py" for name in scripts()} < shell.files()
