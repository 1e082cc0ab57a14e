"""Regenerate the papers' tables and figures, and studies of this project.

`catalogue.toml` describes each table or figure and has the values that are printed beside ours.
Each paper has a folder with campaign files; its module has the code that a file cannot express.
`stored.json` has the values of each table at smoke size; `differences` compares new values with
them.
"""

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

from policies.maths.tolerance import SAME
from sims.campaign.engine import execute
from sims.campaign.executors import Workers
from sims.campaign.file import load_campaign
from sims.campaign.plan import Cases
from sims.campaign.question import Question
from sims.campaign.results import Results
from sims.errors import COMMAND_LINE, InputError
from sims.history.summary import Summary
from sims.papers.values import Value
from sims.world import run as simulate

HERE = Path(__file__).parent
NUMBERS = {
    "000": "moldable21",
    "001": "rigid21",
    "002": "volatile13",
    "003": "malleable17",
    "004": "redundancy17",
}
"""Maps the old numbers of papers to their keys; names with a number are accepted for one
release."""

SIZES = ("smoke", "default", "full")
"""Sizes of a campaign; `full` is the size in the paper."""


@frozen
class Item:
    """A table or figure of the catalogue: a campaign file with a view of its results, or a
    computation without a campaign."""

    name: str
    """Name of the table or figure, such as `volatile13/table1`."""
    about: str
    """Description for the list of all tables and figures."""
    view: str
    """Function that turns results into values, as `module.function` below sims.papers."""
    input: str = ""
    """Key of the campaign that `--input PATH` sets."""
    with_input: Mapping[str, Any] = Factory(dict)
    """Further settings of the campaign that `--input` makes."""
    needs_input: bool = False
    """Whether the campaign cannot run without `--input`."""
    printed: Mapping[str, Any] = Factory(dict)
    """Rows of values that the paper prints, with their names in `columns`; `*` stands for all rows
    that are missing here. With `only_with_input`, the values are shown only beside runs on an
    input."""
    basis: Mapping[str, str] = Factory(dict)
    """Maps each row to the basis of the values beside ours, one of `values.BASES`; `*` stands for
    the other rows. Without an entry, a paper prints the values as its results."""

    whole: bool = False
    """Whether its values are of all the work: with less of it the paper's do not stand beside
    them."""

    @property
    def drawn(self) -> bool:
        """Whether the item has a campaign; otherwise it is computed."""
        return self._file.exists()

    def campaign(self, size: str, changes: Mapping[str, Any] | None = None) -> Question:
        """Return the campaign at one of `SIZES`; `changes` maps its keys to other values.

        Raises InputError where the campaign cannot be read.
        """
        return load_campaign(self._file, None if size == "default" else size, changes)

    def values(self, results: Results | None) -> list[Value]:
        """Return the item's values beside the paper's; `results` is None for a computation."""
        make = self._beside(self.view.rpartition(".")[2])
        made: list[Value] = list(make() if results is None else make(results))
        given = results is not None and self.input in results.question.subject.changes
        if self.printed.get("only_with_input") and not given:
            return made
        return [self._with_printed(it) for it in made]

    def _with_printed(self, it: Value) -> Value:
        """Return a value with the paper's value and its basis, if the paper has one."""
        row = self.printed.get(it.row, self.printed.get("*", ()))
        paper = dict(zip(self.printed.get("columns", ()), row, strict=False)).get(it.what) or None
        basis = self.basis.get(it.row, self.basis.get("*", "")) if paper else ""
        return evolve(it, paper=paper, basis=basis)

    def given(self, path: Path) -> dict[str, Any]:
        """Return the changes to the campaign that `--input PATH` makes, as keys and values: `set`
        and `axes` at least.

        Raises InputError where the item takes no input.
        """
        if not self.input:
            raise InputError(COMMAND_LINE, "--input", f"{self.name} reads nothing", "none")
        there = str(path.absolute())
        changes = self._beside("given", lambda _: {})(there)
        return {"set": {self.input: there, **self.with_input}, "axes": {}, **changes}

    def evidence(self, path: Path | None) -> Iterator[str]:
        """Yield lines that show what was read from the input at `path`, and fitted to it.

        Raises InputError where `path` is None, and where the item's module describes no input.
        """
        describe = self._beside("evidence") if self.input else None
        if describe is None or path is None:
            raise InputError(COMMAND_LINE, "--evidence", f"{self.name} has none", "none")
        yield from describe(str(path.absolute()))

    def pictures(self, folder: Path) -> list[Path]:
        """Draw the pictures of a computation in `folder`, and return their paths; the list is empty
        where its module draws none."""
        return list(self._beside("pictures", lambda _: [])(folder))

    @property
    def _file(self) -> Path:
        """Path of the campaign file, which a computation lacks."""
        return HERE / f"{self.name}.toml"

    def _beside(self, name: str, default: Any = None) -> Any:
        """Return the object of that name in the Python module of the item's view, or `default` if
        it has none."""
        module, _, _ = self.view.rpartition(".")
        return getattr(import_module(f"sims.papers.{module}"), name, default)


