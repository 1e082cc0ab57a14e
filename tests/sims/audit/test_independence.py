"""The audit works out a pack's costs for itself: it finds a fault planted in what builds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sims.audit.audit import audit
from sims.scenario.jobs import speedups
from tests.sims.anything import pack
from tests.sims.oneworld import Table, records_of

pytestmark = [pytest.mark.filterwarnings("ignore:.*no buddy"), pytest.mark.usefixtures("unchecked")]


def expecting() -> Table:
    """An application that checkpoints by Young's formula, and expects faults."""
    table = pack(319)
    return table | {"protection": table["protection"] | {"period": "young"}}


def _longer(was: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *told: was(*told) * 1.01


def _rarer(was: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *told: lambda mtbf, cost: was(*told)(2 * mtbf, cost)


@pytest.mark.parametrize(("name", "planted"), [("durations", _longer), ("_period", _rarer)])
def test_a_fault_in_what_a_packs_costs_are_built_from_is_found(
    name: str, planted: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(audit(records_of(expecting()))) == []
    monkeypatch.setattr(speedups, name, planted(getattr(speedups, name)))
    assert list(audit(records_of(expecting())))
