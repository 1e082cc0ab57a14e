"""Every combination of mechanisms runs, and obeys the world's laws."""

from __future__ import annotations

import pytest

from actors.events import End
from actors.runtime import Record
from sims.audit.audit import audit
from sims.examples import AXES, cells
from sims.ledger import account
from sims.world import run
from tests.sims.kinds import of_cell

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
