"""Types of event fields, each with its unit and meaning.

The log's documentation and its schema are read off these types and the fields' docstrings.
"""

from __future__ import annotations

from typing import Annotated

from attrs import frozen

NONE = "none"
"""Unit of what names, chooses or tells something rather than measures or counts it."""


@frozen
class Quantity:
    """What a number or a text in the log is."""

    unit: str = NONE
    meaning: str = ""
    """Of a field whose class says nothing of it."""
    pattern: str = ""
    """What a text matches, as a regular expression."""


JobName = Annotated[str, Quantity(meaning="The job's name.")]
RunNumber = Annotated[int, Quantity(meaning="The run's number within its job, from 0.")]
WorkerNumber = Annotated[int, Quantity(meaning="The worker's number, from 0.")]
IterationNumber = Annotated[int, Quantity(meaning="The iteration's number, from 0.")]
WorkerSet = Annotated[
    str, Quantity("worker numbers", pattern=r"^[0-9]+(-[0-9]+)?( [0-9]+(-[0-9]+)?)*$")
]
"""An interval set, such as `0-3 5`."""

WorkerCount = Annotated[int, Quantity("workers", "How many workers.")]
JobCount = Annotated[int, Quantity("jobs", "How many jobs.")]
RunCount = Annotated[int, Quantity("runs", "How many runs there were.")]
CopyCount = Annotated[int, Quantity("copies", "The most runs of the job at once.")]
TaskCount = Annotated[int, Quantity("tasks")]

Time = Annotated[float, Quantity("time")]
"""In the unit that the first record names."""
Work = Annotated[float, Quantity("work")]
"""The time that computing takes at speed 1."""
Rate = Annotated[float, Quantity("per time", "What it advances by per unit of time; 0: it waits.")]
Speed = Annotated[float, Quantity("work per time", "Work per unit of time while the worker is UP.")]
Share = Annotated[float, Quantity("part of a worker")]
