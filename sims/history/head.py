"""Reads what the scenario in a log's first line says of jobs and platform, which no later line
repeats."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from attrs import define, frozen

if TYPE_CHECKING:
    from actors.worker_messages import Needs
    from sims.scenario import Scenario
    from sims.scenario.jobs import AnyJob
    from sims.scenario.platform import MasterSection, StorageSection


@frozen
class Measures:
    """How a run is to be measured, where its scenario says so."""

    bound: float
    """Least run time for bounded slowdown, which counts shorter runs as this long, time units."""
    hour: float | None
    """Number of time units in an hour; None if it is not known, so that no measure by the hour is
    computed."""
    prices: tuple[float, ...]
    """Prices of an hour of a processor that is busy, idle, reclaimed, down; empty if they are not
    known."""
    watts: tuple[float, ...]
    """Power draw of a processor that is busy, idle, reclaimed, down, watts; empty if it is not
    known."""


@define(eq=False)
class Head:
    """The scenario of a log, for readers of the log. Its text is read when it is first asked for; a
    log that was written by hand may have none, and then nothing of the scenario is known."""

    text: str = ""
    """The scenario as a file, from the log's first line."""
    given: Scenario | None = None
    """The scenario itself, in the process that runs it."""

    @cached_property
    def scenario(self) -> Scenario | None:
        """The whole scenario; None if the log has none. Raises InputError where the text is no
        valid scenario."""
        if self.given is not None or not self.text:
            return self.given
        from sims.scenario.loader import scenario_of  # few readers ask, and the import takes long

        return scenario_of(self.text, "the log's first line")

    @cached_property
    def _listed(self) -> dict[str, AnyJob]:
        """Maps the names of the jobs that the scenario lists to their entries."""
        jobs = () if self.scenario is None else self.scenario.job.jobs
        return {it.name or f"J{k}": it for k, it in enumerate(jobs, 1)}

    # --- the whole run and the platform -------------------------------------------------------

    @cached_property
    def measures(self) -> Measures | None:
        """How the run is to be measured; None: as is usual."""
        section = None if self.scenario is None else self.scenario.measures
        if self.scenario is None or section is None:
            return None
        rates = (
            tuple(it.model_dump().values()) if it else () for it in (section.prices, section.watts)
        )
        return Measures(section.bound, section.known_hour(self.scenario.times), *rates)

    @cached_property
    def rents(self) -> dict[int, float]:
        """Maps each worker that has a price of its own to what it costs per time unit in which a
        run holds it."""
        if self.given is None and "price" not in self.text:
            return {}  # reading the text takes long
        rents = {} if self.scenario is None else self.scenario.rents
        if self.scenario is None or not rents:
            return {}
        from sims.scenario import MeasuresSection  # the scenario is read already

        hour = (self.scenario.measures or MeasuresSection()).hours(self.scenario.times, True)
        return {worker: price / hour for worker, price in rents.items()} if hour else {}

    @property
    def link(self) -> MasterSection | None:
        """The master, whose channels are the link of all workers; None if there is none."""
        return None if self.scenario is None else self.scenario.master

    @property
    def node(self) -> int:
        """Number of workers of a node."""
        platform = None if self.scenario is None else self.scenario.platform
        return 1 if platform is None else platform.node

    @property
    def spares(self) -> int:
        """Number of spares, the workers with the highest numbers, which start no job."""
        platform = None if self.scenario is None else self.scenario.platform
        return 0 if platform is None else platform.spares

    @property
    def calls(self) -> bool:
        """Whether the platform keeps workers that are called when they are needed."""
        platform = None if self.scenario is None else self.scenario.platform
        return platform is not None and platform.calls

    @property
    def repaired(self) -> bool:
        """Whether what faults strike is repaired, in place of a downtime."""
        return self.scenario is not None and self.scenario.repair is not None

    @property
    def laws_of_some(self) -> frozenset[int]:
        """Numbers of the laws of faults for which the scenario gives the numbers of the units that
        they strike."""
        laws = () if self.scenario is None else self.scenario.faults.laws
        return frozenset(number for number, law in enumerate(laws) if law.names_units)

    @property
    def storage(self) -> StorageSection | None:
        """The shared storage; None if there is none."""
        return None if self.scenario is None else self.scenario.storage

    # --- jobs ---------------------------------------------------------------------------------

    def before(self, job: str, first: bool) -> float:
        """Return the time that passes before the members of a run of the job fetch anything.
        `first`: the run takes over no kept members."""
        section = None if self.scenario is None else self.scenario.job
        return 0 if section is None else section.before(self._listed.get(job), first)

    def deadlines(self) -> dict[str, float]:
        """Map the names of the jobs with a deadline to these, as times after their submissions."""
        own = self._listed.items()
        return {name: it.deadline for name, it in own if it.deadline is not None}

    def messages(self, job: str) -> Needs | None:
        """Return the sizes of the messages that members of the job's runs fetch from the master;
        None if there is no master."""
        if self.link is None:
            return None
        own = self._listed.get(job)
        return self.link.needs(job, *((own.program, own.data, own.image) if own else ()))

    def stored(self, job: str) -> float | None:
        """Return the bytes of a checkpoint of the job on shared storage; None if it keeps none
        there."""
        if self.storage is None or self.scenario is None:
            return None
        own = self._listed.get(job)
        section = (own.protection if own else None) or self.scenario.protection
        return section.bytes if section.stores else None
