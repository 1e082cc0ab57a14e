"""What tests of papers and studies read."""

from __future__ import annotations

from typing import Any

from sims.papers import item
from sims.papers.values import Value
from tests.sims.campaign.campaigns import alone
from tests.sims.kinds import DATA, SCENARIOS

LOG = SCENARIOS / "batch-small.swf"
ZONES = DATA / "zones"


def values_of(name: str, **changes: Any) -> dict[str, Value]:
    """What a study says at smoke size, by key."""
    study = item(f"study/{name}")
    return {it.key: it for it in study.values(alone(study.campaign("smoke", changes)))}
