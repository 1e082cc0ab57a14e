"""Whatever mechanisms meet, a run's log breaks no law."""

from __future__ import annotations

from typing import Any

import pytest

from tests import sound
from tests.sims.anything import TABLES
from tests.sims.oneworld import as_file, cases

pytestmark = pytest.mark.filterwarnings("ignore:.*no buddy", "ignore:.*has no effect")


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["name"]))
def test_the_log_of_a_one_world_scenario_breaks_no_law(case: dict[str, Any]) -> None:
    assert sound.wrong(as_file(case["scenario"])) == []


@pytest.mark.parametrize("kind", TABLES)
def test_the_log_of_any_scenario_breaks_no_law(kind: str) -> None:
    assert [seed for seed in range(30) if sound.wrong(TABLES[kind](seed))] == []


def test_scenarios_whose_logs_break_a_law_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert sound.main(17, 1) == 0
    assert capsys.readouterr().out == "0 of 17 logs break a law\n"


@pytest.mark.parametrize(("kind", "seed"), [("believed", 477)])
def test_a_log_that_was_accused_wrongly_breaks_no_law(kind: str, seed: int) -> None:
    assert sound.wrong(TABLES[kind](seed)) == []
