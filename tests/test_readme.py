"""What the README shows works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sims.cli import main
from sims.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
VOLATILE = ROOT / "sims" / "scenarios" / "volatile20.toml"


def test_the_policy_in_one_file_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [code] = re.findall(r"```python\n# thrifty\.py\n(.*?)```", README, re.DOTALL)
    (tmp_path / "thrifty.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    words = ["run", str(VOLATILE), "--set", "policy.name=thrifty:Thrifty", "--log", "none"]
    assert main(words) == 0
    assert "thrifty:Thrifty" in capsys.readouterr().out


def shown() -> list[str]:
    """What it shows to be typed behind `holdfast`, in their order."""
    lines = re.findall(r"^    (?:\$ )?holdfast (.*?)(?: +#.*)?$", README, re.MULTILINE)
    return [line for line in lines if line != "matrix" and "thrifty" not in line]


def test_the_commands_that_it_shows_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for `holdfast matrix`, which has tests of its own."""
    (tmp_path / "sims").symlink_to(ROOT / "sims")
    monkeypatch.chdir(tmp_path)
    for line in shown():
        words = shlex.split(line.replace("--runs 30", "--runs 2").replace("--most 50", "--most 5"))
        assert main(words) == 0, line
    assert (tmp_path / "logs" / "volatile20.jsonl").exists()


def test_every_command_and_module_it_names_is_there() -> None:
    for command in re.findall(r"holdfast (\w+)", README):
        assert command in COMMANDS
    for module in re.findall(r"python -m (sims[\w.]*)", README):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()


def test_every_scenario_it_names_is_there() -> None:
    for name in re.findall(r"`?(?:sims/scenarios/)?([\w-]+\.toml)`?", README):
        assert (ROOT / "sims" / "scenarios" / name).exists() or name == "pyproject.toml"
