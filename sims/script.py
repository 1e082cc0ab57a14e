"""How the scripts beside `holdfast` run: errors and Ctrl-C are one line, tables are never cut."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from actors.runtime import RuntimeFault
from sims.errors import InputError
from sims.options import COMMAND_LINE

Run = Callable[[argparse.Namespace], None]

UNCUT = 10_000
"""Columns where nobody's terminal says how many there are: no table has more."""

MISUSED, FAILED, INTERRUPTED = 2, 1, 130


def run_script(parser: argparse.ArgumentParser, words: Sequence[str] | None, run: Run) -> int:
    """Parse the words and run; returns the exit code.

    What a user got wrong is one line and 2, a run that failed 1, Ctrl-C 130.
    """
    return guarded(parser.prog, lambda: run(parser.parse_args(words)))


def prepare_pictures(folder: Path) -> None:
    """Make the folder. Raises InputError where it cannot be made, or without matplotlib: what
    would be found out after a campaign of hours is found out before it."""
    from sims.plots.figure import blank_figure

    blank_figure()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made: {error.strerror}"
        raise InputError(str(folder), "", problem, "a folder of yours") from None


def guarded(program: str, body: Callable[[], None]) -> int:
    """Run `body`; the exit code, and one line on stderr where it is not 0."""
    try:
        body()
    except InputError as error:
        # Errors of the command line name the program themselves.
        named = error.source == COMMAND_LINE
        return _told(str(error) if named else f"{program}: {error}", MISUSED)
    except RuntimeFault as error:
        return _told(f"{program}: the run failed: {error}", FAILED)
    except KeyboardInterrupt as interrupt:
        # Whoever presses again while all is tidied up would only see a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return _told(f"{program}: interrupted{interrupt}", INTERRUPTED)
    return 0


def _told(line: str, code: int) -> int:
    print(line, file=sys.stderr)
    return code


def wide_console() -> Console:
    """A console that cuts and wraps nothing where its output is piped or kept."""
    console = Console()
    return console if console.is_terminal else Console(width=UNCUT)
