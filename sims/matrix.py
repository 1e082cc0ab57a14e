"""Every cell of job x hazard x protection x communication, each a small scenario that runs.

A cell is refused only where it has no physical meaning; none is because nobody built it. Its name
is a part of each axis, such as `rigid/faults/images/master`; `matrix.toml` has what each part adds
to the cell's scenario file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator

from sims.scenario import Scenario
from sims.scenario.loader import read

WORKERS = 4
LONGEST = 40
"""Time units for which owners' states and speeds are listed."""
ALL = "all"
"""The hazard that is all others."""

AXES: Mapping[str, dict[str, Any]] = MappingProxyType(
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
)
"""Name -> what it is `about`, and its `parts` by name."""


def cells() -> Iterator[str]:
    """The names of all, in the order of their axes."""
    return map("/".join, product(*(axis["parts"] for axis in AXES.values())))


def _parts(cell: str) -> list[dict[str, str]]:
    """What its parts add. Raises ValueError for another name, with what its parts can be."""
    known = [axis["parts"] for axis in AXES.values()]
    try:
        return [parts[word] for parts, word in zip(known, cell.split("/"), strict=True)]
    except (KeyError, ValueError):
        raise ValueError("/".join(f"({' | '.join(parts)})" for parts in known)) from None


def meanings(cell: str) -> Iterator[str]:
    """What each part of its name means. Raises ValueError as `text` does."""
    for word, part in zip(cell.split("/"), _parts(cell), strict=False):
        yield f"{word}: {part['about']}"


def scenario(cell: str, seed: int = 0) -> Scenario:
    """The cell's example; another for each seed."""
    return read(tomllib.loads(text(cell, seed)), cell)


def text(cell: str, seed: int = 0) -> str:
    """The same as a scenario file. Raises ValueError for what is no cell's name, with what its
    parts can be."""
    kind, hazard, guard, link = _parts(cell)
    hazards = list(AXES["hazard"]["parts"].values()) if f"/{ALL}/" in cell else [hazard]
    own = [it["worker"] for it in hazards if "worker" in it]
    heads = ["[[workers]]"] * WORKERS if own else [f"[platform]\nworkers = {WORKERS}"]
    sections = [
        f'name = "{cell.replace("/", "-")}"\nseed = {seed}\nunit = "s"',
        *("\n".join([head, "task_time = {1..4}", *own]) for head in heads),
        *(it["section"] for it in (*hazards, link, kind) if "section" in it),
        "\n".join(["[protection]", *_protection(kind, guard)]),
        f'[job]\nkind = "{cell.partition("/")[0]}"\nverification = 1\n{kind["job"]}',
    ]
    rng = np.random.default_rng([seed, *map(ord, cell)])
    return "\n\n".join(_filled(it, rng) for it in sections) + "\n"


def _protection(kind: Mapping[str, str], guard: Mapping[str, str]) -> Iterator[str]:
    if "checkpoints" in guard:
        yield f'kind = "{guard["checkpoints"]}"'
        yield "period = {3..6}\ncost = 1\nrecovery = 1\nverified = {flag}"
        if "checkpoints" in kind:
            yield kind["checkpoints"]
    if "copies" in guard:
        yield guard["copies"]


# --- what is drawn ----------------------------------------------------------------------------

BLANKS = tuple(
    re.compile(rf"{begin}(?:(\d+)\.\.(\d+)|([a-z]+)){end}") for begin, end in ((r"\{", r"\}"), "<>")
)
"""Those of the second kind are filled last."""


def _filled(text: str, rng: Generator) -> str:
    """The text with what is drawn for its blanks."""

    def drawn(found: re.Match[str]) -> str:
        low, high, name = found.groups()
        return DRAWN[name](rng) if name else str(_some(rng, int(low), int(high)))

    for blank in BLANKS:
        text = blank.sub(drawn, text)
    return text


def _some(rng: Generator, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    return int(rng.integers(low, high, endpoint=True))


def _states(rng: Generator) -> str:
    """UP in the end, for a trace that has ended holds its last state."""
    stays = (letter * _some(rng, 1, 6) for letter in rng.choice(list("uurd"), LONGEST // 4))
    return "".join(stays) + "u"


def _speeds(rng: Generator) -> str:
    times = sorted(rng.choice(np.arange(1, LONGEST), 3, replace=False).tolist())
    values = rng.choice([0, 0.5, 1, 2], 3).tolist()
    return str([[0, 1.0], *map(list, zip(times, values, strict=True)), [LONGEST, 1.0]])


def _strikes(rng: Generator) -> str:
    return str(sorted([_some(rng, 1, LONGEST), _some(rng, 0, WORKERS - 1)] for _ in range(5)))


def _times(rng: Generator) -> str:
    whole = _some(rng, 16, 40)
    return str([round(whole / p + p / 2, 1) for p in range(1, WORKERS + 1)])


def _flag(rng: Generator) -> str:
    return str(bool(rng.integers(2))).lower()


DRAWN: Mapping[str, Callable[[Generator], str]] = MappingProxyType(
    {
        "states": _states,
        "speeds": _speeds,
        "strikes": _strikes,
        "times": _times,
        "flag": _flag,
    }
)
