"""What the README shows works."""

from __future__ import annotations

import re
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


def test_every_command_and_module_it_names_is_there() -> None:
    for command in re.findall(r"holdfast (\w+)", README):
        assert command in COMMANDS
    for module in re.findall(r"python -m (sims[\w.]*)", README):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()


def test_every_scenario_it_names_is_there() -> None:
    for name in re.findall(r"`?(?:sims/scenarios/)?([\w-]+\.toml)`?", README):
        assert (ROOT / "sims" / "scenarios" / name).exists() or name == "pyproject.toml"
