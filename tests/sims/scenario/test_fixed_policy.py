"""The policy FIXED: one configuration, named in the scenario."""

from __future__ import annotations

import pytest

from actors.events import TasksDealt
from sims.errors import InputError
from sims.scenario.loader import load
from tests.sims.kinds import SCENARIOS, recorded


def chosen(members: str) -> list[tuple[tuple[int, int], ...]]:
    overrides = ["policy.name=FIXED", f"policy.parameters.members={members}"]
    records = recorded(load(SCENARIOS / "figure1.toml", overrides))
    return [r.event.tasks for r in records if isinstance(r.event, TasksDealt)]


def test_the_named_workers_are_enrolled_with_their_tasks() -> None:
    assert chosen("{P4 = 1, P2 = 2, P3 = 2}") == [((1, 2), (2, 2), (3, 1))]


@pytest.mark.parametrize("members", ["{P9 = 5}", "{P2 = 0}", '{P2 = "five"}', "[1]", "3"])
def test_members_that_cannot_be_are_refused_by_name(members: str) -> None:
    with pytest.raises(InputError, match=r"policy\.parameters"):
        chosen(members)
