"""`import holdfast`: this checkout's, at no cost, with every name that it promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import holdfast
import pytest

from sims.result import Result
from tests.sims.cli.commands import FEW, TINY, Shell, environment

ROOT = Path(__file__).parents[3]
FACADE = ROOT / "sims" / "python"


def test_it_is_this_checkouts() -> None:
    assert Path(holdfast.__file__).parent == FACADE / "holdfast"


def test_every_name_is_there_and_listed() -> None:
    assert dir(holdfast) == holdfast.__all__ == sorted(holdfast.__all__)
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


def test_types_are_told_to_type_checkers() -> None:
    for package in ("actors", "policies", "sims", "sims/python/holdfast"):
        assert (ROOT / package / "py.typed").exists()


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


def test_variants_are_compared_as_the_command_does(shell: Shell) -> None:
    path = shell.write(TINY)
    told = shell("compare", path, "--vary", "policy.name=IE,Y-IE", "--runs", "3", "--json").json()
    results = holdfast.compare(path, {"policy.name": ["IE", "Y-IE"]}, runs=3)
    [comparison] = results.comparisons()
    means = [line.mean.mean for line in comparison.lines if line.mean]
    assert means == [variant["mean"]["mean"] for variant in told["variants"]]


def test_a_campaign_file_is_run_and_kept(shell: Shell) -> None:
    scenario = shell.write(TINY)
    campaign = (
        f'name = "c"\nscenario = "{scenario.name}"\nreplications = 2\nmeasures = ["makespan"]\n'
    )
    path = shell.write(campaign + "[axes]\n'master.channels' = [1, 2]\n", "c.toml")
    results = holdfast.campaign(path, store="kept")
    assert len(results.comparisons()) == 2
    assert holdfast.campaign(path, store="kept").frame().equals(results.frame())


def test_a_small_run_loads_at_most_150_modules_of_ours(shell: Shell) -> None:
    path = shell.write(FEW)
    code = f"""if True:
        import sys
        from sims.cli import main
        main(["run", {str(path)!r}, "--log", "none"])
        ours = ("actors", "policies", "sims")
        print(sum(it.partition(".")[0] in ours for it in sys.modules))
    """
    words = [sys.executable, "-c", code]
    said = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
    assert int(said.stdout.split()[-1]) <= 150
