"""Temporary folders for the processes of live runs, and the removal of those that killed runs left.

A run removes its folder at its end. A killed run cannot, so each run that starts removes the
folders of the same user that are older than a day and locked by no other run.
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
"""Age in seconds from which on a folder without a lock counts as left behind."""


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a new temporary folder within a `with` block, and remove it at its end; remove first
    those that killed runs have left."""
    sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        held = os.open(name, os.O_RDONLY)
        try:
            take(held)
            yield Path(name)
        finally:
            os.close(held)


def sweep(place: Path) -> None:
    """Remove from `place` the folders of killed runs: those of this user that are older than a day
    and locked by no process."""
    for path in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            about = path.lstat()
            mine = about.st_uid == os.geteuid() and stat.S_ISDIR(about.st_mode)
            if mine and time.time() - about.st_mtime > DAY and _abandoned(path):
                shutil.rmtree(path, ignore_errors=True)


def _abandoned(path: Path) -> bool:
    """Return whether no process has a lock on this folder: the kernel releases a killed process's
    lock."""
    # O_NOFOLLOW: in a shared folder another user could put a link in this place.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        return take(descriptor)
    finally:
        os.close(descriptor)
