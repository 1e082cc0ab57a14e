"""What the guide from a log to a figure shows works."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from sims.cli import main

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "sims" / "docs" / "pages" / "cluster.md").read_text(encoding="utf-8")
SCENARIO = ROOT / "sims" / "scenarios" / "cluster.toml"


def blocks(language: str) -> list[str]:
    """Its blocks of code in one language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_guide_run_one_after_the_other_and_show_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign = next(text for text in blocks("toml") if text.startswith("# load.toml"))
    (tmp_path / "load.toml").write_text(campaign, encoding="utf-8")
    for line in "".join(blocks("sh")).splitlines():
        command, *words = shlex.split(line)
        assert command == "holdfast"
        assert main(words) == 0, line
    assert (tmp_path / "logs" / "campaigns" / "load" / "load.png").exists()
    printed = words_of(capsys.readouterr().out)
    for shown in "".join(blocks("text")).splitlines():
        assert words_of(shown) in printed, shown


def words_of(text: str) -> str:
    return " ".join(text.split())


def test_the_guide_shows_the_scenario_that_ships() -> None:
    shown = blocks("toml")[0]
    assert tomllib.loads(shown) == tomllib.loads(SCENARIO.read_text(encoding="utf-8"))
