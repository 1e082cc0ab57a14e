"""Simulations from a program: what goes in, and that it is the run that the command line makes."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import frozen
from numpy.random import Generator

from actors.decisions import BadDecision
from actors.events import (
    End,
    Outcome,
    TasksDealt,
    TransferStarted,
    WorkerChanged,
)
from actors.hazards import Faults
from actors.runtime import ActorFailed
from policies.interface import BatchPolicy, Cause, Configuration, Resize
from policies.queue.allocation import requested
from policies.queue.lists import RList
from policies.queue.orders import first_come
from sims import scenario as sections
from sims.audit.audit import audit
from sims.errors import InputError
from sims.examples import copy, example, examples
from sims.scenario.loader import as_toml
from sims.session import check, load, run
from tests.sims.cli.commands import TINY, Shell
from tests.sims.starters import starter

OldestTwice = starter("copies").OldestTwice
FewestFastest = starter("enrolment").FewestFastest
widest = starter("order").widest
HelpTheLast = starter("redistribution").HelpTheLast
ShortestFirst = starter("service").ShortestFirst
SmallestFit = starter("strategy").SmallestFit

RIGID = tomllib.loads("""
name = "rigid"
platform = { workers = 4 }
policy = { order = "FCFS" }
[job]
kind = "rigid"
jobs = [
    { name = "long", processors = 3, time = 9 },
    { name = "wide", processors = 4, time = 2 },
    { name = "small", processors = 1, time = 5 },
]
""")


def test_a_file_a_table_and_an_object_are_the_same_run(tmp_path: Path) -> None:
    built = sections.Scenario(
        name="rigid",
        platform=sections.PlatformSection(workers=4),
        job=sections.RigidSection(
            kind="rigid",
            jobs=tuple(sections.RigidJob(**job) for job in RIGID["job"]["jobs"]),
        ),
        policy=sections.PolicySection(order="FCFS"),
    )
    assert built == load(RIGID)
    assert list(run(built).records()) == list(run(RIGID).records())
    # long and small at 0, wide once long has ended.
    assert run(built).makespan == 9 + 2


def test_the_log_of_a_run_is_the_one_that_the_command_line_writes(shell: Shell) -> None:
    path = shell.write(TINY)
    shell("run", path, "--seed", "4", "--set", "master.channels=2", "--log", "theirs.jsonl")
    result = run(path, {"master.channels": 2}, seed=4, log=shell.folder / "ours.jsonl")
    theirs = (shell.folder / "theirs.jsonl").read_bytes()
    assert (shell.folder / "ours.jsonl").read_bytes() == theirs
    kept = run(path, {"master.channels": 2}, seed=4)
    assert list(result.records()) == list(kept.records())


def test_a_scenario_runs_inside_a_running_loop() -> None:
    async def cell() -> float | None:
        found = run(example("volatile20")).makespan
        await asyncio.sleep(0)
        return found

    assert asyncio.run(cell()) == run(example("volatile20")).makespan


def test_files_are_sought_beside_the_scenario_or_where_one_says() -> None:
    path = example("batch-easy")
    beside, said = run(path), run(load(path), folder=path.parent)
    assert beside.numbers == said.numbers


# --- policies and hazards as objects --------------------------------------------------------------


@frozen
class Mine:
    """A policy of a program's own, with a parameter."""

    worker: int = 0

    def __call__(self, view: object, rng: Generator) -> Configuration:
        return Configuration(((self.worker, 2),))


def test_a_policy_can_be_an_object_and_the_log_names_it() -> None:
    result = run(example("volatile20"), policy=FewestFastest(most=2))
    started = result.summary.started
    assert started is not None
    assert started.policy == "starters_enrolment:FewestFastest"
    assert started.settings == ()
    assert result.end is End.COMPLETED


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("batch-rigid", {"policy": SmallestFit(), "order": widest}),
        ("batch-moldable", {"allocation": lambda jobs, processors: [1] * len(jobs)}),
        ("malleable10", {"policy": HelpTheLast()}),
        ("redundant", {"policy": OldestTwice()}),
        ("redundant-reclaimed", {"service": ShortestFirst()}),
    ],
)
def test_every_decision_takes_an_object(name: str, given: dict[str, object]) -> None:
    theirs, ours = run(example(name)), run(example(name), **given)  # type: ignore[arg-type]
    assert ours.end is End.COMPLETED
    assert list(ours.records()) != list(theirs.records())


