"""volatile13, Figure 1: one iteration, slot by slot, as the paper prints it.

`python -m sims.figure1` runs the scenario, prints who does what in each slot, and draws it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from actors.runtime import Record
from sims.activity import Activity
from sims.log import LogWriter
from sims.options import option
from sims.plots.framing import Framing
from sims.plots.pictures import What, plot
from sims.scenario.loader import load
from sims.script import run_script
from sims.summary import Summary
from sims.telling import title_of
from sims.world import run

SCENARIO = Path(__file__).parent / "scenarios" / "figure1.toml"

PAPER = {
    "P2": ".PPDDIICCC..ICCC",
    "P3": ".PPDI.DCCCII.CCC",
    "P4": ".IIIPPDCCCIIICCC",
}
"""What the paper's figure and text say (P program, D data, C computing, I idle)."""


def compare(
    out: Annotated[Path, option(Path, "DIR", "folder for log and picture")] = Path("logs"),
) -> None:
    """Run, compare with the paper, draw."""
    records: list[Record] = []
    summary, activity = Summary(), Activity()
    with LogWriter(out / "figure1.jsonl") as log:
        run(load(SCENARIO), [summary, activity, records.append, log])
    print("\n".join(summary.lines()))
    for worker, letters in activity.rows.items():
        print(f"  {worker}  {letters}{verdict(worker, letters)}")
    assert summary.started is not None
    framing = Framing(title=f"volatile13, Figure 1: {title_of(summary.started)}")
    picture = plot(records, What.GANTT, out / "figure1.png", framing)
    print(f"log      {log.path}\npicture  {picture}")


def verdict(worker: str, letters: str) -> str:
    """How a row compares with the paper's."""
    if worker not in PAPER:
        return ""
    return "  as in the paper" if PAPER[worker] == letters else f"  paper: {PAPER[worker]}"


if __name__ == "__main__":
    sys.exit(run_script(compare, "python -m sims.figure1"))
