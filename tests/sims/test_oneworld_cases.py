"""Expected values of the one world: every rule of WORLD.md, through scenario files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from actors.events import ScenarioStarted
from actors.runtime import Record
from sims import world
from sims.ledger import Use, account
from sims.scenario.loader import read
from tests.case_files import case_file
from tests.sims.oneworld import Told, toml


def check(case: dict[str, Any]) -> list[str]:
    """What differs from the expected values."""
    pairs = compared(case)
    return [f"{case['name']}: {what}" for what, (got, want) in pairs.items() if got != want]


def compared(case: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What a run tells, each beside what is expected."""
    records: list[Record] = []
    world.run(read(tomllib.loads(toml(case["scenario"])), case["name"]), [records.append])
    told, expected = Told.of(records), case["expected"]
    return {
        "runs": (sorted(told.runs.values()), sorted(expected["runs"])),
        "completions": (
            [told.completions[k] for k in sorted(told.completions)],
            expected["completions"],
        ),
        "checkpoints": (sorted(told.checkpoints), sorted(expected["checkpoints"])),
        "transfers": (sorted(told.transfers), sorted(expected["transfers"])),
        "makespan": (max(told.completions.values()), expected["makespan"]),
        **ledger(records, expected["ledger"]),
    }


def ledger(records: list[Record], expected: dict[str, float]) -> dict[str, tuple[Any, Any]]:
    """The time ledger's categories: where every worker's time went."""
    header = records[0].event
    assert isinstance(header, ScenarioStarted)
    told = account(records, header.processors).total
    return {use: (told[Use(use)], value) for use, value in expected.items()}


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
def test_every_run_checkpoint_message_and_completion_is_as_expected(cases_dir: Path) -> None:
    cases = case_file(cases_dir, "oneworld.json")["cases"]
    assert len(cases) > 100
    wrong = [problem for case in cases for problem in check(case)]
    assert not wrong
