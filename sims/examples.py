"""The scenarios that come with the package."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sims.errors import InputError
from sims.writing import refusing

FOLDER = Path(__file__).parent / "scenarios"


def examples() -> dict[str, str]:
    """Name -> what it shows, in a sentence."""
    return {path.stem: _about(path) for path in sorted(FOLDER.glob("*.toml"))}


def example(name: str) -> Path:
    """Where the example is. Raises InputError where there is none of that name."""
    path = FOLDER / f"{name.removesuffix('.toml')}.toml"
    if path.stem not in examples():
        raise InputError("examples", "NAME", f"{name!r} is none", ", ".join(examples()))
    return path


def copy(name: str, folder: Path) -> list[Path]:
    """Copy the example to `folder`, with the files that it names; returns the copies.

    Raises InputError where there is none of that name, and for a file that is there already.
    """
    source = example(name)
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    sources = [source, *(FOLDER / file for file in _files(table))]
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


def _alike(source: Path, copy: Path) -> bool:
    return copy.is_file() and copy.read_bytes() == source.read_bytes()


def _files(value: Any) -> Iterator[str]:
    """What keys called `file` say, wherever."""
    if isinstance(value, dict):
        own = value.get("file")
        if isinstance(own, str):
            yield own
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _files(inner)


def _about(path: Path) -> str:
    """The first sentence of the comment at its top."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line.removeprefix("#").strip() for line in lines[: _comments(lines)]]
    return " ".join(head).partition(". ")[0].rstrip(".:")


def _comments(lines: list[str]) -> int:
    return next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
