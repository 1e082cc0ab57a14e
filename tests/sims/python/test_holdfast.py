"""`import holdfast`: this checkout's, at no cost, with every name that it promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import holdfast
import pytest

from policies import interface
from sims.errors import InputError
from sims.result import Result
from tests.sims.cli.commands import FEW, TINY, Shell, ended, environment
from tests.sims.cli.commands import python as start_python

ROOT = Path(__file__).parents[3]
FACADE = ROOT / "sims" / "python"
FIGURE = ROOT / "sims" / "scenarios" / "figure1.toml"


def test_it_is_this_checkouts() -> None:
    assert Path(holdfast.__file__).parent == FACADE / "holdfast"


def test_every_name_is_there_and_listed() -> None:
    assert dir(holdfast) == holdfast.__all__ == sorted(holdfast.__all__)
    assert set(interface.__all__) < set(holdfast.__all__)
    for name in holdfast.__all__:
        assert getattr(holdfast, name) is not None
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = holdfast.nothing


def test_importing_it_imports_nothing_else() -> None:
    heavy = "[it for it in sys.modules if it.startswith(('sims', 'numpy'))]"
    code = f"import sys, holdfast; print({heavy})"
    said = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(PYTHONPATH=f"{ROOT}:{FACADE}"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "[]\n"


def test_types_are_reported_to_type_checkers() -> None:
    for package in ("actors", "policies", "sims", "sims/python/holdfast"):
        assert (ROOT / package / "py.typed").exists()


@pytest.mark.parametrize("words", [["run", "--help"], ["policies"], ["nothing"]])
def test_the_package_run_as_a_module_is_the_command(words: list[str], tmp_path: Path) -> None:
    env = environment(PYTHONPATH=f"{ROOT}:{FACADE}")
    ours, theirs = (
        subprocess.run(
            [sys.executable, "-m", name, *words],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        for name in ("holdfast", "sims.cli")
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (
        theirs.returncode,
        theirs.stdout,
        theirs.stderr,
    )
    assert "holdfast" in ours.stdout + ours.stderr or words == ["policies"]


def test_a_run_its_log_its_trace_and_its_picture(shell: Shell) -> None:
    path = holdfast.example("figure1")
    result = holdfast.run(path, log="figure1.jsonl")
    assert isinstance(result, Result)
    assert result.makespan == 16
    assert holdfast.open_log("figure1.jsonl").numbers == result.numbers
    job = next(iter(result.summary.submitted))
    told = shell("trace", "figure1.jsonl", "--job", job).out
    assert f"{holdfast.trace('figure1.jsonl', job)}\n" == f"{holdfast.trace(result, job)}\n" == told
    assert holdfast.plot("figure1.jsonl", "jobs", "ours.svg") == Path("ours.svg")
    shell("plot", "figure1.jsonl", "--what", "jobs", "-o", "theirs.svg")
    assert Path("ours.svg").read_bytes() == Path("theirs.svg").read_bytes()
    assert result.plot("ours.png") == holdfast.plot(result, "ours.png") == Path("ours.png")
    with pytest.raises(holdfast.InputError, match=r"ours\.xyz"):
        result.plot("ours.xyz")


def test_variants_are_compared_as_the_command_does(shell: Shell) -> None:
    path = shell.write(TINY)
    told = shell("compare", path, "--vary", "policy.name=IE,Y-IE", "--runs", "3", "--json").json()
    results = holdfast.compare(path, {"policy.name": ["IE", "Y-IE"]}, runs=3)
    assert results.as_json() == told
    same = holdfast.compare(path, [{"policy.name": "IE"}, {"policy.name": "Y-IE"}], runs=3)
    assert str(same) == str(results)
    for frame in (results.frame(), results.frame("pandas")):
        assert list(frame["mean"]) == [line["mean"]["mean"] for line in told["variants"]]
        assert frame["ratio_low"][1] == told["variants"][1]["ratio"]["low"]
    assert str(results).splitlines()[0].strip() in results._repr_html_()
    assert results.plot()._repr_png_().startswith(b"\x89PNG")
    assert results.plot("spread.svg") == Path("spread.svg")


NOTEBOOK = """
import holdfast
import policies
from hazard import Weekends

ONE = {
    "name": "shadowed", "platform": {"workers": 4}, "policy": {"name": "EASY"},
    "job": {"kind": "rigid", "jobs": [{"processors": 2, "time": 3500, "release": 1000}]},
}
NAMES = ["EASY", policies.narrow_first, lambda view: policies.narrow_first(view)]

path = holdfast.example("batch-rigid")
hazard = Weekends(0.001, day=1e6)
table = holdfast.compare(path, {"policy.name": NAMES}, hazard=hazard, runs=3)
easy, mine, wrapped = table.frame()["mean"]
assert easy != mine == wrapped
assert holdfast.run(path, policy=policies.narrow_first, keep=False).makespan is not None
assert holdfast.run(ONE, hazard=Weekends(1.0, day=600.0, downtime=60.0)).makespan > 4500
assert holdfast.run(ONE).makespan == 4500
print("done")
"""

SHADOW = """
import holdfast


def narrow_first(view: holdfast.BatchView) -> holdfast.Decision:
    starts, free = [], view.free
    for job in sorted(view.queue, key=lambda it: (it.processors, it.key)):
        if job.processors <= free:
            starts.append(job)
            free -= job.processors
    return holdfast.Decision(starts)
