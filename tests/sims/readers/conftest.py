"""Where the made-up sample files are."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of small made-up files of each format."""
    return Path(__file__).parents[2] / "data"
