"""How the scripts beside `holdfast` run: errors and Ctrl-C are one line, tables are never cut."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sims.errors import COMMAND_LINE, FAILED, INTERRUPTED, MISUSED, InputError, show, visible
from sims.options import call, command_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Column, Table

UNCUT = 10_000
"""Columns where nobody's terminal says how many there are: no table has more."""


def run_script(run: Callable[..., None], program: str, words: Sequence[str] | None = None) -> int:
    """Run what the function's signature and docstring declare; returns the exit code.

    What a user got wrong is one line and 2, a run that failed 1, Ctrl-C 130.
    """
    command, given = command_of(run, program), sys.argv[1:] if words is None else words
    return guarded(program, lambda: call(command, program, given))


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


def guarded(program: str, body: Callable[[], object]) -> int:
    """Run `body`; the exit code, and one line on stderr where it is not 0."""
    from actors.runtime import RuntimeFault

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


def show_table(table: RenderableType) -> None:
    """Print it; where the output is piped or kept, nothing is cut or wrapped."""
    from rich.console import Console

    console = Console()
    (console if console.is_terminal else Console(width=UNCUT)).print(table)


def grid(
    left: Iterable[str | Column],
    right: Iterable[str],
    rows: Iterable[Iterable[object]],
    title: str = "",
) -> Table:
    """A table of words on the left, and numbers on the right."""
    from rich.box import SIMPLE
    from rich.table import Column, Table
    from rich.text import Text

    numbers = (Column(head, justify="right", no_wrap=True) for head in right)
    table = Table(*left, *numbers, title=Text(visible(title)) if title else None, box=SIMPLE)
    for row in rows:
        table.add_row(*(Text(visible(str(cell))) for cell in row))
    return table


def list_pairs(pairs: Iterable[tuple[str, str]], indent: str = "") -> None:
    """Print names, and beside them what they are."""
    told = list(pairs)
    width = max(len(name) for name, _ in told)
    show(*(f"{indent}{name:<{width}}  {about}" for name, about in told))
