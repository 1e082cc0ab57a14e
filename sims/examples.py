"""Files to begin from: the scenarios that come with the package, one with every key explained, a
policy for each decision point, and an example of every combination of mechanisms."""

from __future__ import annotations

import re
import shutil
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from itertools import product, takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sims.errors import COMMAND_LINE, InputError
from sims.writing import refusing

if TYPE_CHECKING:
    from numpy.random import Generator

    from sims.scenario.keys import Key

HERE = Path(__file__).parent
FOLDER, CAMPAIGNS = HERE / "scenarios", HERE / "campaigns"
STARTERS = HERE / "docs" / "starters"
CELLS: Mapping[str, str] = MappingProxyType(
    {
        "rigid": "rigid/faults/re-execution/free",
        "moldable": "moldable/errors/re-execution/free",
        "malleable": "malleable/faults/buddies/free",
        "iterative": "iterative/owners/re-execution/master",
    }
)
"""What a kind of job is begun with: what its paper has."""
WIDTH = 100
HAZARD = "hazard"


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
    from sims.scenario.jobs import KINDS
    from sims.scenario.keys import FILE, LINE

    try:
        plain = cell_file(CELLS.get(what, what), seed)
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


# --- the matrix ---------------------------------------------------------------------------------
# Every cell of job x hazard x protection x communication is a small scenario that runs. A cell is
# refused only where it has no physical meaning; none is because nobody built it. Its name is a part
# of each axis, such as `rigid/faults/images/master`; `matrix.toml` has what each part adds to the
# cell's scenario file.

WORKERS = 4
LONGEST = 40
"""Time units for which owners' states and speeds are listed."""
ALL = "all"
"""The hazard that is all others."""

AXES: Mapping[str, dict[str, Any]] = MappingProxyType(
    tomllib.loads((HERE / "matrix.toml").read_text(encoding="utf-8"))
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
    """What each part of its name means. Raises ValueError as `cell_file` does."""
    for word, part in zip(cell.split("/"), _parts(cell), strict=False):
        yield f"{word}: {part['about']}"


def cell_file(cell: str, seed: int = 0) -> str:
    """A cell's example, a scenario file; another for each seed. Raises ValueError for what is no
    cell's name, with what its parts can be."""
    from numpy.random import default_rng

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
    rng = default_rng([seed, *map(ord, cell)])
    return "\n\n".join(_filled(it, rng) for it in sections) + "\n"


def _protection(kind: Mapping[str, str], guard: Mapping[str, str]) -> Iterator[str]:
    if "checkpoints" in guard:
        yield f'kind = "{guard["checkpoints"]}"'
        yield "period = {3..6}\ncost = 1\nrecovery = 1\nverified = {flag}"
        if "checkpoints" in kind:
            yield kind["checkpoints"]
    if "copies" in guard:
        yield guard["copies"]


BLANKS = tuple(
    re.compile(rf"{begin}(?:(\d+)\.\.(\d+)|([a-z]+)){end}") for begin, end in ((r"\{", r"\}"), "<>")
)
"""Those of the second kind are filled last."""


def _filled(text: str, rng: Generator) -> str:
    """The text with what is drawn for its blanks."""

    def drawn(found: re.Match[str]) -> str:
        low, high, name = found.groups()
        return _drawn(name, rng) if name else str(_some(rng, int(low), int(high)))

    for blank in BLANKS:
        text = blank.sub(drawn, text)
    return text


def _some(rng: Generator, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    return int(rng.integers(low, high, endpoint=True))


def _drawn(name: str, rng: Generator) -> str:
    """What takes the place of a blank that has a name."""
    match name:
        case "states":  # UP in the end, for a trace that has ended holds its last state
            stays = (letter * _some(rng, 1, 6) for letter in rng.choice(list("uurd"), LONGEST // 4))
            return "".join(stays) + "u"
        case "speeds":
            times = sorted(rng.choice(range(1, LONGEST), 3, replace=False).tolist())
            values = rng.choice([0, 0.5, 1, 2], 3).tolist()
            return str([[0, 1.0], *map(list, zip(times, values, strict=True)), [LONGEST, 1.0]])
        case "strikes":
            strikes = ([_some(rng, 1, LONGEST), _some(rng, 0, WORKERS - 1)] for _ in range(5))
            return str(sorted(strikes))
        case "times":
            whole = _some(rng, 16, 40)
            return str([round(whole / p + p / 2, 1) for p in range(1, WORKERS + 1)])
        case _:
            return str(bool(rng.integers(2))).lower()
