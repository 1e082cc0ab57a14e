"""Files to start from: the scenarios that come with the package, a scenario with every key
explained, a policy for each decision point, and an example of every combination of mechanisms."""

from __future__ import annotations

import ast
import re
import shutil
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product, takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from policies.interface.kinds import JobKind
from sims.errors import COMMAND_LINE, InputError
from sims.writing import refusing

if TYPE_CHECKING:
    from numpy.random import Generator

    from sims.scenario.keys import Key

HERE = Path(__file__).parent
FOLDER, CAMPAIGNS, SCRIPTS = HERE / "scenarios", HERE / "campaigns", HERE / "scripts"
STARTERS = HERE / "docs" / "starters"
CELLS: Mapping[str, str] = MappingProxyType(
    {
        "rigid": "rigid/faults/re-execution/free",
        "moldable": "moldable/errors/re-execution/free",
        "malleable": "malleable/faults/buddies/free",
        "iterative": "iterative/owners/re-execution/master",
    }
)
"""Maps each kind of job to the cell of the matrix that its starting file is made from: the
mechanisms of the kind's paper."""
WIDTH = 100
HAZARD, AGENT = "hazard", "agent"
FLEET = "fleet"
"""Name of the starting file of a training job on a fleet of nodes."""


def examples() -> dict[str, str]:
    """Map the name of each example to one sentence on what it shows."""
    return {path.stem: _sentence(path) for path in sorted(FOLDER.glob("*.toml"))}


def campaigns() -> dict[str, str]:
    """Map the name of each campaign to one sentence on what it shows.

    Files that belong to a campaign are called `NAME-more` and are left out.
    """
    paths = (it for it in sorted(CAMPAIGNS.glob("*.toml")) if "-" not in it.stem)
    return {path.stem: _sentence(path) for path in paths}


def scripts() -> dict[str, str]:
    """Map the name of each Python script to one sentence on what it does; those that are written
    anew after SimPy's documented examples are called `simpy_examples/NAME`."""
    paths = [*sorted(SCRIPTS.glob("*.py")), *sorted(SCRIPTS.glob("*/*.py"))]
    places = {path.relative_to(SCRIPTS).with_suffix("").as_posix(): path for path in paths}
    return {name: _first_sentence(path) for name, path in places.items()}


def script(name: str) -> Path:
    """Return the path of a Python script.

    Raises InputError for an unknown name.
    """
    stem = name.removesuffix(".py")
    if stem not in scripts():
        raise InputError("examples --scripts", "NAME", f"{name!r} is none", ", ".join(scripts()))
    return SCRIPTS / f"{stem}.py"


def example(name: str) -> Path:
    """Return the path of an example.

    Raises InputError for an unknown name.
    """
    stem = name.removesuffix(".toml")
    for folder, known in ((FOLDER, examples()), (CAMPAIGNS, campaigns())):
        if stem in known:
            return folder / f"{stem}.toml"
    raise InputError("examples", "NAME", f"{name!r} is none", ", ".join(examples() | campaigns()))


def copy(name: str, folder: Path) -> list[Path]:
    """Copy an example to `folder`, with the files that it names; return the paths of the copies.

    Raises InputError for an unknown name, and for a different file of the same name in the folder.
    """
    return copy_files(_with_files(example(name)), folder)


def copy_files(sources: Sequence[Path], folder: Path) -> list[Path]:
    """Copy these files to `folder`, and return the paths of the copies.

    Raises InputError for a different file of the same name in the folder.
    """
    copies = [folder / it.name for it in sources]
    # A copy that another example brought, unchanged, may stay.
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
    """Return the paths of an example and of all files that are copied with it.

    With a scenario come the files that it names; with a campaign, the files whose names begin with
    its own, and the files among the scenarios that these name.
    """
    from sims.scenario.loader import files_of, load, parse, words

    if source.parent == FOLDER:
        return [source, *files_of(load(source), FOLDER)]
    own = sorted(it for it in CAMPAIGNS.glob(f"{source.stem}*") if it.is_file())
    named = {FOLDER / it for toml in own if toml.suffix == ".toml" for it in words(parse(toml))}
    return [*own, *filter(Path.is_file, named)]


