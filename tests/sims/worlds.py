"""Small worlds told as logs: each mechanism, without a scenario file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from actors.runtime import Record
from sims.log_writer import LogWriter
from tests.sims.oneworld import Table
from tests.sims.oneworld import play as of_case

WORLDS: dict[str, Table] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


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
