"""What all tests that call the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sims.cli.commands import Shell


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """The command line, in an empty current folder; however slow the machine, it says nothing of
    its own slowness."""
    monkeypatch.chdir(tmp_path)
    for name in ("EVERY", "SILENCE"):
        monkeypatch.setattr(f"sims.cli.output.{name}", 3600.0)
    return Shell(tmp_path, capsys)
