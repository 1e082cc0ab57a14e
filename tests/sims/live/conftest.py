"""One cluster for all tests of live runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sims.live.holder import hashed
from sims.live.live import opened
from sims.live.processes import Processes
from tests.sims.live.steps import multiply

SIZE = 5


@pytest.fixture(scope="session")
def cluster() -> Iterator[Processes]:
    """Skips where Dask is missing."""
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    with opened(SIZE, hashed) as processes:
        yield processes


@pytest.fixture(scope="session")
def at_work() -> Iterator[Processes]:
    """Such a cluster, each of whose steps takes some ten milliseconds of real work."""
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    with opened(SIZE, multiply) as processes:
        yield processes


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for sockets in it: their paths have at most 107 letters."""
    with TemporaryDirectory() as folder:
        yield Path(folder)
