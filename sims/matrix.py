"""Every cell of job x hazard x protection x communication, each a small scenario that runs.

A cell is refused only where it has no physical meaning; none is because nobody built it.
"""

from __future__ import annotations

import enum
import tomllib
from collections.abc import Iterator
from itertools import product

import numpy as np
from attrs import astuple, frozen
from numpy.random import Generator

from sims.attribute_docs import attribute_docs
from sims.scenario.loader import read
from sims.scenario.scenario import Scenario

WORKERS = 4
LONGEST = 40
"""Time units for which owners' states and speeds are listed."""


class CellKind(enum.Enum):
    """What a job is."""

    RIGID = "rigid"
    """It holds as many workers as it asks for."""
    MOLDABLE = "moldable"
    """The scheduler chooses how many workers each run holds."""
    MALLEABLE = "malleable"
    """A run's workers are redistributed while it goes on, at a cost."""
    ITERATIVE = "iterative"
    """Its tasks advance in lockstep on the workers that are enrolled."""


class CellHazard(enum.Enum):
    """What befalls workers, or runs."""

    NONE = "none"
    """Nothing."""
    OWNERS = "owners"
    """Workers are reclaimed, and go DOWN, as their owners will."""
    FAULTS = "faults"
    """Workers fail and are DOWN for a while."""
    SPEEDS = "speeds"
    """Workers' speeds change."""
    ERRORS = "errors"
    """Silent errors: a verification at the end of a run finds them."""
    ALL = "all"
    """All of these."""


class CellGuard(enum.Enum):
    """How the job is protected."""

    NONE = "re-execution"
    """A run that is lost is run again from its beginning."""
    BUDDIES = "buddies"
    """Workers in pairs keep each other's checkpoints."""
    IMAGES = "images"
    """Checkpoints lie at the master."""
    COPIES = "copies"
    """Two copies of the job run at once, from its beginning."""
    CLONES = "clones"
    """Copies that begin from the furthest one's state."""
    BOTH = "copies+images"
    """Clones, and checkpoints at the master."""


class CellLink(enum.Enum):
    """How program, data and images move."""

    FREE = "free"
    """At once."""
    MASTER = "master"
    """Through the channels of a master."""


AXES: tuple[type[enum.Enum], ...] = (CellKind, CellHazard, CellGuard, CellLink)


@frozen
class Cell:
    """One combination."""

    kind: CellKind
    hazard: CellHazard
    guard: CellGuard
    link: CellLink

    def __str__(self) -> str:
        return "/".join((self.kind.value, self.hazard.value, self.guard.value, self.link.value))


def cells() -> Iterator[Cell]:
    """All of them, in the order of their axes."""
    return (Cell(*parts) for parts in product(CellKind, CellHazard, CellGuard, CellLink))


def cell_named(name: str) -> Cell:
    """The cell that `str` calls so. Raises ValueError, with what its parts can be."""
    words = name.split("/")
    try:
        kind, hazard, guard, link = words
        return Cell(CellKind(kind), CellHazard(hazard), CellGuard(guard), CellLink(link))
    except ValueError:
        axes = [" | ".join(it.value for it in axis) for axis in AXES]
        raise ValueError("/".join(f"({axis})" for axis in axes)) from None


def meanings(cell: Cell) -> Iterator[str]:
    """What each part of its name means."""
    for part in astuple(cell):
        yield f"{part.value}: {attribute_docs(type(part))[part.name]}"


def scenario(cell: Cell, seed: int = 0) -> Scenario:
    """The cell's example; another for each seed."""
    return read(tomllib.loads(text(cell, seed)), str(cell))


def text(cell: Cell, seed: int = 0) -> str:
    """The same as a scenario file."""
    rng = np.random.default_rng([seed, *map(ord, str(cell))])
    parts = [
        f'name = "{str(cell).replace("/", "-")}"\nseed = {seed}\nunit = "s"',
        _workers(cell, rng),
        *_hazards(cell, rng),
        *_master(cell, rng),
        _protection(cell, rng),
        _job(cell, rng),
    ]
    return "\n\n".join(parts) + "\n"


def _has(cell: Cell, hazard: CellHazard) -> bool:
    return cell.hazard in (hazard, CellHazard.ALL)


def _workers(cell: Cell, rng: Generator) -> str:
    if not (_has(cell, CellHazard.OWNERS) or _has(cell, CellHazard.SPEEDS)):
        return f"[platform]\nworkers = {WORKERS}\ntask_time = {_some(rng, 1, 4)}"
    return "\n\n".join(_worker(cell, rng) for _ in range(WORKERS))


