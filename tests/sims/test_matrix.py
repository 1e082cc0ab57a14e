"""Every combination of mechanisms runs, and obeys the world's laws."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from holdfast.agents import Act, Adversary, Agent, Autoscaler, ClosedLoopUser, Operator

from actors.events import End
from actors.runtime import Record
from sims.audit.audit import audit
from sims.examples import AXES, cells
from sims.ledger import account
from sims.world import run, with_given
from tests.sims.kinds import of_cell
from tests.sims.wild import Wild

AGENTS: dict[str, Callable[[], Agent]] = {
    "closed-loop user": lambda: ClosedLoopUser(think=2, jobs=("*",)),
    "adversary": lambda: Adversary(every=5, keeps=3, strikes=4),
    "autoscaler": lambda: Autoscaler(least=2, step=2, boot=2, linger=3),
    "operator": lambda: Operator(faults=1, service=4),
    "user that cancels": lambda: Wild(does=(Act.SUBMIT, Act.CANCEL), jobs=("*",)),
    "any act but speeds": lambda: Wild(does=(Act.TAKE, Act.FAIL, Act.HANG), most=8),
}

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy"),
    pytest.mark.usefixtures("unchecked"),
]


@pytest.mark.parametrize("kind", AXES["kind"]["parts"])
def test_a_random_small_scenario_runs_soundly_in_every_cell(kind: str) -> None:
    own = [cell for cell in cells() if cell.startswith(f"{kind}/")]
    assert len(set(own)) == 72
    for number, cell in enumerate(own):
        records: list[Record] = []
        ending = run(of_cell(cell, number % 3), [records.append])
        assert ending.end is End.COMPLETED, cell
        assert not list(audit(iter(records))), cell
        ledger = account(records, 4)
        assert sum(ledger.total.values()) == ledger.capacity


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_lives_soundly_in_a_sixth_of_the_cells_each(name: str) -> None:
    for number, cell in enumerate(list(cells())[list(AGENTS).index(name) :: len(AGENTS)]):
        records: list[Record] = []
        scenario = with_given(of_cell(cell, number % 3), actors=[AGENTS[name]()])
        assert run(scenario, [records.append]).end is End.COMPLETED, cell
        assert not list(audit(iter(records))), cell
        ledger = account(records, 4)
        assert sum(ledger.total.values()) == ledger.capacity