"""


def test_objects_are_compared_beside_a_file_called_as_our_package(shell: Shell) -> None:
    assert shell("new", "hazard", "-o", "hazard.py").code == 0
    shell.write(SHADOW, "policies.py")
    path = shell.write(NOTEBOOK, "notebook.py")
    words = [sys.executable, path.name]
    env = environment(PYTHONPATH=f"{ROOT}:{FACADE}")
    said = subprocess.run(
        words, env=env, cwd=shell.folder, capture_output=True, text=True, timeout=120
    )
    assert (said.stdout, said.stderr) == ("done\n", "")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"vary": {"policy.name": "IE"}}, r"vary\['policy.name'\]: 'IE'"),
        ({"vary": "IE"}, "vary: 'IE'"),
        ({"vary": ["IE"]}, "vary: 'IE'"),
        ({"across": {"seed": 3}}, r"across\['seed'\]: 3"),
        ({"runs": "3"}, "runs: '3'"),
        ({"source": 3}, "source: 3"),
        ({"policy": 3}, "policy: 3"),
        ({"policy": Result}, "policy: Result is a class"),
        ({"hazard": 3}, "hazard: 3"),
    ],
)
def test_what_has_another_type_is_refused_by_the_arguments_name(
    shell: Shell, changes: dict[str, Any], named: str
) -> None:
    asked = {"source": shell.write(TINY), "vary": {"master.channels": [1, 2]}, "runs": 2, **changes}
    with pytest.raises(TypeError, match=named):
        holdfast.compare(**asked)


def longest(report: Any) -> float:
    """Of all flowtimes."""
    return float(max(report.summary.flowtimes))


def test_a_function_of_ones_own_is_a_measure_as_is_one_in_a_module_beside_the_scenario(
    shell: Shell,
) -> None:
    path = shell.write(FEW)
    shell.write("def longest(report):\n    return max(report.summary.flowtimes)\n", "mine.py")
    vary = {"policy.name": ["EASY", "R-LIST-0"]}
    own, bare, named = (
        holdfast.compare(path, vary, runs=2, measure=it)
        for it in (longest, lambda report: longest(report), "mine:longest")
    )
    values = [[run.value for run in it.comparisons()[0].lines[1].runs] for it in (own, bare, named)]
    assert values[0] == values[1] == values[2]
    assert values[0][0] == longest(holdfast.run(path, {"policy.name": "R-LIST-0"}).report)
    assert not own.as_json()["higher_is_better"]
    more = holdfast.compare(path, vary, runs=2, measure=longest, higher_is_better=True)
    assert more.as_json()["higher_is_better"]


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        (lambda report: "long", r"<lambda>' returned 'long'; accepted: a finite number"),
        (lambda report: float("nan"), "returned nan; accepted: a finite number"),
        (lambda report: report.nothing, "AttributeError: .*nothing"),
        (3, "measure: 3 is none; accepted: makespan, .* or a function of a Report"),
        ("mine:number", "measures: 'mine:number' is 7; accepted: a function"),
        ("nowhere:longest", "'nowhere:longest': no such module there"),
    ],
)
def test_a_measure_that_is_none_is_refused_once(shell: Shell, measure: Any, told: str) -> None:
    path = shell.write(FEW)
    shell.write("number = 7\n", "mine.py")
    with pytest.raises(holdfast.InputError, match=told):
        holdfast.compare(path, {"policy.name": ["EASY", "FCFS"]}, runs=2, measure=measure)


def test_a_campaign_file_is_run_and_kept(shell: Shell) -> None:
    scenario = shell.write(TINY)
    campaign = (
        f'name = "c"\nscenario = "{scenario.name}"\nreplications = 2\nmeasures = ["makespan"]\n'
    )
    path = shell.write(campaign + "[axes]\n'master.channels' = [1, 2]\n", "c.toml")
    results = holdfast.campaign(path, store="kept")
    assert len(results.comparisons()) == 2
    assert holdfast.campaign(path, store="kept").frame().equals(results.frame())
    assert len(results.runs()) == 4


@pytest.mark.parametrize("text", [FEW, FIGURE.read_text()])
def test_a_small_run_loads_at_most_215_modules_of_ours(shell: Shell, text: str) -> None:
    """Most are small: a mechanism has a file of its own in the world, and one in scenarios. Not
    loaded are repairs, clocks of faults, other deciders, readers of traces, words of mechanisms."""
    path = shell.write(text)
    code = f"""if True:
        import sys
        from sims.cli import main
        main(["run", {str(path)!r}, "--log", "none"])
        ours = ("actors", "policies", "sims")
        print(sum(it.partition(".")[0] in ours for it in sys.modules))
    """
    words = [sys.executable, "-c", code]
    said = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
    assert int(said.stdout.split()[-1]) <= 215


def test_changes_of_a_scenario_map_keys_to_values(shell: Shell) -> None:
    scenario = holdfast.load(shell.write(TINY))
    for wrong in (5, ["platform.workers"], {5: 1}):
        with pytest.raises(InputError, match=r"call: changes: .* is none; accepted: dotted keys"):
            scenario.with_(wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"call: changes: .* is none; accepted: dotted keys"):
            holdfast.run(shell.write(TINY), wrong)  # type: ignore[arg-type]


def test_modules_of_the_interface_need_no_import_of_their_own() -> None:
    code = "import holdfast; print(holdfast.agents.Agent.__name__, holdfast.actors.Actor.__name__)"
    done = ended(start_python("-c", code))
    assert (done.code, done.out) == (0, "Agent Actor\n"), done.err