def _alike(source: Path, copy: Path) -> bool:
    return copy.is_file() and copy.read_bytes() == source.read_bytes()


def _first_sentence(script: Path) -> str:
    """Return the first sentence of a script's docstring."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split()).partition(". ")[0].rstrip(".")


def _sentence(path: Path) -> str:
    """Return the first sentence of the comment at the top of a file."""
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
    """Return the text of a scenario file with its keys explained in comments.

    `what` is a kind of job, such as `rigid`, or a cell of `holdfast matrix`, such as
    `rigid/faults/images/master`. `seed` is the file's seed; the numbers of its workers and of its
    job are drawn with it. `fleet` is a training job on nodes, with few lines to edit. Raises
    InputError for an unknown kind or cell.
    """
    from sims.scenario.keys import FILE, LINE

    if what == FLEET:
        return f"{LINE}\n" + (STARTERS / "fleet.toml").read_text(encoding="utf-8")
    try:
        plain = cell_file(CELLS.get(what, what), seed)
    except ValueError as error:
        accepted = f"{', '.join(JobKind)}, {FLEET}, or {error}"
        raise InputError(COMMAND_LINE, "KIND|CELL", f"{what!r} is none", accepted) from None
    lines = _explained(tomllib.loads(plain) | {"policy": {}})
    return HEAD.format(line=LINE, file=FILE) + "\n".join(lines)


def policy_file(point: str) -> str:
    """Return the text of a Python file to start from, with a policy for a decision point, such as
    `strategy`, a law of faults for the point `hazard`, or an agent for `agent`.

    Raises InputError for an unknown point.
    """
    from sims.kit import Point

    known = [*(it.value for it in Point), HAZARD]
    if point not in known:
        accepted = ", ".join(it for it in known if it not in (HAZARD, AGENT))
        raise InputError(COMMAND_LINE, "POINT", f"{point!r} is none", accepted)
    return (STARTERS / f"{point}.py.txt").read_text(encoding="utf-8")


def _explained(file: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a scenario file whose parsed table is `file`, with comments on its keys.

    The first time that a kind of table occurs, each of its keys is explained, and those that the
    file does not set are listed as comments.
    """
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
                yield from _comment(_meaning(about[name]))
            yield f"{name} = {toml(value)}"
        for key in about.values():
            inner = f"{place}.{key.name}" if place else key.name
            if key.name not in own:
                yield from _unset(key, inner if inner in places else "")
        yield ""
        seen.add(table)


def _unset(key: Key, section: str) -> Iterator[str]:
    """Yield comment lines on a key that the file does not set. `section` is the dotted name of the
    table that the key would begin, empty if it would begin none."""
    if section or key.default is None:
        head = f"[{section}]" if section else f"{key.name} (unset)"
        yield from _comment(f"{head}: {_meaning(key)}")
    else:
        yield from _comment(_meaning(key))
        yield f"#{key.name} = {key.default}"


def _meaning(key: Key) -> str:
    choices = "; ".join(f"{value}: {meaning}" for value, meaning in key.choices)
    return " ".join(filter(None, (key.meaning, choices and f"({choices})")))


def _comment(about: str) -> list[str]:
    return textwrap.wrap(about, WIDTH, initial_indent="# ", subsequent_indent="#   ")


# --- the matrix ---------------------------------------------------------------------------------
# Every cell of job x hazard x protection x communication is a small scenario that runs. A cell is
# refused only where it has no physical meaning, never because it is not implemented. Its name is a
# part of each axis, such as `rigid/faults/images/master`; `matrix.toml` has what each part adds to
# the cell's scenario file.

WORKERS = 4
LONGEST = 40
"""Time units for which states of owners and speeds are listed."""
ALL = "all"
"""Name of the hazard that combines all others."""

