"""Small worlds told as logs: each mechanism, without a scenario file.

A world is a table as in cases/oneworld.json; what it leaves out is nothing, or never.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from actors.events import SCHEMA, End, LinkDescribed, ScenarioEnded, ScenarioStarted
from actors.runtime import Event, Record
from sims.log import LogWriter
from tests.sims.oneworld import Table
from tests.sims.oneworld import play as of_case

OFTEN = {"workers": 4, "faults": [[5, 0], [9, 2], [10, 3], [23, 1], [24, 3]], "downtime": 2}
COMING = ["uuuurruuuuuuuuuuuudduuuu", "uuuuuuuuduuuuuu", "uuuuuuuuuuuuuurruuuu"]
WORLDS: dict[str, Table] = {
    "attempts": {
        "workers": 4,
        "faults": [[3, 1]],
        "downtime": 4,
        "jobs": [
            {"p": 2, "t": 5, "verification": 1, "failures": 1},
            {"p": 3, "t": 4, "verification": 1, "release": 2},
            {"p": 1, "t": 8, "failures": 0},
        ],
    },
    "buddies": OFTEN
    | {
        "jobs": [
            {"p": 3, "t": 20, "protection": "buddies", "period": 4, "cost": 1, "recovery": 1},
            {"p": 1, "t": 6, "protection": "buddies", "period": 2, "release": 3},
        ]
    },
    "images": {
        "workers": 3,
        "owner": COMING,
        "master": {"channels": 1},
        "jobs": [
            {"p": 2, "t": 12, "protection": "images", "period": 4, "image": 1, "program": 2},
            {"p": 1, "t": 5, "data": 1, "verification": 1, "failures": [1]},
        ],
    },
    "iterative": {
        "workers": 3,
        "names": ["P1", "P2", "P3"],
        "unit": "slot",
        "owner": COMING,
        "master": {"channels": 2},
        "jobs": [{"kind": "iterative", "p": 2, "tasks": 4, "iterations": 3, "w": [2, 1, 2]}],
    },
    "copies": OFTEN
    | {
        "master": {"channels": 2},
        "speeds": [[[0, 1], [6, 2]], [[0, 2], [8, 0], [12, 1]], [[0, 1]], [[0, 3]]],
        "jobs": [
            {"p": 1, "t": 15, "copies": 3, "cloning": True, "data": 1, "image": 2},
            {"p": 1, "t": 4, "release": 4},
        ],
    },
}
WORLDS["iterative"]["jobs"][0] |= {"program": 2, "data": 1}


def logged(
    events: Iterable[Record],
    workers: int,
    names: tuple[str, ...] = (),
    unit: str = "s",
    channels: int = 0,
) -> list[Record]:
    """A world's events as its log has them, between its start and its end."""
    started = ScenarioStarted(SCHEMA, "world", 0, ("rigid",), "mine", workers, names, unit)
    head: list[Event] = [started, *([LinkDescribed(channels)] if channels else [])]
    records = [Record(seq, 0, 0 if seq else None, event) for seq, event in enumerate(head)]
    first = len(records)
    for it in events:
        cause = 0 if it.cause is None else it.cause + first
        records.append(Record(it.seq + first, it.t, cause, it.event))
    last = records[-1]
    return [*records, Record(last.seq + 1, last.t, last.seq, ScenarioEnded(End.COMPLETED))]


def play(world: Table) -> list[Record]:
    """The log of a world; its jobs are a, b, c ..."""
    jobs = [{"name": "abcdefghij"[index]} | job for index, job in enumerate(world["jobs"])]
    return of_case(world | {"jobs": jobs})


def write(records: Iterable[Record], path: Path) -> Path:
    """The log on disk."""
    with LogWriter(path) as log:
        for record in records:
            log(record)
    return path
