"""Whatever mechanisms meet, a run's log breaks no law."""

from __future__ import annotations

from typing import Any

import pytest

from sims.audit.audit import audit
from tests.sims.audit.oneworld import cases, records_of


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["name"]))
def test_the_log_of_a_one_world_scenario_breaks_no_law(case: dict[str, Any]) -> None:
    records = records_of(case["scenario"])
    assert [str(violation) for violation in audit(records)] == []
