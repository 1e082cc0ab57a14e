"""Files of expected values, from the folder that `pytest --cases DIR` names."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest


def case_file(folder: Path, name: str) -> dict[str, Any]:
    """What `name` holds; the test is skipped where the folder has no such file."""
    path = folder / name
    if not path.exists():
        pytest.skip(f"{folder} has no {name}")
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def listed(test: str, table: str) -> list[Any]:
    """A table of cases of the test file `test`, from the TOML file beside it."""
    text = Path(test).with_suffix(".toml").read_text(encoding="utf-8")
    found: list[Any] = tomllib.loads(text)[table]
    return found
