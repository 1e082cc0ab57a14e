"""Types of event fields, each with its unit and meaning.

The log's documentation and its schema are generated from these types and the fields' docstrings.
"""

from __future__ import annotations

from typing import Annotated

from attrs import frozen

NONE = "none"
"""Unit of a field that names or chooses something and neither measures nor counts."""


@frozen
class Quantity:
    """Unit and meaning of a number or a text in the log."""

    unit: str = NONE
    meaning: str = ""
    """Meaning of a field that has no docstring of its own."""
    pattern: str = ""
    """Regular expression that the text matches."""


JobName = Annotated[str, Quantity(meaning="The job's name.")]
RunNumber = Annotated[int, Quantity(meaning="The run's number within its job, from 0.")]
WorkerNumber = Annotated[int, Quantity(meaning="The worker's number, from 0.")]
IterationNumber = Annotated[int, Quantity(meaning="The iteration's number, from 0.")]
WorkerSet = Annotated[
    str, Quantity("worker numbers", pattern=r"^[0-9]+(-[0-9]+)?( [0-9]+(-[0-9]+)?)*$")
]
"""An interval set, such as `0-3 5`."""

WorkerCount = Annotated[int, Quantity("workers", "Number of workers.")]
GroupCount = Annotated[int, Quantity("groups", "Number of groups of members.")]
JobCount = Annotated[int, Quantity("jobs", "Number of jobs.")]
RunCount = Annotated[int, Quantity("runs", "Number of runs.")]
CopyCount = Annotated[int, Quantity("copies", "Largest number of runs of the job at once.")]
TaskCount = Annotated[int, Quantity("tasks")]

Time = Annotated[float, Quantity("time")]
"""Times are in the unit that the first record names."""
Work = Annotated[float, Quantity("work")]
"""Work is the time that computing takes at speed 1."""
Rate = Annotated[float, Quantity("per time", "Progress per unit of time; 0 while the run waits.")]
Speed = Annotated[float, Quantity("work per time", "Work per unit of time while the worker is UP.")]
Bytes = Annotated[float, Quantity("bytes")]
Bandwidth = Annotated[float, Quantity("bytes per time")]
Share = Annotated[float, Quantity("part of a worker")]
