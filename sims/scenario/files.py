"""Which files a scenario names, whatever they are of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from sims.scenario.scenario import Scenario


def files_of(scenario: Scenario, folder: Path) -> tuple[Path, ...]:
    """Those that there are, sought from `folder`; not the log, which it writes."""
    named = words(attrs.asdict(attrs.evolve(scenario, log=None)))
    return tuple(sorted({path for name in named if (path := folder / name).is_file()}))


def words(value: Any) -> Iterator[str]:
    """All strings in there that could be a file's name."""
    if isinstance(value, str) and value and "\0" not in value and len(value) < 1024:
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from words(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from words(each)
