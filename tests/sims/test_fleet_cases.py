"""Expected values of fleets, worked by hand (rules.md, F to M2): tests/cases/fleet.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.events import JobCompleted, RunEnded, RunStarted, ScenarioStarted
from sims.audit.audit import audit
from sims.history.rows import Use
from sims.ledger import account
from tests.case_files import case_files, first_difference
from tests.sims.oneworld import records_of


def problems(case: dict[str, Any], folder: Path) -> list[str]:
    """What differs from the expected values; the files that a scenario reads go to `folder`."""
    for name, text in case.get("files", {}).items():
        (folder / name).write_text(text)
    records, expected = records_of(case["scenario"], folder), case["expected"]
    runs: dict[tuple[str, int], list[Any]] = {}
    completions: dict[str, float] = {}
    header = records[0].event
    assert isinstance(header, ScenarioStarted)
    for record in records:
        match record.event:
            case RunStarted(job=job, run=run, processors=workers):
                index = int(job.removeprefix("J")) - 1
                runs[job, run] = [index, run, workers, record.t]
            case RunEnded(job=job, run=run, outcome=outcome):
                runs[job, run] += [record.t, outcome.value]
            case JobCompleted(job=job):
                completions[job] = record.t
    spent = account(records, header.processors).total
    pairs = {
        "runs": (sorted(runs.values()), sorted(expected["runs"])),
        "completions": ([completions[job] for job in sorted(completions)], expected["completions"]),
        "audit": (list(audit(iter(records))), []),
        **{use: (spent[Use(use)], time) for use, time in expected["ledger"].items()},
    }
    return [
        f"{case['name']}: {what}{first_difference(got, want)}"
        for what, (got, want) in pairs.items()
        if got != want
    ]


@pytest.mark.filterwarnings("ignore:.*has no effect", "ignore:.*no buddy")
def test_fleets_do_what_was_worked_out_by_hand(cases_dir: Path, tmp_path: Path) -> None:
    files = [json.loads(it.read_bytes()) for it in case_files(cases_dir, "fleet*.json")]
    cases = [case for found in files for case in found["cases"]]
    assert cases
    assert [problem for case in cases for problem in problems(case, tmp_path)] == []
