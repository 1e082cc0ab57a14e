"""The log that commands read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sims.cli.commands import TINY, Shell


@pytest.fixture
def log(shell: Shell) -> Path:
    """The log of a run."""
    shell("run", shell.write(TINY), "--log", "run.jsonl")
    return Path("run.jsonl")
