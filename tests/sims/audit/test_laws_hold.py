"""Whatever mechanisms meet, a run's log breaks no law."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sims.audit.audit import audit
from tests import sound
from tests.sims.anything import TABLES, scenarios
from tests.sims.anything import records_of as played
from tests.sims.audit.oneworld import cases, records_of


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["name"]))
def test_the_log_of_a_one_world_scenario_breaks_no_law(case: dict[str, Any]) -> None:
    records = records_of(case["scenario"])
    assert [str(violation) for violation in audit(records)] == []


@pytest.mark.filterwarnings("ignore:.*no buddy")
@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_log_of_any_scenario_breaks_no_law(kind: str, data: st.DataObject) -> None:
    records = played(data.draw(scenarios(kind)))
    assert [str(violation) for violation in audit(records)] == []


@pytest.mark.filterwarnings("ignore:.*no buddy")
def test_logs_of_scenarios_of_every_kind_drawn_by_a_seed_break_no_law(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert sound.main(20, 1) == 0
    assert capsys.readouterr().out == "0 of 20 logs break a law\n"


@pytest.mark.parametrize(("kind", "seed"), [("believed", 477)])
def test_a_log_that_was_accused_wrongly_breaks_no_law(kind: str, seed: int) -> None:
    records = sound.records_of_table(sound.BY_SEED[kind](seed))
    assert [str(violation) for violation in audit(records)] == []