AXES: Mapping[str, dict[str, Any]] = MappingProxyType(
    tomllib.loads((HERE / "matrix.toml").read_text(encoding="utf-8"))
)
"""Maps each axis of the matrix to its description, `about`, and to its `parts` by name."""


def cells() -> Iterator[str]:
    """Yield the names of all cells of `holdfast matrix` (job/hazard/protection/link), in the order
    of their axes."""
    return map("/".join, product(*(axis["parts"] for axis in AXES.values())))


def _parts(cell: str) -> list[dict[str, str]]:
    """Return, for each of the four parts of a cell's name, the texts that it adds to the cell's
    scenario, by the names that `matrix.toml` gives to these texts.

    Raises ValueError, with what the parts can be, for a name of no cell.
    """
    known = [axis["parts"] for axis in AXES.values()]
    try:
        return [parts[word] for parts, word in zip(known, cell.split("/"), strict=True)]
    except (KeyError, ValueError):
        raise ValueError("/".join(f"({' | '.join(parts)})" for parts in known)) from None


def meanings(cell: str) -> Iterator[str]:
    """Yield a line for each part of a cell's name, such as `rigid/faults/images/master`: the part
    and its meaning.

    Raises ValueError, with what the parts can be, for a name of no cell.
    """
    for word, part in zip(cell.split("/"), _parts(cell), strict=False):
        yield f"{word}: {part['about']}"


def cell_file(cell: str, seed: int = 0) -> str:
    """Return the text of the scenario file of a cell of `holdfast matrix`, such as
    `rigid/faults/images/master`.

    `seed` becomes the file's seed, and with it and the cell's name the file's numbers are drawn.
    Raises ValueError, with what the parts of a name can be, for a name of no cell.
    """
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
"""Patterns of blanks in a scenario, {...} and <...>; the second kind is filled last."""


def _filled(text: str, rng: Generator) -> str:
    """Return the text with each of its blanks replaced by a value drawn at random.

    `{2..5}` stands for a whole number in that range, both ends included, and `{name}` for what
    `_drawn` draws for the name; blanks in <...> do the same, and are filled after all others.
    """

    def drawn(found: re.Match[str]) -> str:
        low, high, name = found.groups()
        return _drawn(name, rng) if name else str(_whole_number(rng, int(low), int(high)))

    for blank in BLANKS:
        text = blank.sub(drawn, text)
    return text


def _whole_number(rng: Generator, low: int, high: int) -> int:
    """Draw a whole number from `low` to `high`, both included."""
    return int(rng.integers(low, high, endpoint=True))


def _drawn(name: str, rng: Generator) -> str:
    """Draw the text that replaces a blank `{name}` of a scenario.

    `states` is an owner's sequence of states (u, r, d for UP, RECLAIMED, DOWN) that ends UP,
    `speeds` a list of pairs of a time and a speed, `strikes` a list of pairs of a time and a worker
    that fails then, `times` a moldable job's time on 1 to 4 processors; any other name is `true` or
    `false`.
    """
    match name:
        case "states":  # it ends UP, because the last state lasts for ever
            stays = (
                letter * _whole_number(rng, 1, 6)
                for letter in rng.choice(list("uurd"), LONGEST // 4)
            )
            return "".join(stays) + "u"
        case "speeds":
            times = sorted(rng.choice(range(1, LONGEST), 3, replace=False).tolist())
            values = rng.choice([0, 0.5, 1, 2], 3).tolist()
            return str([[0, 1.0], *map(list, zip(times, values, strict=True)), [LONGEST, 1.0]])
        case "strikes":
            strikes = (
                [_whole_number(rng, 1, LONGEST), _whole_number(rng, 0, WORKERS - 1)]
                for _ in range(5)
            )
            return str(sorted(strikes))
        case "times":
            whole = _whole_number(rng, 16, 40)
            return str([round(whole / p + p / 2, 1) for p in range(1, WORKERS + 1)])
        case _:
            return str(bool(rng.integers(2))).lower()
