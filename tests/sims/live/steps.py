"""Steps of jobs that live runs compute, in a module of their own: each process that computes them
imports it anew, and what it imports."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.float64]


def multiply(state: bytes, step: int) -> bytes:
    """Some ten milliseconds of matrix products, as one step of a job."""
    field = np.frombuffer(state, dtype=np.uint8).astype(float)
    square = np.outer(field, field + step)
    for _ in range(200):
        square = square @ square.T % 251
    return square[0].astype(np.uint8).tobytes()


def heat(state: dict[str, Any], step: int) -> dict[str, Any]:
    """Some milliseconds of a step of diffusion; the file that the state names learns who computes
    which step."""
    Path(state["file"]).write_text(f"{os.getpid()} {step}.")
    time.sleep(0.004)
    return {**state, "field": diffused(state["field"], step)}


def diffused(field: Field, step: int) -> Field:
    """One step of diffusion."""
    return (field + np.roll(field, 1, 0) + np.roll(field, 1, 1)) / 3 + step / 1e6


def count(state: int, step: int) -> int:
    """A step that adds one, after some milliseconds."""
    time.sleep(0.004)
    return state + 1
