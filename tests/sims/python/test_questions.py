"""What a program asks of many runs: of a file, a table or a `Scenario`, with errors that name its
arguments."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import holdfast
import pytest
from attrs import frozen
from attrs.exceptions import FrozenInstanceError

from sims.campaign.file import load_campaign
from sims.campaign.question import Question
from tests.sims.cli.commands import Shell

STUDY = """name = "study"
unit = "s"
platform = { workers = 2 }
job = { kind = "rigid", jobs = [{ processors = 2, time = 100 }] }
protection = { kind = "images", period = "20 s", cost = 5, recovery = 3 }
faults = { kind = "list", strikes = [[50, 0]], downtime = 10 }
"""
"""With cost 5, images end at 25 and 50, at which a fault strikes: 50 + 10 + 3 + 60 + 10 = 133 s.
With cost 4 they end at 24 and 48, and 2 of work are lost: 50 + 10 + 3 + 60 + 8 = 131 s."""
COSTS = {"protection.cost": [4, 5]}
KINDS = ["path", "table", "scenario"]


@pytest.fixture
def study(shell: Shell) -> Path:
    return shell.write(STUDY, "study.toml")


def of_kind(kind: str, study: Path) -> Any:
    """The scenario in one of the forms that `holdfast.run` takes."""
    table = tomllib.loads(STUDY)
    return {"path": str(study), "table": table, "scenario": holdfast.load(table)}[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_variants_of_what_run_takes_are_compared(study: Path, kind: str) -> None:
    source = of_kind(kind, study)
    assert holdfast.run(source, keep=False).makespan == 133
    table = holdfast.compare(source, COSTS, runs=2)
    assert [it["mean"] for it in table.rows()] == [131, 133]
    assert table.title.startswith("study: makespan, seeds 0 to 1")
    assert table.as_json() == holdfast.compare(study, COSTS, runs=2).as_json()


@pytest.mark.parametrize("kind", KINDS)
def test_settings_of_what_run_takes_are_searched(study: Path, kind: str) -> None:
    source = of_kind(kind, study)
    over = {"protection.cost": [4, 5, 6]}
    found = holdfast.tune(source, over, minimise="makespan", runs=2, each=4)
    assert dict(found.settings) == {"protection.cost": 4}
    assert found.sentence.startswith("protection.cost = 4; makespan 131 ± 0 s")
    alone = f"holdfast run {study} --set protection.cost=4"
    if kind != "path":
        alone = "holdfast.run(scenario, {'protection.cost': 4})"
        scope = {"holdfast": holdfast, "scenario": source}
        assert eval(found.command, scope).makespan == 131
    assert found.command == alone


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_what_run_takes_are_ranked(study: Path, kind: str) -> None:
    source = of_kind(kind, study)
    found = holdfast.sensitivity(source, runs=2)
    assert found.as_json() == holdfast.sensitivity(study, runs=2).as_json()
    assert found.rows()[0]["key"] == "protection.cost"
    assert found.rows()[0]["less_mean"] == pytest.approx(131 / 133)
    assert found.title == "study: makespan over its mean as it is"
    both = holdfast.sensitivity(source, pairs=["protection.cost", "protection.period"], runs=2)
    assert len(both.rows()) == 25


def test_keys_follow_from_those_of_a_table_and_several_measures_are_columns(study: Path) -> None:
    source = of_kind("table", study)
    follows = {"platform.workers": "job.jobs.0.processors + spares"}
    table = holdfast.compare(
        source,
        {"platform.spares": [0, 1]},
        follows=follows,
        runs=1,
        measure=["makespan", "utilisation"],
    )
    rows = table.rows()
    assert [it["measure"] for it in rows] == ["makespan"] * 2 + ["utilisation"] * 2
    assert {it["variant"] for it in rows} == {"platform.spares=0", "platform.spares=1"}


def test_a_file_that_a_table_names_is_sought_where_run_seeks_it(shell: Shell) -> None:
    shell.write("; MaxProcs: 4\n1 0 0 50 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1\n", "jobs.swf")
    source = {"name": "log", "job": {"kind": "rigid", "swf": {"file": "jobs.swf"}}}
    assert holdfast.run(source, keep=False).makespan == 50
    table = holdfast.compare(source, {"policy.order": ["FCFS", "SJF"]}, runs=1)
    assert [it["mean"] for it in table.rows()] == [50, 50]


@frozen
class Widest:
    """Whichever job is the widest goes first."""

    def __call__(self, job: Any, processors: int, time: float, platform: Any, draw: Any) -> float:
        return float(processors)


def test_a_scenario_with_a_programs_objects_is_compared_and_searched(shell: Shell) -> None:
    """A narrow job and a wide one of two workers each need both in turn: whoever is first waits not
    at all, the other waits 10 or 20 s."""
    jobs = [{"processors": 1, "time": 10}, {"processors": 2, "time": 20}]
    source = {
        "name": "turns",
        "platform": {"workers": 2},
        "job": {"kind": "rigid", "jobs": jobs},
        "policy": {"name": "R-LIST-0"},
    }
    vary = {"policy.order": ["FCFS", Widest()]}
    table = holdfast.compare(source, vary, runs=1, measure="wait")
    assert [it["mean"] for it in table.rows()] == [5, 10]
    found = holdfast.tune(source, vary, minimise="wait", runs=2, each=4)
    assert found.as_json()["mean"]["mean"] == 5
    with pytest.raises(holdfast.InputError, match="call: store: results of objects are not known"):
        holdfast.compare(source, vary, runs=1, store="kept")
    assert not Path("kept").exists()


def compare(**more: Any) -> Callable[[Any], object]:
    """A call of `compare` with these arguments beside the scenario."""
    return lambda source: holdfast.compare(source, **{"vary": COSTS, "runs": 2, **more})


def tune(over: Any = ("protection.cost", (1, 2)), **more: Any) -> Callable[[Any], object]:
    given = {"minimise": "makespan", **more}
    over = dict([over]) if isinstance(over, tuple) else over
    return lambda source: holdfast.tune(source, over, **given)


def sensitivity(**more: Any) -> Callable[[Any], object]:
    return lambda source: holdfast.sensitivity(source, **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (compare(vary={}), "call: vary: nothing is varied; accepted: vary KEY=V1,V2"),
        (compare(vary={"protection.cost": [4]}), "call: vary: protection.cost=4 is one variant"),
        (compare(vary={"seed": [1, 2]}), "call: vary: seed: all variants are run with the same"),
        (compare(across={"seed": [1, 2]}), "call: across: seed: all variants are run with the"),
        (compare(vary={"protection.cst": [4, 5]}), "call: vary: protection.cst: unknown key"),
        (compare(vary={"name.x": [4, 5]}), "call: vary: name.x: no such place"),
        (compare(vary={"protection.cost": [4, -1]}), "call: vary: protection.cost: -1 is not"),
        (compare(across={"protection.cost": [1]}), "call: vary: protection.cost is varied twice"),
        (compare(baseline="6"), "call: baseline: '6' is no variant; accepted: protection.cost=4"),
        (compare(changes={"name.x": 1}), "call: changes: name.x: no such place"),
        (compare(precision="narrow"), "call: precision: 'narrow' is not accepted"),
        (compare(precision="1%", most=1), "call: most: 1 is not accepted"),
        (compare(runs=0), "call: runs: 0 is not accepted"),
        (compare(seed=2**64), "call: seed: 18446744073709551616 is no seed"),
        (compare(seed=2**64 - 1), "call: runs: 18446744073709551616 is no seed"),
        (compare(until=-1), "call: until: -1 is no time"),
        (compare(by="user"), "call: by: makespan is none of each job's; accepted: measure "),
        (compare(measure=[]), "call: measure: no measure is given"),
        (compare(follows={"platform.workers": "2 + x"}), "call: follows: .* there is no 'x'"),
        (tune({}), "call: over: nothing is varied"),
        (tune(("protection.cost", 3)), "call: over: protection.cost: 3 is no range"),
        (tune(("protection.cst", (1, 2))), "call: over: protection.cst: unknown key"),
        (tune(minimise=None), "call: minimise: one .*; accepted: minimise or maximise MEASURE"),
        (tune(minimise="goodput"), "call: minimise: .* is better; accepted: maximise"),
        (tune(subject_to=["goodput"]), "call: subject_to: 'goodput' is none"),
        (tune(each=3), "call: each: 3 is not accepted"),
        (tune(within="soon"), "call: within: 'soon' is not accepted"),
        (sensitivity(runs=1), "call: runs: 1 is not accepted; accepted: a whole number from 2"),
        (sensitivity(by=2), "call: by: 2 is not accepted"),
        (sensitivity(keys=["protection.cot"]), "call: keys: protection.cot holds no number above"),
        (sensitivity(pairs=["a"]), "call: pairs: a: a map has two axes"),
        (sensitivity(until=1), "call: measure: no run .*; accepted: .* a later until, or another"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_the_arguments_name(
    study: Path, kind: str, asked: Callable[[Any], object], told: str
) -> None:
    with pytest.raises(holdfast.InputError, match=f"^{told}"):
        asked(of_kind(kind, study))


@pytest.mark.parametrize("kind", ["table", "scenario"])
def test_a_setting_that_the_scenario_cannot_have_is_named_as_its_own(
    study: Path, kind: str
) -> None:
    with pytest.raises(holdfast.InputError, match=r"protection\.period: 'x' is not accepted"):
        holdfast.compare(of_kind(kind, study), COSTS, changes={"protection.period": "x"})


def test_a_question_is_frozen_and_a_file_names_its_own_keys(shell: Shell, study: Path) -> None:
    text = f'name = "it"\nscenario = "{study.name}"\n[tune]\nminimise = "makespan"\n'
    path = shell.write(f'{text}over.protection.cost = "4..6"\nruns = 2\neach = 4\n', "it.toml")
    asked = load_campaign(path)
    assert isinstance(asked, Question)
    with pytest.raises(FrozenInstanceError):
        asked.name = "other"
    assert dict(holdfast.campaign(path).settings) == {"protection.cost": 4}
    for old, new, told in (
        ("4..6", "4..x", "tune.over: "),
        ("4..6", "4..1", "tune.over: "),
        ("each = 4", "each = 3", "tune.each: "),
        ("makespan", "goodput", "tune.minimise: .*; accepted: tune.maximise"),
        ("protection.cost", "protection.cst", "tune.over: "),
    ):
        path.write_text(f'{text}over.protection.cost = "4..6"\neach = 4\n'.replace(old, new))
        with pytest.raises(holdfast.InputError, match=rf"^{path}: {told}"):
            holdfast.campaign(path)


def test_the_arguments_of_the_doors_are_the_keys_that_the_command_line_translates() -> None:
    """One table says what each is called there: no option is spelled by the question itself."""
    from inspect import signature

    from sims.cli.comparing import OPTIONS

    own = {"source", "policy", "hazard", "higher_is_better", "tolerance", "follows"}
    own |= {"workers", "watch", "say"}
    asked: Mapping[str, Any] = {
        name: it
        for function in (holdfast.compare, holdfast.tune, holdfast.sensitivity)
        for name, it in signature(function).parameters.items()
    }
    assert set(asked) - own == set(OPTIONS)
