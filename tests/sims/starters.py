"""The policies of `holdfast new policy`, as modules."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from types import ModuleType

from sims.examples import STARTERS


def starter(point: str) -> ModuleType:
    """The starting file for a decision point, imported."""
    path = STARTERS / f"{point}.py.txt"
    module = ModuleType(f"starters_{point}")
    SourceFileLoader(module.__name__, str(path)).exec_module(module)
    return module
