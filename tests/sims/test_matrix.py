"""Every combination of mechanisms runs, and obeys the world's laws."""

from __future__ import annotations

import pytest

from actors.events import End
from actors.runtime import Record
from sims.audit.audit import audit
from sims.ledger import account
from sims.matrix import Cell, CellKind, cell_named, cells, scenario
from sims.world import run

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy"),
    pytest.mark.usefixtures("unchecked"),
]


@pytest.mark.parametrize("kind", CellKind)
def test_a_random_small_scenario_runs_soundly_in_every_cell(kind: CellKind) -> None:
    for cell in cells():
        if cell.kind is kind:
            records: list[Record] = []
            ending = run(scenario(cell), [records.append])
            assert ending.end is End.COMPLETED, str(cell)
            assert not list(audit(iter(records))), str(cell)
            ledger = account(records, 4)
            assert sum(ledger.total.values()) == ledger.capacity


def test_a_cell_is_known_by_the_name_that_it_prints() -> None:
    for cell in cells():
        assert cell_named(str(cell)) == cell
    assert len({str(cell) for cell in cells()}) == len(list(cells())) == 288
    assert isinstance(cell_named("rigid/all/buddies/free"), Cell)
