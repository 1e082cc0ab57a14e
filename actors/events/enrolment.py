"""Parameters of enrolment: iterations, workers' times per task, and the policy's beliefs
(volatile13)."""

from __future__ import annotations

from typing import Annotated

from attrs import frozen

from actors.events.quantities import JobName, Quantity, TaskCount, WorkerSet
from actors.runtime import Event

TaskTime = Annotated[float, Quantity("time per task")]
Probability = Annotated[float, Quantity("probability")]
Row = tuple[Probability, Probability, Probability]
Chain = tuple[Row, Row, Row]


@frozen
class TasksDescribed(Event):
    """An iterative job: its iterations, and the time of a task on each worker."""

    job: JobName
    tasks: TaskCount
    """m: tasks of an iteration."""
    iterations: Annotated[int, Quantity("iterations")]
    """How many it has."""
    times: tuple[tuple[WorkerSet, TaskTime], ...]
    """(workers, w_q): the time that a task takes each of them at speed 1."""


@frozen
class BoundsDescribed(Event):
    """How many tasks of a job an enrolment may give its workers."""

    job: JobName
    bounds: tuple[tuple[WorkerSet, TaskCount], ...]
    """(workers, mu_q): the most tasks that each of them holds at once."""


@frozen
class ChainsBelieved(Event):
    """What the enrolment policy believes of workers' availability, true or not; once."""

    chains: tuple[tuple[WorkerSet, Chain], ...]
    """(workers, P_q): transition probabilities from slot to slot, rows and columns UP, RECLAIMED,
    DOWN."""


VOCABULARY: tuple[type[Event], ...] = (TasksDescribed, BoundsDescribed, ChainsBelieved)
