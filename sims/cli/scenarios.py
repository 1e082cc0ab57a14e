"""What all commands that run a scenario file say about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve

from sims.errors import InputError


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Name `file` in errors of the scenario's own checks, which do not know where it came from."""
    try:
        yield
    except InputError as error:
        source = str(file) if error.source == "scenario" else error.source
        raise evolve(error, source=source) from None
