"""Finds the files and the code that a scenario names, and computes their checksums, by which a log
knows them again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path

from attrs import frozen

from sims.errors import InputError
from sims.scenario import Scenario
from sims.scenario.own_code import FORM, located
from sims.scenario.tables import leaves

FILES = re.compile(r"(^|\.)(file|path)(\.\d+)?$")
"""Pattern of the dotted keys whose values name files."""


@frozen
class Input:
    """A file that a scenario names, or the module of code that it names."""

    name: str
    """Name in the scenario: of a file, or `package.module:Name`."""
    size: int
    """Size in bytes."""
    checksum: str
    """SHA-256 checksum in hexadecimal."""

    @classmethod
    def of(cls, name: str, path: Path) -> Input:
        """Return the input of this name that the file at `path` is now."""
        with path.open("rb") as file:
            return cls(name, path.stat().st_size, file_digest(file, "sha256").hexdigest())

    @property
    def row(self) -> tuple[str, int, str]:
        """Name, size and checksum, as a log has them."""
        return self.name, self.size, self.checksum

    def problem(self, folder: Path) -> str | None:
        """Return what is wrong with the input in `folder`, in words; None if it is the same
        there."""
        path = path_of(self.name, folder)
        if path is None:
            return "is missing"
        found = Input.of(self.name, path)
        if found.size != self.size:
            return f"has {found.size:,} bytes, and had {self.size:,}"
        return None if found == self else "has the same size and other contents"


def inputs_of(scenario: Scenario, folder: Path) -> Iterator[Input]:
    """Yield each file and module that the scenario names, once, in the order of its keys. Names are
    looked for in `folder`; those of Holdfast's own code are left out."""
    names = {}
    for key, value in leaves(scenario.model_dump(exclude={"name", "log"}, warnings=False)):
        if isinstance(value, str) and (FILES.search(key) or FORM.fullmatch(value)):
            path = path_of(value, folder)
            if path is not None:
                names[value] = path
    for name, path in names.items():
        yield Input.of(name, path)


def path_of(name: str, folder: Path) -> Path | None:
    """Return the path of a file, or of the module of code, that a scenario names, looked for in
    `folder`; None if there is none."""
    if FORM.fullmatch(name):
        try:
            return located(name, folder, "")
        except InputError:
            return None
    path = folder / name
    return path if path.is_file() else None
