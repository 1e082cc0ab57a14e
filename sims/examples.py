"""Files to begin from: the scenarios that come with the package, one with every key explained, a
policy for each decision point."""

from __future__ import annotations

import shutil
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sims.errors import COMMAND_LINE, InputError
from sims.writing import refusing

if TYPE_CHECKING:
    from sims.scenario.keys import Key

FOLDER = Path(__file__).parent / "scenarios"
CELLS: Mapping[str, str] = MappingProxyType(
    {
        "rigid": "rigid/faults/re-execution/free",
        "moldable": "moldable/errors/re-execution/free",
        "malleable": "malleable/faults/buddies/free",
        "iterative": "iterative/owners/re-execution/master",
    }
)
"""What a kind of job is begun with: what its paper has."""
CAMPAIGNS = FOLDER.parent / "campaigns"
WIDTH = 100
HAZARD = "hazard"
STARTERS = Path(__file__).parent / "docs" / "starters"


def examples() -> dict[str, str]:
    """Name -> what it shows, in a sentence."""
    return {path.stem: _sentence(path) for path in sorted(FOLDER.glob("*.toml"))}


def campaigns() -> dict[str, str]:
    """The same of campaigns; other files of theirs are called `NAME-more`."""
    paths = (it for it in sorted(CAMPAIGNS.glob("*.toml")) if "-" not in it.stem)
    return {path.stem: _sentence(path) for path in paths}


def example(name: str) -> Path:
    """Where the example is. Raises InputError where there is none of that name."""
    stem = name.removesuffix(".toml")
    for folder, known in ((FOLDER, examples()), (CAMPAIGNS, campaigns())):
        if stem in known:
            return folder / f"{stem}.toml"
    raise InputError("examples", "NAME", f"{name!r} is none", ", ".join(examples() | campaigns()))


def copy(name: str, folder: Path) -> list[Path]:
    """Copy the example to `folder`, with the files that it names; returns the copies.

    Raises InputError where there is none of that name, and for a file that is there already.
    """
    sources = _with_files(example(name))
    copies = [folder / it.name for it in sources]
    # What another example brought, and nobody changed, may stay.
    pairs = [(it, new) for it, new in zip(sources, copies, strict=True) if not _alike(it, new)]
    for _, new in pairs:
        if new.exists():
            raise InputError(str(new), "", "is there already, and differs", "another folder")
    for it, new in pairs:
        with refusing(new):
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(it, new)
    return copies


def _with_files(source: Path) -> list[Path]:
    """A scenario and the files that it names; a campaign, what is called after it, and their
    files."""
    from sims.scenario.loader import files_of, load, parse, words

    if source.parent == FOLDER:
        return [source, *files_of(load(source), FOLDER)]
    own = sorted(it for it in CAMPAIGNS.glob(f"{source.stem}*") if it.is_file())
    named = {FOLDER / it for toml in own if toml.suffix == ".toml" for it in words(parse(toml))}
    return [*own, *filter(Path.is_file, named)]


def _alike(source: Path, copy: Path) -> bool:
    return copy.is_file() and copy.read_bytes() == source.read_bytes()


def _sentence(path: Path) -> str:
    """The first sentence of the comment at its top."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = takewhile(lambda line: line.startswith("#"), lines)
    words = " ".join(line.removeprefix("#").strip() for line in head)
    return words.partition(". ")[0].rstrip(".:")


# --- starting files -----------------------------------------------------------------------------

HEAD = """\
{line}
# With `holdfast keys --schema > {file}` beside this file, editors complete and check it.
# Lines that begin with #key are defaults: take the # away to change them.
#   holdfast check FILE    whether it can be run, and what it means
#   holdfast run FILE
"""


def scenario_file(what: str, seed: int = 0) -> str:
    """A file for a kind of job, or for a cell of `holdfast matrix`. Raises InputError."""
    from sims.matrix import text
    from sims.scenario.jobs import KINDS
    from sims.scenario.keys import FILE, LINE

    try:
        plain = text(CELLS.get(what, what), seed)
    except ValueError as error:
        accepted = f"{', '.join(KINDS)}, or {error}"
        raise InputError(COMMAND_LINE, "KIND|CELL", f"{what!r} is none", accepted) from None
    lines = _explained(tomllib.loads(plain) | {"policy": {}})
    return HEAD.format(line=LINE, file=FILE) + "\n".join(lines)


def policy_file(point: str) -> str:
    """A file with a policy for a decision point, or with a hazard. Raises InputError."""
    from sims.kit import Point

    known = [*(it.value for it in Point), HAZARD]
    if point not in known:
        accepted = ", ".join(known[:-1])
        raise InputError(COMMAND_LINE, "POINT", f"{point!r} is none", accepted)
    return (STARTERS / f"{point}.py.txt").read_text(encoding="utf-8")


def _explained(file: dict[str, Any]) -> Iterator[str]:
    """Its lines; where a table comes first, what each of its keys means, and the keys that are not
    set."""
    from sims.scenario.keys import tables
    from sims.scenario.loader import sections, toml

    listed, job = tables(), file["job"]["kind"]
    places, seen = {it.place for it in listed}, set()
    for place, heading, own in sections(file):
        here = [table for table in listed if table.place == place]
        kinds = own.get("kind"), job, None
        table = next((it for kind in kinds for it in here if it.kind == kind), here[0])
        about = {} if table in seen else {key.name: key for key in table.keys}
        if about and heading:
            yield from _comment(table.about)
        yield from filter(None, [heading])
        for name, value in own.items():
            if name in about:
                yield from _comment(_about(about[name]))
            yield f"{name} = {toml(value)}"
        for key in about.values():
            inner = f"{place}.{key.name}" if place else key.name
            if key.name not in own:
                yield from _unset(key, inner if inner in places else "")
        yield ""
        seen.add(table)


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
