"""Workers whose availability is a node's of the Failure Trace Archive."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from policies.availability import WorkerState
from sims.errors import InputError
from sims.scenario.trace_files import FtaFile

DATA = Path(__file__).parents[2] / "data"
UP, RECLAIMED, DOWN = WorkerState


def changes(**keys: Any) -> list[tuple[int, WorkerState]]:
    """The first changes of a worker in slots of a second."""
    table = {"kind": "fta", "file": "event_trace.tab", "slot": 1, "after": "hold", **keys}
    worker = FtaFile.model_validate(table)
    return list(islice(worker.changes(np.random.default_rng(0), DATA), 5))


def test_a_worker_has_its_nodes_states_from_the_traces_first_event_on() -> None:
    assert changes(node=2, platform=1) == [(0, DOWN), (6, UP)]
    assert changes(node=1, platform=1) == [(0, UP), (10, DOWN), (15, UP)]


def test_a_worker_can_begin_at_its_nodes_own_first_event() -> None:
    assert changes(node=2, platform=1, origin="node") == [(0, DOWN), (2, UP)]


def test_one_components_events_can_count_alone() -> None:
    assert changes(node=1, platform=2, component=2, origin="node") == [(0, UP)]
    with pytest.raises(InputError, match="no node 1 on platform 1"):
        changes(node=1, platform=1, component=2)


def test_a_node_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match="1/1, 1/2, 2/1"):
        changes(node=9)
