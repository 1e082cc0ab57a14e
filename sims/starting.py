"""Starting files: a scenario with every key explained, a policy for a decision point."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from sims.errors import COMMAND_LINE, InputError
from sims.kit.points import Point
from sims.matrix import cell_named, text
from sims.scenario.jobs.section import KINDS
from sims.scenario.keys import Key, KeyTable, tables
from sims.scenario.schema import FILE, LINE

CELLS: Mapping[str, str] = MappingProxyType(
    {
        "rigid": "rigid/faults/re-execution/free",
        "moldable": "moldable/errors/re-execution/free",
        "malleable": "malleable/faults/buddies/free",
        "iterative": "iterative/owners/re-execution/master",
    }
)
"""What a kind of job is begun with: what its paper has."""
HEADING = re.compile(r"\[+([a-z_.]+)\]+")
KIND = re.compile(r'^kind = "(.*)"$', re.MULTILINE)
WIDTH = 100
STARTERS = Path(__file__).parent / "docs" / "starters"

HEAD = f"""\
{LINE}
# With `holdfast keys --schema > {FILE}` beside this file, editors complete and check it.
# Lines that begin with #key are defaults: take the # away to change them.
#   holdfast check FILE    whether it can be run, and what it means
#   holdfast run FILE
"""


def scenario_file(what: str, seed: int = 0) -> str:
    """A file for a kind of job, or for a cell of `holdfast matrix`. Raises InputError."""
    try:
        plain = text(cell_named(CELLS.get(what, what)), seed)
    except ValueError as error:
        accepted = f"{', '.join(KINDS)}, or {error}"
        raise InputError(COMMAND_LINE, "KIND|CELL", f"{what!r} is none", accepted) from None
    return HEAD + "\n".join(_explained(f"{plain}\n[policy]\n"))


def policy_file(point: str) -> str:
    """A file with a policy for a decision point. Raises InputError."""
    if point not in [it.value for it in Point]:
        accepted = ", ".join(it.value for it in Point)
        raise InputError(COMMAND_LINE, "POINT", f"{point!r} is none", accepted)
    return (STARTERS / f"{point}.py.txt").read_text(encoding="utf-8")


def _explained(plain: str) -> Iterator[str]:
    listed = tables()
    job = plain.partition("[job]")[2]
    kind = (KIND.search(job) or [""])[1]
    seen: set[KeyTable] = set()
    for lines in _segments(plain):
        table = _table(lines, kind, listed)
        yield from (lines if table in seen else _told(lines, table, listed))
        yield ""
        seen.add(table)


def _segments(plain: str) -> Iterator[list[str]]:
    """A heading and what stands below it, blank lines left out; first what has no heading."""
    segment: list[str] = []
    for line in plain.splitlines():
        if HEADING.match(line) and segment:
            yield segment
            segment = []
        segment += [line] if line else []
    yield segment


def _table(lines: list[str], job: str, listed: list[KeyTable]) -> KeyTable:
    """The table whose heading and kind the lines have."""
    heading = HEADING.fullmatch(lines[0])
    place = heading[1] if heading else ""
    here = [table for table in listed if table.place == place]
    own = KIND.search("\n".join(lines))
    for kind in (own[1] if own else None, job, None):
        for table in here:
            if table.kind == kind:
                return table
    return here[0]


def _told(lines: list[str], table: KeyTable, listed: list[KeyTable]) -> Iterator[str]:
    """The lines, each with its meaning, then the keys that are not set."""
    keys = {key.name: key for key in table.keys}
    if table.place:
        yield from _comment(table.about)
    for line in lines:
        name = line.partition(" = ")[0]
        if name in keys:
            yield from _comment(_about(keys[name]))
        yield line
    given = {line.partition(" = ")[0] for line in lines}
    places = {it.place for it in listed}
    for key in table.keys:
        inner = f"{table.place}.{key.name}" if table.place else key.name
        if key.name not in given:
            yield from _unset(key, inner if inner in places else "")


def _unset(key: Key, section: str) -> Iterator[str]:
    """A key at its default; `section`: of what table it is the heading."""
    if section or key.default is None:
        told = f"[{section}]" if section else f"{key.name} (unset)"
        yield from _comment(f"{told}: {_about(key)}")
    else:
        yield from _comment(_about(key))
        yield f"#{key.name} = {key.default}"


def _about(key: Key) -> str:
    choices = "; ".join(f"{value}: {meaning}" for value, meaning in key.choices)
    return " ".join(filter(None, (key.meaning, choices and f"({choices})")))


def _comment(about: str) -> list[str]:
    return textwrap.wrap(about, WIDTH, initial_indent="# ", subsequent_indent="#   ")
