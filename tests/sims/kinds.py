"""One small run of each kind of scenario, and of each mechanism, in memory: what traces, pictures
and exports are tested on."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from actors.runtime import Record
from sims.parts import parted
from sims.scenario.loader import load
from sims.world import run
from tests.sims.worlds import WORLDS, play, write

SCENARIOS = Path(__file__).parents[2] / "sims" / "scenarios"

FILES: dict[str, tuple[str, ...]] = {
    "figure1": (),
    "volatile20": (),
    "batch-rigid": (),
    "batch-moldable": (),
    "batch-easy": (),
    "batch-faults": (),
    "malleable10": (),
    "malleable-fatal": (),
    "redundant": ("job.stream.count=40",),
    "redundant-laps": (),
    "redundant-reclaimed": (),
}
"""Scenario -> what is overridden, so that tests stay fast."""

KINDS: tuple[str, ...] = (*WORLDS, *FILES)


@cache
def records_of(name: str) -> tuple[Record, ...]:
    """The records of a run of scenario, or small world, `name`."""
    if name in WORLDS:
        return tuple(play(WORLDS[name]))
    records: list[Record] = []
    run(load(SCENARIOS / f"{name}.toml", list(FILES[name])), [records.append], SCENARIOS)
    return tuple(records)


def parts_of(name: str) -> tuple[Record, ...]:
    """The same, each in its parts."""
    return tuple(parted(records_of(name)))


def written(name: str, folder: Path, suffix: str = ".jsonl") -> Path:
    """The same records as a log in `folder`."""
    return write(records_of(name), folder / f"{name}{suffix}")
