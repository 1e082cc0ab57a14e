"""A policy in one file of the user's own, named in a scenario: used as it is, refused by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import field, frozen

import policies
from sims.tables import arguments_of
from tests.case_files import listed
from tests.sims.cli.commands import FEW, ROOT, TINY, Said, Shell

MINE = '''\
"""My own policy, in my own file."""

from attrs import frozen

from policies.interface import Configuration, Wake


@frozen
class Only:
    """All tasks on one worker, if it is UP."""

    worker: int
    patience: float = 0.0

    def __call__(self, view, rng):
        if view.up >> self.worker & 1 and view.elapsed >= self.patience:
            return Configuration(((self.worker, view.enrolment.tasks),))
        return None


class Plain:
    """The same without attrs."""

    def __init__(self, worker=0):
        self.worker = worker

    def __call__(self, view, rng):
        return Only(self.worker)(view, rng)


def first(view, rng):
    """The same as a function."""
    return Only(0)(view, rng)


class Stubborn:
    """Never lets go, not even of who is down."""

    wake = Wake.EVERY_SLOT

    def __call__(self, view, rng):
        return Configuration(((1, 2),))


number = 7


class Sleepy:
    wake = "at noon"

    def __call__(self, view, rng):
        return None
'''


@pytest.fixture
def own(shell: Shell) -> Shell:
    """The command line beside a file of policies."""
    shell.write(MINE, "mine.py")
    return shell


def run(shell: Shell, policy: str, *words: str) -> Said:
    path = shell.write(TINY.replace('name = "IE"', policy))
    return shell("run", path, "--log", "none", *words)


def one_line(said: Said, *parts: str) -> None:
    line = said.refusal()
    for part in parts:
        assert part in line


@pytest.mark.parametrize("policy", listed(__file__, "policies"))
def test_classes_and_functions_of_a_module_beside_the_scenario_work(
    own: Shell, policy: str
) -> None:
    """Three iterations of two tasks of three slots on the first worker, RECLAIMED at 4 and 5."""
    told = run(own, policy, "--json").json()
    assert (told["makespan"], told["completed"]) == (2 + 2 + 6 + 2 + 2 * 8, True)


def test_a_module_elsewhere_than_the_scenario_is_loaded_where_the_command_says_so(
    own: Shell,
) -> None:
    (own.folder / "deep").mkdir()
    path = own.write(TINY.replace('name = "IE"', 'name = "mine:first"'), "deep/tiny.toml")
    one_line(own("run", path, "--log", "none"), "policy.name", "no such module there")
    assert own("run", path, "--log", "none", "--policies", ".").code == 0


def test_check_runs_no_code_without_load(own: Shell) -> None:
    own.write(MINE + "print('it ran')\n", "mine.py")
    path = own.write(TINY.replace('name = "IE"', 'name = "mine:number"'))
    said = own("check", path)
    assert said.code == 0
    assert "policy.name = mine:number (not loaded" in said.out
    assert "it ran" not in said.out
    assert own("check", path, "--load").code == 2
    path = own.write(TINY.replace('name = "IE"', 'name = "mine:first"'))
    sys.modules.pop("mine")
    said = own("check", path, "--load")
    assert "it ran" in said.out
    assert "policy.name = mine:first (loaded)" in said.out


def test_a_parameter_of_the_policy_is_set_from_the_command_line(own: Shell) -> None:
    policy = 'name = "mine:Only"\nparameters = { worker = 0 }'
    said = run(own, policy, "--set", "policy.parameters.patience=2", "--json")
    assert said.json()["makespan"] > 28


@pytest.mark.parametrize(("policy", "parts"), listed(__file__, "refused"))
def test_a_policy_that_cannot_be_had_is_refused_in_one_line(
    own: Shell, policy: str, parts: list[str]
) -> None:
    one_line(run(own, policy), "tiny.toml: ", *parts)


@pytest.mark.parametrize(("source", "parts"), listed(__file__, "broken"))
def test_a_module_that_does_not_import_is_refused_in_one_line(
    shell: Shell, source: str, parts: list[str]
) -> None:
    shell.write(source, "broken.py")
    one_line(run(shell, 'name = "broken:first"'), "policy.name", "'broken:first'", *parts)


@pytest.mark.parametrize(("step", "told"), listed(__file__, "failing"))
def test_an_error_inside_a_policy_is_reported_in_one_line_with_its_place(
    own: Shell, step: str, told: str
) -> None:
    own.write(f"def first(view, rng):\n    {step}\n", "mine.py")
    one_line(run(own, 'name = "mine:first"'), "mine:first", told, "mine.py, line 2")


@pytest.mark.parametrize(("step", "told"), listed(__file__, "laws"))
def test_a_law_of_speed_that_fails_in_mid_run_is_reported_in_one_line(
    shell: Shell, step: str, told: str
) -> None:
    law = "class Law:\n    peak = 1.0\n    def path(self, rng):\n        yield 0.0, 1.0\n"
    shell.write(f"{law}        {step}\n", "law.py")
    speed = 'workers = 8\nspeed = { kind = "own", name = "law:Law" }'
    path = shell.write(FEW.replace("workers = 8", speed))
    one_line(shell("run", path, "--log", "none"), "speed.name: law:Law: ", told)


def test_a_decision_that_cannot_be_is_reported_in_one_line(own: Shell) -> None:
    one_line(run(own, 'name = "mine:Stubborn"'), "policy mine:Stubborn", "worker 1 is not UP")


LAZY = "from policies.interface import Decision\n\n\ndef lazy(view):\n    return Decision([])\n"


def test_a_deadlock_names_the_strategy_as_its_scenario_does_and_jobs_that_wait(
    shell: Shell,
) -> None:
    """A window that never ends leaves one worker of two."""
    scenario = """