def _worker(cell: Cell, rng: Generator) -> str:
    lines = ["[[workers]]", f"task_time = {_some(rng, 1, 4)}"]
    if _has(cell, CellHazard.OWNERS):
        lines.append(f'availability = {{ kind = "letters", states = "{_states(rng)}" }}')
    if _has(cell, CellHazard.SPEEDS):
        changes = ", ".join(f"[{t}, {v}]" for t, v in _speeds(rng))
        lines.append(f'speed = {{ kind = "list", changes = [{changes}] }}')
    return "\n".join(lines)


def _states(rng: Generator) -> str:
    """UP in the end, for a trace that has ended holds its last state."""
    stays = (letter * _some(rng, 1, 6) for letter in rng.choice(list("uurd"), LONGEST // 4))
    return "".join(stays) + "u"


def _speeds(rng: Generator) -> list[tuple[int, float]]:
    times = sorted(rng.choice(np.arange(1, LONGEST), 3, replace=False).tolist())
    values = rng.choice([0, 0.5, 1, 2], 3).tolist()
    return [(0, 1.0), *zip(times, values, strict=True), (LONGEST, 1.0)]


def _hazards(cell: Cell, rng: Generator) -> Iterator[str]:
    if _has(cell, CellHazard.FAULTS):
        struck = sorted((_some(rng, 1, LONGEST), _some(rng, 0, WORKERS - 1)) for _ in range(5))
        strikes = ", ".join(f"[{time}, {worker}]" for time, worker in struck)
        yield f'[faults]\nkind = "list"\ndowntime = 3\nstrikes = [{strikes}]'
    if _has(cell, CellHazard.ERRORS):
        yield "[errors]\nrate = 0.01"


def _master(cell: Cell, rng: Generator) -> Iterator[str]:
    if cell.link is CellLink.MASTER:
        sizes = f"program = {_some(rng, 1, 3)}\ndata = {_some(rng, 1, 2)}\nimage = 2"
        yield f"[master]\nchannels = {_some(rng, 1, 2)}\n{sizes}"
    if cell.kind is CellKind.MALLEABLE:
        yield "[link]\nunit = 0.05"


def _protection(cell: Cell, rng: Generator) -> str:
    guard, lines = cell.guard, ["[protection]"]
    if guard in (CellGuard.BUDDIES, CellGuard.IMAGES, CellGuard.BOTH):
        kind = "buddies" if guard is CellGuard.BUDDIES else "images"
        lines += [f'kind = "{kind}"', f"period = {_some(rng, 3, 6)}", "cost = 1", "recovery = 1"]
        lines.append(f"verified = {str(bool(rng.integers(2))).lower()}")
        if cell.kind is CellKind.MALLEABLE:
            lines.append('fatal = "possible"')
    if guard in (CellGuard.COPIES, CellGuard.CLONES, CellGuard.BOTH):
        lines.append("copies = 2")
        if guard is not CellGuard.COPIES:
            lines += ["cloning = true", "delay = 1"]
    return "\n".join(lines)


def _job(cell: Cell, rng: Generator) -> str:
    lines = ["[job]", f'kind = "{cell.kind.value}"', "verification = 1"]
    if cell.kind is CellKind.ITERATIVE:
        lines += ["tasks = 6", "iterations = 3", "processors = 2"]
    elif cell.kind is CellKind.MALLEABLE:
        lines += [_application(footprint, rng) for footprint in (12, 9)]
    else:
        lines += [_listed(cell.kind, rng) for _ in range(2)]
    return "\n".join(lines)


def _listed(kind: CellKind, rng: Generator) -> str:
    head = f"\n[[job.jobs]]\nrelease = {_some(rng, 0, 5)}\n"
    if kind is CellKind.RIGID:
        return f"{head}processors = {_some(rng, 1, 2)}\ntime = {_some(rng, 8, 20)}"
    return f"{head}{_speedup(rng)}"


def _application(footprint: int, rng: Generator) -> str:
    return f"\n[[job.jobs]]\nfootprint = {footprint}\n{_speedup(rng)}"


def _speedup(rng: Generator) -> str:
    return f'speedup = {{ kind = "table", times = {_table(rng)} }}'


def _table(rng: Generator) -> list[float]:
    whole = _some(rng, 16, 40)
    return [round(whole / p + p / 2, 1) for p in range(1, WORKERS + 1)]


def _some(rng: Generator, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    return int(rng.integers(low, high, endpoint=True))
