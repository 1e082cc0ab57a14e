"""Every table and figure of the five papers, and studies of our own: what `catalogue.toml` says of
them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from attrs import Factory, evolve, frozen

from sims.campaign.campaign import Campaign, load_campaign
from sims.campaign.results import Results
from sims.errors import COMMAND_LINE, InputError
from sims.papers.values import Value

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
        return [evolve(it, paper=self._printed(it)) for it in made]

    def _printed(self, it: Value) -> str | None:
        row = self.printed.get(it.row, self.printed.get("*", ()))
        return dict(zip(self.printed.get("columns", ()), row, strict=False)).get(it.what) or None

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
