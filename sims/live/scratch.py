"""The folder in which a live run's processes keep what they need, and what killed runs left of it.

A run removes its folder. One that is killed cannot: the next run that starts removes what is older
than a day, if it is its user's own and no run holds it.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sims.log_writer import take

PREFIX = "holdfast-live-"
DAY = 86_400.0


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder, which is removed; those that killed runs left are removed first."""
    sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        held = os.open(name, os.O_RDONLY)
        try:
            take(held)
            yield Path(name)
        finally:
            os.close(held)


def sweep(place: Path) -> None:
    """Remove the folders of runs that were killed: those that are this user's, older than a day,
    and held by no process."""
    for path in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            about = path.lstat()
            mine = about.st_uid == os.geteuid() and stat.S_ISDIR(about.st_mode)
            if mine and time.time() - about.st_mtime > DAY and _abandoned(path):
                shutil.rmtree(path, ignore_errors=True)


def _abandoned(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        return take(descriptor)
    finally:
        os.close(descriptor)
