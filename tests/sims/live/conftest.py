"""One cluster for all tests of live runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sims.live.holder import hashed
from sims.live.live import opened
from sims.live.processes import Processes

SIZE = 5


@pytest.fixture(scope="session")
def cluster() -> Iterator[Processes]:
    """Skips where Dask is missing."""
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    with opened(SIZE, hashed) as processes:
        yield processes
