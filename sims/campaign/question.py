"""Holds a question to many runs of a scenario, in the one form in which the command line, Python
and a campaign file ask it."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from attrs import field, frozen

from sims.campaign.axes import is_object
from sims.campaign.batches import OwnMeasure
from sims.campaign.certainty import Certainty
from sims.campaign.door import CALL, Door
from sims.campaign.executors import Workers, given
from sims.campaign.measured import Measured
from sims.campaign.sections import PictureSection
from sims.campaign.shifts import Shifts
from sims.campaign.subject import Subject
from sims.campaign.varied import Ranges, Variants

Varied = Variants | Ranges | Shifts
"""How a question varies its scenario."""
Watch = Callable[[int, int], None]
"""A function that is called with the runs done and the runs asked for so far."""


def unwatched(done: int, total: int) -> None:
    """Ignore the progress of a campaign: the Watch of a question that is given none."""


def unsaid(text: str) -> None:
    """Ignore what is said meanwhile."""


@frozen
class Where:
    """Where the runs of a question are made, kept and watched."""

    store: Path | None = None
    """Folder of results; a search or campaign that was stopped goes on from it. None keeps the
    results in memory."""
    workers: Workers | Executor | None = None
    """Pool of processes or other executor that makes the runs; default: processes on this machine,
    one per core."""
    watch: Watch = unwatched
    say: Callable[[str], object] = unsaid
    """Function that is called with the plan of a search, once the time of a run is known."""


@frozen(eq=False)
class Question:
    """A question about many runs of a scenario. `asking.compare`, `tuning.tune` and
    `sensitivity.sensitivity` answer the three ways in which it may vary it."""

    subject: Subject
    """Scenario that it is about."""
    varied: Varied = field(factory=Variants)
    measured: Measured = field(factory=Measured)
    surely: Certainty = field(factory=Certainty)
    where: Where = field(factory=Where)
    door: Door = CALL
    name: str = "question"
    """Name in titles, and of a campaign's results."""
    picture: PictureSection | None = None
    """Picture that a campaign file describes."""

    def __attrs_post_init__(self) -> None:
        if self.where.store is not None and self.objects:
            problem = "results of objects are not known again"
            accepted = "policies and measures as package.module:Name"
            raise self.door.refused("store", problem, accepted)

    @property
    def title(self) -> str:
        """The scenario in titles: the name of its file without the suffix, or its own name."""
        source = self.subject.source
        return source.stem if isinstance(source, Path) else self.name

    @property
    def objects(self) -> list[Any]:
        """Objects of a program that runs need: policies and the like, and measures."""
        settings = (pair for it in self.varied.variants.values() for pair in it.items())
        places = (
            *settings,
            *((key, it) for key, values in self.varied.axes.items() for it in values),
        )
        own = [it.given for it in self.measured.gauges if isinstance(it, OwnMeasure) and it.given]
        varied = [value for key, value in places if is_object(key, value)]
        return [*self.subject.given, *varied, *own]

    @property
    def workers(self) -> Workers | Executor | None:
        """Workers that can run what the question asks, or None for the processes of this machine.

        New processes know a program's objects if they begin as copies of this one and can import
        them; else a thread of this process runs them.
        """
        mine = self.objects
        if self.where.workers is not None or not mine:
            return self.where.workers
        try:
            forked = pickle.dumps(mine) and multiprocessing.get_start_method() == "fork"
        except Exception:  # of what is no module's: a lambda, say
            forked = False
        return None if forked else given(ThreadPoolExecutor(1), slots=1)
