"""Expected values of the one world: every rule of rules.md, through scenario files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.events import ScenarioStarted
from actors.runtime import Record, WorkersRetired
from sims.history.rows import Use
from sims.ledger import account
from tests.case_files import case_file
from tests.oracle.tenths import apart
from tests.sims.oneworld import Told, play

pytestmark = pytest.mark.usefixtures("unchecked")


def check(case: dict[str, Any]) -> list[str]:
    """What differs from the expected values."""
    pairs = compared(case)
    return [f"{case['name']}: {what}" for what, (got, want) in pairs.items() if got != want]


def compared(case: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What a run tells, each beside what is expected."""
    records = play(case["scenario"])
    told, expected = Told.of(records), case["expected"]
    pairs: dict[str, tuple[Any, Any]] = {
        "runs": (sorted(told.runs.values()), sorted(expected["runs"])),
        "completions": (
            [told.completions[k] for k in sorted(told.completions)],
            expected["completions"],
        ),
        "checkpoints": (sorted(told.checkpoints), sorted(expected["checkpoints"])),
        "transfers": (sorted(told.transfers), sorted(expected["transfers"])),
        "makespan": (max(told.completions.values()), expected["makespan"]),
        **ledger(records, expected),
    }
    if "images" in expected:  # of practitioners' mechanisms
        pairs["images"] = sorted(told.images), expected["images"]
        pairs["work"] = [told.work[k] for k in sorted(told.work)], expected["work"]
    return pairs


def ledger(records: list[Record], expected: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The time ledger's categories: where every worker's time went, and each job's."""
    header = records[0].event
    assert isinstance(header, ScenarioStarted)
    told = account(records, header.processors)
    held = [
        (f"held {job} {use}", told.held(str(job))[Use(use)], value)
        for job, uses in enumerate(expected.get("held", ()))
        for use, value in uses.items()
    ]
    all_of = [(use, told.total[Use(use)], value) for use, value in expected["ledger"].items()]
    return {what: (found, value) for what, found, value in (*all_of, *held)}


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy", "ignore:.*has no effect")
def test_practitioners_mechanisms_do_what_is_expected(cases_dir: Path) -> None:
    cases = case_file(cases_dir, "practice.json")["cases"]
    assert len(cases) > 100
    assert [it["name"] for it in cases if apart(compared(it))] == []


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy", "ignore:.*has no effect")
def test_fleets_do_what_an_independent_oracle_expects(cases_dir: Path) -> None:
    cases = case_file(cases_dir, "fleet.json.gz")["cases"]
    assert len(cases) > 100
    assert [it["name"] for it in cases if differs(it)] == []


def differs(case: dict[str, Any]) -> bool:
    """Whether a run is not as expected, which may be that too few workers are left."""
    if "error" not in case:
        return bool(apart(compared(case)))
    with pytest.raises(WorkersRetired) as raised:
        play(case["scenario"])
    found = raised.value
    return ["too few left", int(found.job), found.time] != case["error"]


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
def test_every_run_checkpoint_message_and_completion_is_as_expected(cases_dir: Path) -> None:
    cases = case_file(cases_dir, "oneworld.json")["cases"]
    assert len(cases) > 100
    assert [problem for case in cases for problem in check(case)] == []
