"""Whatever the scenario, its log breaks no law."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sims.audit.families import audit
from tests.sims.anything import TABLES, records_of, scenarios


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_log_of_any_scenario_breaks_no_law(kind: str, data: st.DataObject) -> None:
    records = records_of(data.draw(scenarios(kind)))
    assert [str(violation) for violation in audit(records)] == []
