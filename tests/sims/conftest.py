"""What all tests that call the command line share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sims.own_modules import POLICIES
from tests.sims.cli.commands import Shell


@pytest.fixture(autouse=True)
def unimported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Modules of a test's folder are no other test's."""
    before, folder = set(sys.modules), str(tmp_path_factory.getbasetemp())
    yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(folder):
            del sys.modules[name]


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """The command line, in an empty current folder; however slow the machine, it says nothing of
    its own slowness."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(POLICIES, "")  # and what --policies makes of it goes with the test
    for name in ("EVERY", "SILENCE"):
        monkeypatch.setattr(f"sims.cli.commands.{name}", 3600.0)
    return Shell(tmp_path, capsys)
