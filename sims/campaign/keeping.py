"""Results of tasks that are no scenarios: JSON lines by repr(task), appended as they come."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TextIO

from sims.errors import InputError


def keep_line(file: TextIO, task: str, result: object) -> None:
    """Append a result; it is on disk on return."""
    file.write(json.dumps({"task": task, "result": result}) + "\n")
    file.flush()


def appended(store: Path) -> TextIO:
    """The store, open. Raises InputError where it cannot be used."""
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        return store.open("a")
    except OSError as error:
        raise _unusable(store, error) from None


def _unusable(store: Path, error: OSError) -> InputError:
    return InputError(str(store), "", f"cannot be used: {error.strerror}", "a file of yours")


def stored(store: Path) -> dict[str, Any]:
    """Results of an earlier campaign by repr(task); a last line cut short is left out, and cut
    off the file. Raises InputError where the file holds something else or cannot be read."""
    if not store.exists():
        return {}
    try:
        lines = store.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise _unusable(store, error) from None
    results, whole = {}, 0
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            os.truncate(store, whole)
            break
        whole += len(line)
        try:
            entry = json.loads(line)
            results[entry["task"]] = entry["result"]
        except (ValueError, KeyError, TypeError):
            accepted = "the results of an earlier campaign, or a new file"
            raise InputError(str(store), f"line {number}", "no result", accepted) from None
    return results
