"""One small run of each kind of scenario, and of each mechanism, in memory: what traces, pictures
and exports are tested on."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from actors.runtime import Record
from sims.examples import cell_file
from sims.scenario import Scenario
from sims.scenario.loader import load, read
from sims.world import run
from tests.parts import parted
from tests.sims.anything import pack, shares
from tests.sims.oneworld import cases
from tests.sims.oneworld import play as one_world
from tests.sims.oneworld import records_of as played
from tests.sims.worlds import WORLDS, play, write

SCENARIOS = Path(__file__).parents[2] / "sims" / "scenarios"
DATA = Path(__file__).parents[1] / "data"

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

DRAWN: dict[str, Callable[[], list[Record]]] = {
    "promised": lambda: played(pack(319)),  # workers, to who goes on with fewer meanwhile
    "ignored": lambda: played(pack(33)),  # faults of who computes nothing
    "shared": lambda: played(shares(35)),  # half a worker each
    "released": lambda: one_world(cases()[127]["scenario"]),  # kept by a copy, and another is first
}
"""Runs in which something rare happens."""

KINDS: tuple[str, ...] = (*WORLDS, *FILES)
EVERY: tuple[str, ...] = (*KINDS, *DRAWN)
"""For what is quick: pictures and pages take seconds each."""


def recorded(scenario: Scenario, folder: Path = SCENARIOS, **more: float) -> list[Record]:
    """What a run of it tells."""
    records: list[Record] = []
    run(scenario, [records.append], folder, **more)
    return records


@cache
def records_of(name: str) -> tuple[Record, ...]:
    """The records of a run of scenario, or small world, `name`."""
    if name in WORLDS:
        return tuple(play(WORLDS[name]))
    if name in DRAWN:
        return tuple(DRAWN[name]())
    return tuple(recorded(scenario_of(name)))


def scenario_of(name: str) -> Scenario:
    """That of one of the files."""
    return load(SCENARIOS / f"{name}.toml", list(FILES[name]))


def parts_of(name: str) -> tuple[Record, ...]:
    """The same, each in its parts."""
    return tuple(parted(records_of(name)))


def written(name: str, folder: Path, suffix: str = ".jsonl") -> Path:
    """The same records as a log in `folder`."""
    return write(records_of(name), folder / f"{name}{suffix}")


def of_cell(cell: str, seed: int = 0) -> Scenario:
    """A cell's example of the matrix; another for each seed."""
    return read(tomllib.loads(cell_file(cell, seed)), cell)
