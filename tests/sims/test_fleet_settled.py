"""Readings of the rules of fleets, each with a scenario that tells it from another reading."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from sims.audit.audit import audit
from tests.case_files import listed
from tests.sims.oneworld import records_of

SETTLED = listed(__file__, "settled")


@pytest.mark.filterwarnings("ignore:.*no buddy")
@pytest.mark.parametrize("case", SETTLED, ids=[it["what"] for it in SETTLED])
def test_a_fleet_follows_its_rules_where_they_were_settled(case: dict[str, Any]) -> None:
    records = records_of(tomllib.loads(case["scenario"]))
    assert records[-1].t == pytest.approx(case["ends"])
    assert list(audit(iter(records))) == []
