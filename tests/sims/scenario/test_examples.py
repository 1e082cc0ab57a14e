"""The shipped scenarios: every one runs, obeys the world's laws, and shows what it is there for."""

from __future__ import annotations

from functools import cache

import pytest

from actors.events import (
    CheckpointTaken,
    Compound,
    DeciderKind,
    End,
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
from policies.interface.kinds import JobKind
from sims.audit.audit import audit
from sims.errors import InputError
from sims.history.summary import Summary
from sims.scenario.loader import load
from tests.parts import parted
from tests.sims.kinds import SCENARIOS, recorded

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
    "malleable10": {MembersChanged.__name__},
    "malleable-fatal": {RedistributionDecided.__name__},
    "redundant-reclaimed": {
        *(LOST, "run cancelled", RESUMED, "image passed", TransferSuspended.__name__),
    },
}
"""What happens at least once."""


@cache
def records_of(name: str, *changes: str) -> list[Record]:
    return recorded(load(SCENARIOS / f"{name}.toml", changes))


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
def test_every_example_completes_its_jobs_obeys_the_laws_and_says_what_it_shows(name: str) -> None:
    records, summary = records_of(name), Summary()
    for record in records:
        summary(record)
    assert (summary.end, summary.started.scenario) == (End.COMPLETED, name)  # type: ignore[union-attr]
    assert summary.submitted
    assert not list(audit(iter(records)))
    assert (SCENARIOS / f"{name}.toml").read_text().startswith("# ")


@pytest.mark.parametrize("name", SHOWS)
def test_an_example_shows_what_it_is_there_for(name: str) -> None:
    told = [r.event for r in parted(records_of(name)) if not isinstance(r.event, Compound)]
    assert SHOWS[name] <= {happening(event) for event in told}


def test_every_kind_of_job_has_an_example() -> None:
    assert {load(SCENARIOS / f"{name}.toml").job.kind for name in EXAMPLES} == set(JobKind)


def test_tasks_take_fractions_of_seconds_but_whole_slots() -> None:
    def makespan(unit: str, time: float) -> float:
        changes = [f"unit={unit}", *(f"workers.{k}.task_time={time}" for k in range(5))]
        return records_of("coupled", *changes)[-1].t

    assert makespan("s", 2) == makespan("slot", 2)
    assert makespan("s", 1.5) % 1
    with pytest.raises(InputError, match=r"task_time = 1\.5 is no whole number of slots"):
        makespan("slot", 1.5)


def test_a_changed_copy_has_nothing_that_was_worked_out_of_the_former() -> None:
    scenario = load(SCENARIOS / "batch-easy.toml")
    assert (scenario.full_platform.size, scenario.decider) == (64, DeciderKind.QUEUE)
    assert scenario.platform is not None
    wider = scenario.platform.model_copy(update={"workers": 100})
    changed = scenario.model_copy(update={"platform": wider})
    assert changed.full_platform.size == 100
    assert scenario.full_platform.size == 64