ITEMS = tuple(
    Item(name, **row)
    for name, row in tomllib.loads((HERE / "catalogue.toml").read_text(encoding="utf-8")).items()
)
"""All tables and figures of the catalogue."""


def current(name: str) -> str:
    """Return the present name of a table or figure: old names have the paper's number in place of
    its key."""
    paper, slash, rest = name.partition("/")
    return f"{NUMBERS.get(paper, paper)}{slash}{rest}"


def item(name: str) -> Item:
    """Return the item of that name. Raises InputError for an unknown name."""
    found = [one for one in ITEMS if one.name == name]
    if not found:
        problem = f"{name!r} is not there"
        raise InputError(COMMAND_LINE, "NAME", problem, "a name of `holdfast papers`")
    return found[0]


# --- whether each still says what it said, at smoke size -----------------------------------------

STORED = HERE / "stored.json"
MOST_RUNS, ENOUGH_SECONDS = 60, 20.0
"""Largest number of runs that are made to estimate a table's cost at a size, and CPU seconds
after which no more are run."""
STRIDE = 0.6180339887
"""Distance between two sampled cases, as a share of all cases: the golden section. A whole number
of cases as a step would meet the same variants again and again."""

Interval = tuple[float, float]

Stored = dict[str, dict[str, Any]]
"""Maps each item's name to `intervals`, by key of the value, and `seconds`, the CPU time by size,
estimated from a sample of its runs."""


def stored(path: Path = STORED) -> Stored:
    """Return the values and costs in a file such as `stored.json`."""
    found: Stored = json.loads(path.read_text(encoding="utf-8"))
    return found


def smoke(item: Item, workers: Workers) -> list[Value]:
    """Run an item at smoke size on `workers`, and return its values; a run that raises an error
    contributes to no value."""
    return item.values(execute(item.campaign("smoke"), workers) if item.drawn else None)


def differences(item: Item, workers: Workers, path: Path = STORED) -> list[str]:
    """Run an item at smoke size, and return a line for each value that differs from the one stored
    at `path`."""
    known = stored(path).get(item.name, {}).get("intervals", {})
    return list(complaints(smoke(item, workers), known))


def complaints(values: Sequence[Value], known: Mapping[str, Interval]) -> Iterator[str]:
    """Yield a line for each value that is new, gone, or whose mean lies outside its stored
    interval; `known` maps the keys of values to these intervals."""
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
    """Return the interval to be stored for a value: its own, or the value itself where it has none,
    widened by `SAME`."""
    ours, slack = value.ours, SAME * abs(value.ours.mean)
    low, high = (ours.low, ours.high) if isfinite(ours.half) else (ours.mean, ours.mean)
    return low - slack, high + slack


# --- storing ----------------------------------------------------------------------------------


def store_anew(items: Iterable[Item], workers: Workers, path: Path = STORED) -> None:
    """Run these items at smoke size, and replace their stored values and costs; those of others
    stay."""
    table = stored(path) if path.exists() else {}
    for item in items:
        intervals = {it.key: interval(it) for it in smoke(item, workers)}
        table[item.name] = {"intervals": intervals, "seconds": costs(item)}
        path.write_text(json.dumps(table, indent=1), encoding="utf-8")


def costs(item: Item) -> dict[str, float]:
    """Run a sample of an item's cases, and return the estimated CPU seconds of all its runs, by
    size; a computation without a campaign is run as a whole.

    The estimate for `full` uses the sample of the default size.
    """
    if not item.drawn:
        start = process_time()
        item.values(None)
        return dict.fromkeys(SIZES, round(process_time() - start, 3))
    plans = {size: Cases(item.campaign(size)) for size in SIZES}
    per_run = {size: _each(plans[size]) for size in ("smoke", "default")}
    per_run["full"] = per_run["default"]
    runs = {size: len(plan) * plan.question.surely.most for size, plan in plans.items()}
    return {size: round(per_run[size] * runs[size], 3) for size in SIZES}


def _each(plan: Cases) -> float:
    """Run a sample of a plan's cases, and return the mean CPU seconds of a run.

    The sample ends after MOST_RUNS runs or ENOUGH_SECONDS.
    """
    spent, count = 0.0, 0
    while count < min(MOST_RUNS, len(plan)) and spent < ENOUGH_SECONDS:
        case = plan[int(len(plan) * (STRIDE * count % 1))]
        start = process_time()
        simulate(case.scenario(0), [Summary()], plan.folder, until=plan.question.surely.until)
        spent, count = spent + process_time() - start, count + 1
    return spent / count
