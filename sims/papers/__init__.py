"""The papers' tables and figures, regenerated, and studies of our own: `catalogue.toml` says what
each is and what is printed of it; a folder for each paper has campaign files, and its module what
no file can say. `stored.json` has what each said at smoke size: `differences` compares."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from math import isfinite
from pathlib import Path
from time import process_time
from typing import Any

from attrs import Factory, evolve, frozen

from sims.campaign import Campaign, load_campaign
from sims.campaign.engine import execute
from sims.campaign.executors import Workers
from sims.campaign.plan import Cells
from sims.campaign.results import Results
from sims.errors import COMMAND_LINE, InputError
from sims.papers.values import Value
from sims.summary import Summary
from sims.world import run as simulate

HERE = Path(__file__).parent
NUMBERS = {
    "000": "moldable21",
    "001": "rigid21",
    "002": "volatile13",
    "003": "malleable17",
    "004": "redundancy17",
}
"""Of papers, before they had keys: accepted in names for one release."""

SIZES = ("smoke", "default", "full")
"""`full` is the paper's."""


@frozen
class Item:
    """A table or a figure: a campaign file and a view, or what is computed without one."""

    name: str
    """`volatile13/table1`."""
    about: str
    view: str
    input: str = ""
    """The campaign's key that `--input PATH` sets."""
    with_input: Mapping[str, Any] = Factory(dict)
    """Other keys that it sets."""
    needs_input: bool = False
    """Whether there is nothing to run without."""
    printed: Mapping[str, Any] = Factory(dict)
    """Rows of what the paper prints, `columns` their names; `*` stands for rows that are not
    there. `only_with_input`: they are of an input, and of nothing else."""
    basis: Mapping[str, str] = Factory(dict)
    """Row -> what the values beside ours rest on, one of `values.BASES`; `*` stands for the other
    rows. Empty: a paper prints them as its results."""

    @property
    def drawn(self) -> bool:
        """Whether it is a campaign's; else it is computed."""
        return self._file.exists()

    def campaign(self, size: str, changes: Mapping[str, Any] | None = None) -> Campaign:
        """At one of `SIZES`. Raises InputError."""
        return load_campaign(self._file, None if size == "default" else size, changes)

    def values(self, results: Results | None) -> list[Value]:
        """What it says, beside the paper's; of what is computed there are no results."""
        make = self._beside(self.view.rpartition(".")[2])
        made: list[Value] = list(make() if results is None else make(results))
        given = results is not None and self.input in results.campaign.set
        if self.printed.get("only_with_input") and not given:
            return made
        return [self._with_printed(it) for it in made]

    def _with_printed(self, it: Value) -> Value:
        row = self.printed.get(it.row, self.printed.get("*", ()))
        paper = dict(zip(self.printed.get("columns", ()), row, strict=False)).get(it.what) or None
        basis = self.basis.get(it.row, self.basis.get("*", "")) if paper else ""
        return evolve(it, paper=paper, basis=basis)

    def given(self, path: Path) -> dict[str, Any]:
        """What `--input PATH` changes in its campaign. Raises InputError, also where it takes no
        input."""
        if not self.input:
            raise InputError(COMMAND_LINE, "--input", f"{self.name} reads nothing", "none")
        there = str(path.absolute())
        changes = self._beside("given", lambda _: {})(there)
        return {"set": {self.input: there, **self.with_input}, "axes": {}, **changes}

    def evidence(self, path: Path | None) -> Iterator[str]:
        """What was made of the input, in lines. Raises InputError where nothing tells."""
        tell = self._beside("evidence") if self.input else None
        if tell is None or path is None:
            raise InputError(COMMAND_LINE, "--evidence", f"{self.name} has none", "none")
        yield from tell(str(path.absolute()))

    def pictures(self, folder: Path) -> list[Path]:
        """Draws in `folder` what is computed, if there is a picture of it."""
        return list(self._beside("pictures", lambda _: [])(folder))

    @property
    def _file(self) -> Path:
        return HERE / f"{self.name}.toml"

    def _beside(self, name: str, default: Any = None) -> Any:
        """In the view's module."""
        module, _, _ = self.view.rpartition(".")
        return getattr(import_module(f"sims.papers.{module}"), name, default)


