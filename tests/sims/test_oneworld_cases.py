"""Expected values of the one world: every rule of rules.md, through scenario files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.events import ScenarioStarted
from actors.runtime import Record, WorkersRetired
from sims.history.rows import Use
from sims.ledger import account
from tests.case_files import case_file, first_difference
from tests.oracle.tenths import apart
from tests.sims.oneworld import Told, play

pytestmark = pytest.mark.usefixtures("unchecked")

Pairs = dict[str, tuple[Any, Any]]
"""What a run tells, by part, each beside what is expected."""


def check(case: dict[str, Any]) -> list[str]:
    """What differs from the expected values."""
    pairs = compared(case)
    return told(case, pairs, [what for what, (got, want) in pairs.items() if got != want])


def told(case: dict[str, Any], pairs: Pairs, wrong: list[str]) -> list[str]:
    """What is wrong of a case, with the first difference of each part."""
    both = {"instants": ([], "of equal times equal ones")} | pairs
    return [f"{case['name']}: {what}{first_difference(*both[what])}" for what in wrong]


def compared(case: dict[str, Any]) -> Pairs:
    """What a run tells, each beside what is expected."""
    records = play(case["scenario"])
    found, expected = Told.of(records), case["expected"]
    pairs: Pairs = {
        "runs": (sorted(found.runs.values()), sorted(expected["runs"])),
        "completions": (
            [found.completions[k] for k in sorted(found.completions)],
            expected["completions"],
        ),
        "checkpoints": (sorted(found.checkpoints), sorted(expected["checkpoints"])),
        "transfers": (sorted(found.transfers), sorted(expected["transfers"])),
        "makespan": (max(found.completions.values()), expected["makespan"]),
        **ledger(records, expected),
    }
    if "images" in expected:  # of practitioners' mechanisms
        pairs["images"] = sorted(found.images), expected["images"]
        pairs["work"] = [found.work[k] for k in sorted(found.work)], expected["work"]
    return pairs


def ledger(records: list[Record], expected: dict[str, Any]) -> Pairs:
    """The time ledger's categories: where every worker's time went, and each job's."""
    header = records[0].event
    assert isinstance(header, ScenarioStarted)
    spent = account(records, header.processors)
    held = [
        (f"held {job} {use}", spent.held(str(job))[Use(use)], value)
        for job, uses in enumerate(expected.get("held", ()))
        for use, value in uses.items()
    ]
    all_of = [(use, spent.total[Use(use)], value) for use, value in expected["ledger"].items()]
    return {what: (found, value) for what, found, value in (*all_of, *held)}


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy", "ignore:.*has no effect")
def test_practitioners_mechanisms_do_what_is_expected(cases_dir: Path) -> None:
    cases = case_file(cases_dir, "practice.json")["cases"]
    assert len(cases) > 100
    assert [problem for it in cases for problem in differences(it)] == []


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy", "ignore:.*has no effect")
def test_fleets_do_what_an_independent_oracle_expects(cases_dir: Path) -> None:
    cases = case_file(cases_dir, "fleet.json.gz")["cases"]
    assert len(cases) > 100
    assert [problem for it in cases for problem in differences(it)] == []


def differences(case: dict[str, Any]) -> list[str]:
    """What of a run is not as expected by more than rounding; expected may be that too few workers
    are left."""
    if "error" not in case:
        pairs = compared(case)
        return told(case, pairs, apart(pairs))
    with pytest.raises(WorkersRetired) as raised:
        play(case["scenario"])
    found = ["too few left", int(raised.value.job), raised.value.time]
    wrong = ["error"] if found != case["error"] else []
    return told(case, {"error": (found, case["error"])}, wrong)


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
def test_every_run_checkpoint_message_and_completion_is_as_expected(cases_dir: Path) -> None:
    cases = case_file(cases_dir, "oneworld.json")["cases"]
    assert len(cases) > 100
    assert [problem for case in cases for problem in check(case)] == []
