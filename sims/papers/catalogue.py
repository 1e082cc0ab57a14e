"""Every table and figure of the five papers, and studies of our own, by the name that `holdfast
papers` gives it.

A name is the paper's and the campaign file's. What no campaign draws is computed: its view, behind
`=`, needs no results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from attrs import frozen

from sims.campaign.campaign import Campaign, load_campaign
from sims.campaign.results import Results
from sims.errors import COMMAND_LINE, InputError
from sims.papers.values import Value

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
    folder: str
    """The paper's, here."""
    about: str
    view: str
    """In the paper's package: a function of its campaign's `Results`, or of nothing."""
    drawn: bool = True
    """Whether it is a campaign's; else it is computed."""

    def campaign(self, size: str, changes: Mapping[str, Any] | None = None) -> Campaign:
        """At one of `SIZES`. Raises InputError."""
        stem = self.name.partition("/")[2]
        path = Path(__file__).parent / self.folder / f"{stem}.toml"
        return load_campaign(path, None if size == "default" else size, changes)

    def values(self, results: Results | None) -> list[Value]:
        """What it says; of what is computed there are no results."""
        make: Callable[..., list[Value]] = self._of_package(self.view)
        return make() if results is None else make(results)

    def given(self, path: Path) -> dict[str, Any]:
        """What `--input PATH` changes in its campaign. Raises InputError, also where it takes no
        input."""
        if "--input" not in self.about:
            raise InputError(COMMAND_LINE, "--input", f"{self.name} reads nothing", "none")
        changes: dict[str, Any] = self._beside("given")(path)
        return changes

    def evidence(self, path: Path | None) -> Iterator[str]:
        """What was made of the input, in lines. Raises InputError where nothing tells."""
        tell = self._beside("evidence") if "--input" in self.about else None
        if tell is None or path is None:
            raise InputError(COMMAND_LINE, "--evidence", f"{self.name} has none", "none")
        yield from tell(path)

    def pictures(self, folder: Path) -> list[Path]:
        """Of what is computed: drawn there, if there is something to draw."""
        draw = None if self.drawn else self._beside("pictures")
        drawn: list[Path] = draw(folder) if draw else []
        return drawn

    def _beside(self, name: str) -> Any:
        """In the view's module; None where it is not there."""
        module = self.view.partition(".")[0]
        return getattr(import_module(f"sims.papers.{self.folder}.{module}"), name, None)

    def _of_package(self, dotted: str) -> Any:
        module, _, name = dotted.rpartition(".")
        package = f"sims.papers.{self.folder}"
        return getattr(import_module(f"{package}.{module}" if module else package), name)


def _items(paper: str, folder: str, rows: Mapping[str, tuple[str, str]]) -> list[Item]:
    return [
        Item(f"{paper}/{name}", folder, about, view.removeprefix("="), not view.startswith("="))
        for name, (about, view) in rows.items()
    ]


ITEMS = (
    *_items(
        "moldable21",
        "moldable",
        {
            "example": ("section 4.7: four jobs on four processors", "example"),
            "table1": ("allocation rules by speedup model", "table1"),
            "figure4": ("allocation rules and orders, small and large", "figure"),
            "figure5-p": ("allocation rules by P", "figure"),
            "figure5-n": ("allocation rules by n", "figure"),
            "figure5-lambda": ("allocation rules by lambda", "figure"),
        },
    ),
    *_items(
        "rigid21",
        "rigid",
        {
            "figure4a": ("shelves, filled and not, by q-bar", "figure"),
            "figure4b": ("shelves, filled and not, by P", "figure4b"),
            "figure5": ("heuristics and orders by q-bar", "figure"),
            "figure6": ("heuristics and orders by P", "figure"),
            "table1": ("each day of a log as one set (--input LOG)", "log.table1"),
            "proposition3": ("R-SHELF's expected ratio, by summation", "=prop3.values"),
        },
    ),
    *_items(
        "volatile13",
        "volatile",
        {
            "table1": ("17 heuristics, m = 5", "table1"),
            "table2": ("8 heuristics, m = 10", "table2"),
            "figure2": ("difference to IE by wmin, m = 10", "figure2"),
            "realtraces": ("section VIII: on spot instances (--input DIR)", "real.view"),
        },
    ),
    *_items(
        "malleable17",
        "cosched",
        {
            "example": ("section 4: neither greedy allocation is optimal", "examples"),
            "figure7": ("without faults, n = 100", "figure"),
            "figure8": ("without faults, n = 1000", "figure"),
            "figure9": ("by n, p = 5000", "figure"),
            "figure10": ("by p, n = 100", "figure10"),
            "figure11": ("one run, fault by fault", "=single.values"),
            "figure12": ("by the MTBF, p = 1000", "figure"),
            "figure13": ("by the MTBF, p = 5000", "figure"),
            "figure14": ("by the cost of checkpoints", "figure"),
            "figure15": ("by small costs of checkpoints", "figure"),
            "figure16": ("by the sequential fraction", "figure"),
        },
    ),
    *_items(
        "redundancy17",
        "redundancy",
        {
            "study-load": ("flowtime and stretch by load", "study"),
            "study-servers": ("flowtime and stretch by the number of servers", "study"),
            "study-speed": ("flowtime and stretch by the law of speeds", "study"),
            "study-sizes": ("flowtime and stretch by the law of sizes", "study"),
            "bounds": ("flowtime over lower bounds, and Theorem 1", "bounds"),
            "lemmas": ("lemmas 1, 2 and 5, numerically", "=lemmas.values"),
        },
    ),
    *_items(
        "study",
        "studies",
        {
            "enrolment": ("how many workers are worth enrolling?", "enrolment.view"),
            "survive": (
                "checkpoint, replicate or restart, on spot instances? (--input DIR)",
                "survive.view",
            ),
            "clonelimit": (
                "how far does a master's bandwidth let cloning and images pay?",
                "clonelimit.view",
            ),
            "reservations": (
                "what are reservations worth when work fails? (--input LOG)",
                "reservations.view",
            ),
            "backfilling": (
                "RLScheduler's published table (--input LOG: lublin-256)",
                "backfilling.view",
            ),
        },
    ),
)


def current(name: str) -> str:
    """The name with its paper's key, where it has the paper's number."""
    paper, slash, rest = name.partition("/")
    return f"{NUMBERS.get(paper, paper)}{slash}{rest}"


def item(name: str) -> Item:
    """The one of that name. Raises InputError."""
    for one in ITEMS:
        if one.name == name:
            return one
    raise InputError(COMMAND_LINE, "NAME", f"{name!r} is not there", "a name of `holdfast papers`")
