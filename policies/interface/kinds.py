"""Names the kinds of jobs."""

from __future__ import annotations

from enum import StrEnum


class JobKind(StrEnum):
    """Kinds of jobs, by when and how the number of their processors is chosen."""

    RIGID = "rigid"
    """The user chooses the number."""
    MOLDABLE = "moldable"
    """The scheduler chooses the number at each start of a run."""
    MALLEABLE = "malleable"
    """The scheduler changes the number while a run is under way."""
    ITERATIVE = "iterative"
    """The job consists of tasks, which are dealt to workers anew in each iteration (volatile13)."""