name = "never"
policy.name = "EASY"
job = { kind = "rigid", jobs = [{ processors = 2, time = 10 }] }
platform = { workers = 2, maintenance = [{ from = 5, to = inf, units = "0" }] }
"""
    said = shell("run", shell.write(scenario), "--log", "none")
    assert "policy EASY starts none of the 1 that wait (J1): 1 of 2 workers" in said.complaint()


def test_a_queue_policy_that_starts_nothing_is_named_where_the_run_ends(shell: Shell) -> None:
    shell.write(LAZY, "mine.py")
    said = shell("run", shell.write(FEW), "--set", "policy.name=mine:lazy", "--log", "none")
    assert said.code == 1
    assert "policy mine:lazy starts none of the " in said.complaint()
    assert ": 8 of 8 workers are free" in said.complaint()


HAZARD = """
class Weekends:
    def __init__(self, day=100.0):
        self.day = day
        self.mtbf = 7 * day
        self.downtime = 5.0

    def faults(self, rng, workers):
        for k in range(1, 4):
            yield k * self.day, int(rng.integers(workers))


class Wrong(Weekends):
    def faults(self, rng, workers):
        yield 1.0, workers


class NoRate(Weekends):
    mtbf = 0.0

    def __init__(self):
        pass


number = 7
"""
NAMED = "faults = { kind = 'own', name = 'haz:Weekends', parameters = { day = 1500 } }\n"


@pytest.fixture
def hazardous(shell: Shell) -> Shell:
    """The command line beside a law of faults."""
    shell.write(HAZARD, "haz.py")
    return shell


def ended(said: Said) -> float:
    return float(said.json()["makespan"])


def test_a_law_of_faults_of_ones_own_is_named_in_a_file(hazardous: Shell) -> None:
    path = hazardous.write(NAMED + FEW)
    named = ended(hazardous("run", path, "--log", "own.jsonl", "--json"))
    assert named > ended(hazardous("run", path, "--set", "faults=off", "--log", "none", "--json"))
    assert hazardous("audit", "own.jsonl").code == 0
    for word in ("faults=haz:Weekends", 'faults={kind = "haz:Weekends"}'):
        said = hazardous("run", hazardous.write(FEW), "--set", word, "--log", "none", "--json")
        assert said.json()["completed"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("haz:Wrong", "haz:Wrong: ValueError: it gave (1.0, 8)"),
        ("haz:NoRate", "AttributeError"),
        ("haz:number", "'haz:number' cannot serve here"),
        ("haz:Nothing", "has no attribute 'Nothing'"),
        ("subprocess:Popen", "no such module there"),
        ("Weekends", "accepted: a table whose `kind` is one of"),
    ],
)
def test_a_law_of_faults_that_is_none_is_refused_in_one_line(
    hazardous: Shell, name: str, told: str
) -> None:
    path = hazardous.write(FEW)
    one_line(hazardous("run", path, "--set", f"faults={name}", "--log", "none"), "faults", told)


def test_check_does_not_load_a_law_of_faults(hazardous: Shell) -> None:
    hazardous.write("raise SystemExit('it ran')", "haz.py")
    said = hazardous("check", hazardous.write(NAMED + FEW))
    assert "faults.name = haz:Weekends (not loaded" in said.out
    assert hazardous("check", "few.toml", "--load").code == 2


# --- parameters, without the command line ---------------------------------------------------------


@frozen
class Settings:
    """What a policy may ask for."""

    weights: tuple[float, ...] = field(default=(1.0,))


def test_lists_and_numbers_become_what_the_policys_class_says() -> None:
    found = arguments_of(Settings, {"weights": [1, 2.5]}, "a test", "policy.parameters")
    assert Settings(**found) == Settings((1, 2.5))


@pytest.fixture
def named_as_ours(own: Shell) -> Iterator[Shell]:
    """The same file in a folder that is called as one of our packages."""
    (own.folder / "policies").mkdir()
    own.write(MINE, "policies/mine.py")
    own.write(MINE, "policies/pack.py")
    before = list(policies.__path__)
    yield own
    policies.__path__[:] = before


def test_a_folder_of_ones_own_may_be_called_policies(named_as_ours: Shell) -> None:
    policy = 'name = "policies.mine:Only"\nparameters = { worker = 0 }'
    assert run(named_as_ours, policy, "--json").json()["makespan"] == 28
    assert run(named_as_ours, 'name = "IE"').code == 0


def test_a_module_that_one_of_ours_hides_is_refused_by_name(named_as_ours: Shell) -> None:
    said = run(named_as_ours, 'name = "policies.pack:Only"\nparameters = { worker = 0 }')
    one_line(said, "policy.name", "'policies.pack:Only'", "of its own", "another name")


def test_ours_is_found_though_a_folder_of_its_name_comes_first(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/__init__.py").write_text("mine = 1")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; import sims, policies"
    code += "; from policies.interface import Decision; assert policies.mine"
    subprocess.run([sys.executable, "-c", code], check=True)