def test_a_whole_policy_of_a_queue_is_its_three_decisions() -> None:
    policy = BatchPolicy(first_come, RList(0), requested)
    assert run(RIGID, policy=policy).makespan == run(RIGID).makespan


def test_what_a_policy_may_not_do_is_reported_in_one_line() -> None:
    with pytest.raises(BadDecision, match=r"Mine.*must place"):
        run(example("volatile20"), policy=Mine())


@frozen
class Twice:
    """Worker 0 fails at 1 and at 20."""

    downtime: float = 2.0
    mtbf: float = 100.0

    def faults(self, rng: Generator, workers: int) -> Faults:
        return iter(((1.0, 0), (20.0, 0)))


def test_a_hazard_can_be_an_object() -> None:
    result = run(RIGID, hazard=Twice())
    turns = [r.t for r in result.records() if isinstance(r.event, WorkerChanged)]
    assert turns[:2] == [1.0, 3.0]
    assert result.summary.completed.keys() == {"long", "wide", "small"}


def test_an_earlier_log_is_kept_and_a_log_takes_no_inputs_place(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    run(path, log=tmp_path / "run.jsonl")
    with pytest.warns(UserWarning, match=r"earlier .*run\.jsonl is now"):
        run(path, seed=9, log=tmp_path / "run.jsonl")
    with pytest.raises(InputError, match="would be lost"):
        run(path, log=path)
    assert path.read_text() == TINY


# --- what cannot be -------------------------------------------------------------------------------


def test_an_error_of_the_scenarios_checks_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TINY.replace('"IE"', '"nobody"'))
    with pytest.raises(InputError, match=r"mine\.toml: policy\.name: .*nobody"):
        run(path)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("volatile20", "master.channels", 3),
        ("batch-faults", "faults.mtbf", "2d"),
        ("batch-rigid", "policy.order", "FCFS"),
        ("malleable10", "policy.name", "IteratedGreedy-EndLocal"),
    ],
)
def test_a_changed_scenario_is_the_one_that_its_file_and_the_change_give(
    name: str, key: str, value: object
) -> None:
    whole = load(example(name))
    assert whole.with_({key: value}) == load(example(name), {key: value}) != whole
    assert load(whole, {key: value}) == whole.with_({key: value})
    assert whole == load(example(name))
    assert load(whole, {key: value}, seed=3) == load(example(name), {key: value}, seed=3)


