"""One small run of each kind of scenario, in memory: what pictures and exports are tested on."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from actors.runtime import Record
from sims.log import LogWriter
from sims.parts import parted
from sims.scenario.loader import load
from sims.world import run

SCENARIOS = Path(__file__).parents[2] / "sims" / "scenarios"

KINDS: dict[str, tuple[str, ...]] = {
    "figure1": (),
    "volatile20": (),
    "batch-rigid": (),
    "batch-moldable": (),
    "batch-easy": (),
    "batch-faults": (),
    "malleable10": (),
    "malleable-fatal": (),
    "redundant": ("job.count=40",),
    "redundant-laps": (),
}
"""Scenario -> what is overridden, so that tests stay fast."""


@cache
def records_of(name: str) -> tuple[Record, ...]:
    """The records of a run of scenario `name`."""
    records: list[Record] = []
    run(load(SCENARIOS / f"{name}.toml", list(KINDS[name])), [records.append], SCENARIOS)
    return tuple(records)


def parts_of(name: str) -> tuple[Record, ...]:
    """The same, each in its parts."""
    return tuple(parted(records_of(name)))


def written(name: str, folder: Path, suffix: str = ".jsonl") -> Path:
    """The same records as a log in `folder`."""
    path = folder / f"{name}{suffix}"
    with LogWriter(path) as log:
        for record in records_of(name):
            log(record)
    return path