ITEMS = tuple(
    Item(name, **row)
    for name, row in tomllib.loads((HERE / "catalogue.toml").read_text(encoding="utf-8")).items()
)


def current(name: str) -> str:
    """The name with its paper's key, where it has the paper's number."""
    paper, slash, rest = name.partition("/")
    return f"{NUMBERS.get(paper, paper)}{slash}{rest}"


def item(name: str) -> Item:
    """The one of that name. Raises InputError."""
    found = [one for one in ITEMS if one.name == name]
    if not found:
        problem = f"{name!r} is not there"
        raise InputError(COMMAND_LINE, "NAME", problem, "a name of `holdfast papers`")
    return found[0]


# --- whether each still says what it said, at smoke size -----------------------------------------

STORED = HERE / "stored.json"
MOST, ENOUGH = 60, 20.0
"""Of a table's cells, how many are run to tell what it costs at a size, and after how many seconds
no more."""
APART = 0.6180339887
"""Part of all cells between two of them, of the golden section: no step of whole numbers, which
would meet the same variants again and again."""
ROUNDING = 1e-9
"""Relative; of what has no interval."""

Interval = tuple[float, float]

Stored = dict[str, dict[str, Any]]
"""By name of the table or figure: `intervals` by key of the value, and `seconds`, CPU time by size,
measured on a sample of its runs."""


def stored(path: Path = STORED) -> Stored:
    """What was found when it was stored."""
    found: Stored = json.loads(path.read_text(encoding="utf-8"))
    return found


def smoke(item: Item, workers: Workers) -> list[Value]:
    """What it says at smoke size. A run that raises is missing, or has no value."""
    return item.values(execute(item.campaign("smoke"), workers) if item.drawn else None)


def differences(item: Item, workers: Workers, path: Path = STORED) -> list[str]:
    """What of it is not as it was: a line each."""
    known = stored(path).get(item.name, {}).get("intervals", {})
    return list(complaints(smoke(item, workers), known))


def complaints(values: Sequence[Value], known: Mapping[str, Interval]) -> Iterator[str]:
    """What is not as it was: a line each."""
    keys = {value.key for value in values}
    yield from (f"{key}: gone" for key in known if key not in keys)
    for value in values:
        if value.key not in known:
            yield f"{value.key}: new"
            continue
        low, high = known[value.key]
        if not low <= value.ours.mean <= high:
            yield f"{value.key}: {value.ours.mean:.6g}, was {low:.6g} to {high:.6g}"


def interval(value: Value) -> Interval:
    """To store: its interval, or itself where it has none."""
    ours, slack = value.ours, ROUNDING * abs(value.ours.mean)
    low, high = (ours.low, ours.high) if isfinite(ours.half) else (ours.mean, ours.mean)
    return low - slack, high + slack


# --- storing ----------------------------------------------------------------------------------


def store_anew(items: Iterable[Item], workers: Workers, path: Path = STORED) -> None:
    """Store anew what these say and cost; the others stay."""
    table = stored(path) if path.exists() else {}
    for item in items:
        intervals = {it.key: interval(it) for it in smoke(item, workers)}
        table[item.name] = {"intervals": intervals, "seconds": costs(item)}
        path.write_text(json.dumps(table, indent=1), encoding="utf-8")


def costs(item: Item) -> dict[str, float]:
    """CPU seconds by size: some of its runs, taken from all over, times how many there are; `full`
    has more of the default's."""
    if not item.drawn:
        began = process_time()
        item.values(None)
        return dict.fromkeys(SIZES, round(process_time() - began, 3))
    plans = {size: Cells(item.campaign(size)) for size in SIZES}
    each = {size: _each(plans[size]) for size in ("smoke", "default")}
    each["full"] = each["default"]
    runs = {size: len(plan) * plan.campaign.most for size, plan in plans.items()}
    return {size: round(each[size] * runs[size], 3) for size in SIZES}


def _each(plan: Cells) -> float:
    spent, count = 0.0, 0
    while count < min(MOST, len(plan)) and spent < ENOUGH:
        case = plan[int(len(plan) * (APART * count % 1))]
        began = process_time()
        simulate(case.scenario(0), [Summary()], case.folder, until=plan.campaign.until)
        spent, count = spent + process_time() - began, count + 1
    return spent / count
