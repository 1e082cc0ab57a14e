"""The shipped scenarios: every one runs, obeys the world's laws, and shows what it is there for."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.events import (
    CheckpointTaken,
    Compound,
    MembersChanged,
    Outcome,
    RedistributionDecided,
    RunEnded,
    RunStarted,
    TransferEnded,
    TransferKind,
    TransferSuspended,
)
from actors.runtime import Event, Record
from sims.audit.audit import audit
from sims.scenario.loader import load
from sims.world import run
from tests.parts import parted

SCENARIOS = Path(__file__).parents[3] / "sims" / "scenarios"
EXAMPLES = sorted(path.stem for path in SCENARIOS.glob("*.toml"))
LOST, FAILED = f"run {Outcome.LOST.value}", f"run {Outcome.FAILED.value}"
RESUMED = "run begun from what another saved"

SHOWS: dict[str, set[str]] = {
    "batch-images": {LOST, RESUMED, "save passed", "image passed", CheckpointTaken.__name__},
    "iterative-buddies": {LOST, RESUMED, CheckpointTaken.__name__},
    "moldable-errors": {LOST, FAILED, RESUMED, CheckpointTaken.__name__},
    "malleable-master": {
        *(LOST, RESUMED, "program passed", "data passed"),
        *(MembersChanged.__name__, RedistributionDecided.__name__, CheckpointTaken.__name__),
    },
    "redundant-reclaimed": {
        *(LOST, "run cancelled", RESUMED, "image passed", TransferSuspended.__name__),
    },
}
"""What happens at least once."""


def records_of(name: str) -> list[Record]:
    records: list[Record] = []
    run(load(SCENARIOS / f"{name}.toml"), [records.append], SCENARIOS)
    return records


def happening(event: Event) -> str:
    """In the words of SHOWS."""
    match event:
        case RunEnded(outcome=outcome):
            return f"run {outcome.value}"
        case RunStarted(source=int()):
            return RESUMED
        case TransferEnded(kind=TransferKind() as kind):
            return f"{kind.value} passed"
        case _:
            return type(event).__name__


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_obeys_the_laws(name: str) -> None:
    assert not list(audit(iter(records_of(name))))


@pytest.mark.parametrize("name", SHOWS)
def test_an_example_shows_what_it_is_there_for(name: str) -> None:
    told = [r.event for r in parted(records_of(name)) if not isinstance(r.event, Compound)]
    assert SHOWS[name] <= {happening(event) for event in told}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_says_what_it_shows_in_its_first_lines(name: str) -> None:
    assert (SCENARIOS / f"{name}.toml").read_text().startswith("# ")
