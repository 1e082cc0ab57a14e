"""Whatever mechanisms meet, a run's log breaks no law."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sims.audit.audit import audit
from tests import sound
from tests.sims.anything import TABLES, scenarios
from tests.sims.anything import records_of as played
from tests.sims.audit import anything
from tests.sims.audit.oneworld import cases, records_of

SMALLEST = {
    "members that wait are resized, and fetch the image of their buddies' checkpoint": """
platform.workers = 5
master = { channels = 2, program = 2, image = 2 }
protection = { kind = "buddies", period = 6, images_every = 1 }
faults = { kind = "list", downtime = 1.5, strikes = [[14, 3], [40, 0]] }
policy.name = "ShortestApplicationsFirst-EndLocal"
job.kind = "malleable"
job.pair = 1
job.jobs = [
  { footprint = 12, speedup = { kind = "power", delta = 0.7 } },
  { footprint = 9, protection = { kind = "buddies", period = inf } },
]
""",
    "a member is replaced so late that when it ends is nearly what was expected": """
platform = { workers = 3, spares = 1 }
master = { channels = 1, program = 2 }
protection = { kind = "buddies", period = 8, cost = 0.5, replace_after = 0 }
policy.name = "IteratedGreedy-EndLocal"
job.kind = "malleable"
job.pair = 1
job.jobs = [{ release = 300_000, footprint = 12 }]

[faults]
kind = "list"
downtime = 6
detection = 0.5
strikes = [[300_001, 0], [300_001.0001, 1]]
""",
    "who has lost a message that nobody has heard of is enrolled again at once": """
platform.workers = 1
master = { channels = 1, program = 2 }
faults = { kind = "list", downtime = 1, detection = 3, strikes = [[1, 0]] }
policy = { name = "IE", reuse = true }
job = { kind = "iterative", tasks = 1, iterations = 1 }
""",
}
"""Logs that once raised alarms, of the least that it takes."""


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["name"]))
def test_the_log_of_a_one_world_scenario_breaks_no_law(case: dict[str, Any]) -> None:
    records = records_of(case["scenario"])
    assert [str(violation) for violation in audit(records)] == []


@pytest.mark.parametrize("text", SMALLEST.values(), ids=SMALLEST)
def test_the_log_of_a_small_scenario_breaks_no_law(text: str) -> None:
    table = tomllib.loads(f"name = 'small'\n{text}")
    assert [str(violation) for violation in audit(anything.records_of(table))] == []


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
