"""Files of expected values, from the folder that `pytest --cases DIR` names."""

from __future__ import annotations

import json
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
