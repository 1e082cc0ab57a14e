"""The golden logs: one small run of each mechanism, kept byte for byte; and what a scenario
file may say.

`python tests/golden/regenerate.py` (or `make golden`) writes them anew; look at the difference
before you commit it: every line of it is a change of behaviour.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import frozen

from sims.log_writer import LogWriter
from sims.scenario.keys import schema
from sims.scenario.loader import load
from sims.world import run

HERE = Path(__file__).parent
SCENARIOS = HERE.parents[1] / "sims" / "scenarios"


@frozen
class Golden:
    """How a golden log is made."""

    scenario: str
    job: str
    """One of its jobs, that has something to tell."""
    overrides: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        """Run it, and log it to `path`."""
        own = HERE / f"{self.scenario}.toml"
        file = own if own.exists() else SCENARIOS / own.name
        scenario = load(file, self.overrides)
        path.unlink(missing_ok=True)  # or the older one is kept
        with LogWriter(path) as log:
            run(scenario, [log], file.parent)


GOLDEN = {
    "iterative": Golden("volatile20", "application", ("job.iterations=8",)),
    "rigid": Golden(
        "batch-rigid",
        "J1",
        (
            "job.synthetic.count=40",
            "job.verification=60",
            'policy.name="R-SHELFFILL-B"',
        ),
    ),
    "rigid-faults": Golden("batch-faults", "J39"),
    "moldable": Golden("batch-moldable", "J3"),
    "pack": Golden("malleable10", "T1", ("faults.mtbf=94608000", "job.synthetic.count=4")),
    "copies": Golden("redundant-laps", "job-3", ("job.stream.count=25",)),
    "images": Golden("images", "J1"),
    "buddies": Golden("buddies", "J1"),
    "cloning": Golden("cloning", "J1"),
    "partitions": Golden("partitions", "J2"),
}
"""Mechanism -> its golden log."""


def path_of(kind: str) -> Path:
    """Where the golden log of a kind lies."""
    return HERE / f"{kind}.jsonl"


ACCEPTED = HERE / "scenario.schema.json"
"""What scenario files may say: a change of it is one that somebody's file may meet."""


def accepted() -> str:
    """The schema of scenario files, without what it tells people."""
    return json.dumps(_bare(schema()), indent=1, sort_keys=True) + "\n"


def _bare(node: Any, keys: bool = False) -> Any:
    """`keys`: whether these are the keys of a table, and not of a schema."""
    if isinstance(node, list):
        return [_bare(each) for each in node]
    if not isinstance(node, dict):
        return node
    inner = ("properties", "definitions")
    return {k: _bare(it, k in inner) for k, it in node.items() if keys or k != "description"}


if __name__ == "__main__":
    ACCEPTED.write_text(accepted())
    for name, golden in GOLDEN.items():
        golden.write(path_of(name))
        print(path_of(name))
