"""How commands, and the scripts beside them, run: errors and Ctrl-C are one line; tables are never
cut."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sims.cli.signals import Terminated
from sims.errors import (
    FAILED,
    INTERRUPTED,
    MISUSED,
    TERMINATED,
    InputError,
    note,
    show,
    visible,
)
from sims.options import call, command_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Column, Table

UNCUT = 10_000
"""Columns where nobody's terminal says how many there are: no table has more."""


def run_script(run: Callable[..., None], program: str, words: Sequence[str] | None = None) -> int:
    """Run what the function's signature and docstring declare; returns the exit code."""
    command, given = command_of(run, program), sys.argv[1:] if words is None else words
    return guarded(lambda: call(command, program, given))


def guarded(body: Callable[[], int]) -> int:
    """Run `body`; the exit code, and one line on stderr where it is not 0.

    What a user got wrong is 2, a run that failed 1, Ctrl-C 130; a reader who leaves is no error.
    """
    try:
        return body()
    except KeyboardInterrupt as interrupt:
        more = str(interrupt) or "; what was logged so far is readable"
        ended = isinstance(interrupt, Terminated)
        note(f"{'terminated' if ended else 'interrupted'}{more}")
        return TERMINATED if ended else INTERRUPTED
    except BrokenPipeError:
        return 0
    except MemoryError:
        note("this takes more memory than there is")
    except InputError as error:
        note(error)
    except Exception as error:
        return _failed(error)
    return MISUSED


def _failed(error: Exception) -> int:
    """Tell why a run ended early: the user's policy is input, the rest is our mistake."""
    from actors.decisions import BadDecision
    from actors.runtime import RuntimeFault

    if isinstance(error, OSError) and error.filename:  # of a name that no file can have, say
        note(InputError(str(error.filename), "", str(error.strerror)))
    elif isinstance(error, BadDecision):
        note(error)
    elif isinstance(error, RuntimeFault):
        note(f"the run failed: {error}")
        return FAILED
    else:
        raise error
    return MISUSED


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
