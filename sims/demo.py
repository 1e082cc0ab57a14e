"""The first run: Figure 1's scenario and one of twenty workers, with all that can be looked at.

`python -m sims.demo` (or `make demo`) prints both summaries and says where the rest is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from attrs import frozen

from sims.log import LogFile, LogWriter
from sims.options import option
from sims.plots.pictures import What, plot
from sims.scenario.loader import load
from sims.script import prepare_pictures, run_script
from sims.summary import Summary
from sims.trace.read import read_trace
from sims.world import run

SCENARIOS = Path(__file__).parent / "scenarios"


@frozen
class Shown:
    """Where the files of one demonstrated run are."""

    log: Path
    trace: Path
    picture: Path


def show(name: str, out: Path) -> Shown:
    """Run the scenario file `name`; print its summary; write log, trace and picture."""
    scenario = load(SCENARIOS / f"{name}.toml")
    shown = Shown(out / f"{name}.jsonl", out / f"{name}.trace.txt", out / f"{name}.png")
    summary = Summary()
    with LogWriter(shown.log) as log:
        run(scenario, [summary, log], SCENARIOS)
    print("\n".join(summary.lines()))
    _write_trace(shown)
    plot(LogFile(shown.log), What.GANTT, shown.picture)
    return shown


def _write_trace(shown: Shown) -> None:
    trace = read_trace(LogFile(shown.log), "application")
    shown.trace.write_text("\n".join(trace.explained().lines(trace.tale.unit)) + "\n")


def main(words: Sequence[str] | None = None) -> int:
    """Show both scenarios; returns the exit code."""
    return run_script(demonstrate, "python -m sims.demo", words)


def demonstrate(
    out: Annotated[Path, option(Path, "DIR", "folder for what is written")] = Path("logs"),
) -> None:
    """The first run: log, trace and picture of two scenarios."""
    prepare_pictures(out)
    for name in ("figure1", "volatile20"):
        shown = show(name, out)
        print(f"  log         {shown.log}")
        print(f"  trace       {shown.trace}  (holdfast trace {shown.log} --job application)")
        print(f"  picture     {shown.picture}\n")


if __name__ == "__main__":
    sys.exit(main())