@pytest.mark.parametrize("name", examples())
def test_each_shipped_scenario_with_another_seed_is_its_file_with_that_seed(name: str) -> None:
    assert load(example(name)).with_({"seed": 5}) == load(example(name), seed=5)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"master.channels": 0}, r"scenario: master\.channels: 0 is not accepted"),
        ({"master.chanels": 1}, r"master\.chanels: unknown key.*channels"),
        ({"name.first": 1}, "name.first: no such place"),
    ],
)
def test_changes_of_a_scenario_are_refused_as_overrides_are(
    changes: dict[str, object], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        load(example("volatile20")).with_(changes)


def test_a_scenario_with_a_programs_objects_has_no_keys_to_change() -> None:
    given = run(RIGID, policy=RList(0)).scenario
    assert given is not None
    with pytest.raises(InputError, match="changes: the scenario has a program's objects"):
        given.with_({"seed": 3})


def test_dir_of_a_scenario_shows_its_keys_and_names_and_none_of_pydantics() -> None:
    whole = load(example("volatile20"))
    assert {*sections.Scenario.model_fields, "with_", "mtbf"} < set(dir(whole))
    assert not {it for it in dir(whole) if it.startswith(("model_", "_"))}
    assert not {"copy", "dict", "json", "parse_obj", "SHORT"} & set(dir(whole))
    assert {"channels", "order"} < set(dir(whole.master))


def test_an_order_of_service_needs_a_master() -> None:
    with pytest.raises(InputError, match="no master"):
        run(RIGID, service=ShortestFirst())
    linked = run(example("malleable-master")).records()
    assert any(isinstance(record.event, TransferStarted) for record in linked)


def test_a_table_is_left_as_it_was() -> None:
    table = {**RIGID, "platform": {"workers": 4}}
    run(table, {"platform.workers": 8})
    assert table["platform"] == {"workers": 4}


@pytest.mark.parametrize("cause", Cause)
def test_who_helps_the_last_after_ends_alone_does_nothing_after_faults(cause: Cause) -> None:
    one = SimpleNamespace(index=0, size=2, largest=9, finish=lambda size: 10 / size)
    view: Any = SimpleNamespace(cause=cause, candidates=[one], idle=5, pair=2)
    helped = [Resize(0, 7)]
    assert HelpTheLast()(view) == helped
    assert HelpTheLast(acts_at_faults=False)(view) == ([] if cause is Cause.FAULT else helped)


def test_the_fewest_fastest_are_more_where_they_cannot_hold_all_tasks() -> None:
    workers = {"random_workers.count": 8, "random_workers.memory": 2}
    some = workers | {"job.iterations": 2, "job.tasks": 6}
    result = run(example("volatile20"), changes=some, policy=FewestFastest(2))
    dealt = [it.event.tasks for it in result.records() if isinstance(it.event, TasksDealt)]
    assert dealt
    assert {len(tasks) for tasks in dealt} == {3}


def test_what_goes_wrong_in_no_policy_is_reported_as_it_is() -> None:
    def strikes(*_: object) -> Faults:
        yield 1.0, 0
        raise OSError("the tape is torn")

    class Torn:
        mtbf = float("inf")
        downtime = 1.0
        faults = staticmethod(strikes)

    with pytest.raises(ActorFailed, match="the tape is torn"):
        run(example("batch-faults"), hazard=Torn())  # type: ignore[arg-type]


def test_a_policy_of_ones_own_for_deadlines_is_checked_without_being_loaded(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("raise SystemExit('it was loaded')")
    copy("deadline", tmp_path)
    found = check(tmp_path / "deadline.toml", {"policy.name": "own:patient"})
    assert found.code == {"policy.name": "own:patient"}


def test_agents_and_a_retirement_of_ones_own_are_checked_without_being_loaded(
    tmp_path: Path,
) -> None:
    (tmp_path / "own.py").write_text("raise SystemExit('it was loaded')")
    text = """
name = "own"
platform.workers = 2
faults.mtbf = 100
repair = { stages = [{ time = 1 }], retirement = { kind = "own", name = "own:Rule" } }
job = { kind = "rigid", jobs = [{ processors = 1, time = 10 }] }
agents = [{ name = "own:Agent" }]
"""
    (tmp_path / "own.toml").write_text(text)
    found = check(tmp_path / "own.toml")
    assert found.code == {"repair.retirement.name": "own:Rule", "agents.0.name": "own:Agent"}


OWN_LAW = """
class Law:
    mtbf, downtime = 3000, 1

    def faults(self, rng, workers):
        return iter(())
"""


def test_check_says_of_a_law_of_ones_own_what_its_code_says_or_nothing(tmp_path: Path) -> None:
    """A mean of 3,000 s between faults of one of 12 workers: 0.4 in the 100 s that the job takes,
    and sqrt(2 x 2 x 3000 / 12) = 31.6 s between two of its checkpoints, which take 2 s each."""
    (tmp_path / "own.py").write_text(OWN_LAW)
    text = """
name = "own"
platform.workers = 12
faults = { kind = "own", name = "own:Law" }
protection = { kind = "images", period = "young", cost = 2 }
job = { kind = "rigid", jobs = [{ processors = 12, time = 100 }] }
"""
    (tmp_path / "own.toml").write_text(text)
    known = check(tmp_path / "own.toml", load_code=True).outlook
    assert [line.split()[:2] for line in known[:3]] == [
        ["faults", "0.4"],
        ["checkpoints", "3"],
        ["period", "31.62"],
    ]
    unknown = check(tmp_path / "own.toml").outlook
    assert unknown == (
        "  faults      0 expected: their rate is unknown within 100 s",
        "  checkpoints unknown: their period is by the law of faults, which is not loaded",
    )
    fixed = check(tmp_path / "own.toml", {"protection.period": 30}).outlook
    assert [line.split()[:2] for line in fixed] == [["faults", "0"], ["checkpoints", "3"]]


def test_a_law_of_ones_own_stands_beside_repair_unless_its_table_has_a_downtime(
    tmp_path: Path,
) -> None:
    """Worker 1 fails at 5 and is repaired for 3 s: the job of 10 s begins again at 8."""
    law = """
class Law:
    mtbf, downtime = 100, 1

    def faults(self, rng, workers):
        yield 5, 1
"""
    (tmp_path / "mended.py").write_text(law)
    table = {
        "name": "mended",
        "platform": {"workers": 2},
        "faults": {"kind": "own", "name": "mended:Law"},
        "repair": {"stages": [{"time": 3, "law": "fixed"}]},
        "job": {"kind": "rigid", "jobs": [{"processors": 2, "time": 10}]},
    }
    assert run(table, folder=tmp_path).makespan == 5 + 3 + 10

    class Law:
        mtbf, downtime = 100.0, 1.0

        def faults(self, rng: Generator, workers: int) -> Faults:
            yield 5, 1

    assert run({**table, "faults": "none"}, hazard=Law()).makespan == 5 + 3 + 10
    table["faults"] = {"kind": "own", "name": "mended:Law", "downtime": 2}
    with pytest.raises(InputError, match=r"faults\.downtime"):
        run(table, folder=tmp_path)


def test_laws_of_ones_own_stand_beside_others(tmp_path: Path) -> None:
    """Worker 0 fails at 3 for 1 s, by the law of one's own, and worker 1 at 8 for 2 s: the job of
    5 s begins at 0, at 4 and at 10."""
    law = """
class Law:
    mtbf, downtime = 100, 1

    def faults(self, rng, workers):
        yield 3, 0
"""
    (tmp_path / "mine.py").write_text(law)
    listed = {"kind": "list", "strikes": [[8, 1]], "downtime": 2}
    table: dict[str, Any] = {
        "name": "mine",
        "platform": {"workers": 2},
        "faults": {"laws": [{"kind": "own", "name": "mine:Law"}, listed]},
        "job": {"kind": "rigid", "jobs": [{"processors": 2, "time": 5}]},
    }
    found = run(table, folder=tmp_path)
    assert found.makespan == 10 + 5
    assert list(audit(iter(list(found.records())))) == []
    assert run({**table, "faults": table["faults"]["laws"]}, folder=tmp_path).makespan == 10 + 5
    path = tmp_path / "mine.toml"
    path.write_text(as_toml(load(table)))
    assert check(path).code == {"faults.laws.0.name": "mine:Law"}
    table["faults"]["laws"][0]["name"] = "mine:Other"
    with pytest.raises(InputError, match=r"faults\.laws\.0\.name"):
        run(table, folder=tmp_path)


def test_lognormal_faults_are_drawn_and_counted_on(tmp_path: Path) -> None:
    """400 workers for 100 s with an MTBF of 1,000 s: 40 faults of workers of any age."""
    law = {"kind": "lognormal", "mtbf": 1000, "sigma": 1.5, "age": "stationary", "downtime": 0}
    table: dict[str, Any] = {
        "name": "lognormal",
        "platform": {"workers": 400},
        "faults": law,
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 100}] * 400},
    }
    assert "40 expected within" in str(check(table))
    assert "faults.age" in str(check(table))
    struck = [run(table, seed=seed, until=100).report.summary.outcomes for seed in range(6)]
    lost = [it[Outcome.LOST] for it in struck]
    assert abs(sum(lost) / len(lost) - 40) < 5 * (40 / len(lost)) ** 0.5
    for key, value in (("sigma", 0), ("sigma", 5), ("shape", 1)):
        with pytest.raises(InputError, match=key):
            check({**table, "faults": {**law, key: value}})
