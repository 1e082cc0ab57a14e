"""Files of expected values, from the folder that `pytest --cases DIR` names."""

from __future__ import annotations

import gzip
import json
import tomllib
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

READ = (
    *("cosched.json", "fleet*.json", "fleet.json.gz", "log/*.toml", "moldable.json"),
    "oneworld.json",
    *("practice.json", "redundancy.json", "rigid.json", "table1-volatile.json"),
    "volatile-figure1.json",
    "volatile.json",
)
"""The files of such a folder that tests read, as patterns of paths."""
DOCUMENTS = ".md"
INPUTS = "reports"
"""Name of a folder of inputs whose right answers are told in words: `test_reports.py` has them."""


def checked_folder(folder: Path) -> Path:
    """Return the folder. Raises UsageError where there is none, where it holds no file of cases,
    and for a file that no test reads: its expected values would be taken for met."""
    if not folder.is_dir():
        raise pytest.UsageError(f"--cases={folder}: there is no such folder")
    files = [it.relative_to(folder) for it in sorted(folder.rglob("*")) if it.is_file()]
    files = [it for it in files if it.suffix != DOCUMENTS and not it.name.startswith(".")]
    cases = [it for it in files if it.parts[0] != INPUTS]
    if not cases:
        raise pytest.UsageError(f"--cases={folder}: no file of cases; read are {', '.join(READ)}")
    unread = [it.as_posix() for it in cases if not any(it.match(name) for name in READ)]
    if unread:
        told = f"no test reads {', '.join(unread)}; read are {', '.join(READ)}"
        raise pytest.UsageError(f"--cases={folder}: {told}")
    return folder


def case_file(folder: Path, name: str) -> dict[str, Any]:
    """What `name` holds; the test is skipped where the folder has no such file."""
    assert name in READ
    path = folder / name
    if not path.exists():
        pytest.skip(f"{folder} has no {name}")
    content = path.read_bytes()
    whole = gzip.decompress(content) if path.suffix == ".gz" else content
    found: dict[str, Any] = json.loads(whole)
    return found


def case_files(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that fit a pattern; the test is skipped where there is none."""
    assert pattern in READ
    found = sorted(folder.glob(pattern))
    if not found:
        pytest.skip(f"{folder} has no {pattern}")
    return found


def listed(test: str, table: str) -> list[Any]:
    """A table of cases of the test file `test`, from the TOML file beside it."""
    text = Path(test).with_suffix(".toml").read_text(encoding="utf-8")
    found: list[Any] = tomllib.loads(text)[table]
    return found


def first_difference(found: Any, expected: Any) -> str:
    """Where two values differ first, and what is there on both sides: `[3][1]: 5.0, expected 4.0`;
    empty where they are equal."""
    if found == expected:
        return ""
    if isinstance(found, dict) and isinstance(expected, dict):
        keys = [*expected, *(key for key in found if key not in expected)]
        sides = ((it, found.get(it, NOTHING), expected.get(it, NOTHING)) for it in keys)
        pairs = [(f"[{key!r}]", ours, theirs) for key, ours, theirs in sides]
    elif isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        both = enumerate(zip_longest(found, expected, fillvalue=NOTHING))
        pairs = [(f"[{place}]", ours, theirs) for place, (ours, theirs) in both]
    else:
        pairs = []
    inner = ((place, first_difference(ours, theirs)) for place, ours, theirs in pairs)
    told = next((f"{place}{what}" for place, what in inner if what), None)
    return f": {found!r}, expected {expected!r}" if told is None else told


class Nothing:
    """Stands where one of two values has no more."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING = Nothing()
