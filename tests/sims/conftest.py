"""What all tests that call the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sims.cli.commands import Shell


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """The command line, in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)
