"""What all commands that read a log say about it."""

from __future__ import annotations

import sys

from sims.log import LogFile


def note_if_cut(log: LogFile) -> None:
    """Say on stderr that the log's last line was cut, where it was."""
    if log.cut:
        print(
            f"holdfast: {log.path}: the last line is cut; read up to event {log.read - 1}",
            file=sys.stderr,
        )
