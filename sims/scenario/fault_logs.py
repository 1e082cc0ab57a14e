"""Faults by a log of failures: a law that is fitted to it, or the log itself, replayed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, cast

from numpy.random import Generator
from pydantic import PrivateAttr

from actors.events import Age
from actors.hazards import Faults, Outages, replayed_outages
from sims.errors import InputError, unfit
from sims.readers.traces import NodeId
from sims.scenario.fault_laws import FaultFields, Weibull
from sims.tables.fields import Accepts, Natural, Time

if TYPE_CHECKING:
    from sims.readers.failures import FailureLog


def unread(how: str) -> InputError:
    """Return the error of faults whose log has not been read; `how`: their kind."""
    problem = f"is {how} where a scenario file is read, or a table"
    return unfit("faults.kind", problem, "holdfast.run of a file, or a table")


class FittedFaults(FaultFields):
    """`{kind = "fitted", file = "event_trace.tab"}`: a law, fitted to a log of failures."""

    kind: Literal["fitted"] = "fitted"
    file: str
    """A log in FTA form, from the scenario file's folder; `.gz` and `.xz` are unpacked."""
    law: Literal["weibull", "exponential"] = "weibull"
    """Of the times from one failure of a node to its next."""
    platform: int | None = None
    """platform_id whose nodes count; default: all do."""
    component: int | None = None
    """component_id whose events count; default: all do."""
    age: Age = Age.STATIONARY
    """How old workers are at the start: `stationary`: in the middle of their lives, as at an
    arbitrary moment; `new`: all have just failed, which has many failures where the shape is below
    1."""

    mtbf: ClassVar[float] = math.inf

    def fitted(self, folder: Path) -> FaultFields:
        """The law itself."""
        from sims.readers.failures import fit_failures

        found = fit_failures(folder / self.file, self.law, self.platform, self.component)
        own = self.model_dump(include={"of", "downtime", "detection", "age"})
        law = Weibull(mtbf=found.mtbf, shape=found.shape, **own)
        law._fit = found
        return law

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Raises InputError: it is not fitted yet."""
        raise unread("fitted")


class ReplayedFaults(FaultFields):
    """`{kind = "replayed", file = "event_trace.tab"}`: each worker, or node, has the failures of a
    drawn node of a log; one window of the log serves all."""

    kind: Literal["replayed"] = "replayed"
    file: str
    """A log in FTA form, from the scenario file's folder; `.gz` and `.xz` are unpacked."""
    platform: int | None = None
    """platform_id whose nodes count; default: all do."""
    component: int | None = None
    """component_id whose events count; default: all do."""
    start: Annotated[
        Time | Literal["random"], Accepts("`random`, or a time from the log's first failure on")
    ] = "random"
    """Where in the log the window begins, from its first failure on; `random`: as the run's seed
    says."""
    nodes: tuple[Natural, ...] = ()
    """node_id whose record each worker, or node, has, by number; those after the list's end are
    drawn. Needs `platform`."""

    downtime: ClassVar[float] = 0.0  # type: ignore[misc] # each failure has its own

    _log: FailureLog | None = PrivateAttr(None)
    """The log, once it is read."""

    def check(self) -> None:
        if self.nodes and self.platform is None:
            problem = "nodes are numbered within a platform, and none is said"
            raise InputError("", "nodes", problem, "platform = 20, say, or nodes left out")

    @property
    def log(self) -> FailureLog:
        """Return the log of failures. Raise InputError where it has not been read."""
        if self._log is None:
            raise unread("replayed")
        return self._log

    @property
    def mtbf(self) -> float:
        """The log's own, of a node."""
        return self.log.mtbf

    @property
    def starts(self) -> Age:
        """Return `stationary`: a replay begins at an arbitrary moment of the log."""
        return Age.STATIONARY

    @property
    def down(self) -> float:
        """Probability that a node of the log is DOWN."""
        return self.log.down

    @property
    def mean_downtime(self) -> float:
        """How long the log's failures last."""
        return self.log.mean_length

    def fitted(self, folder: Path) -> FaultFields:
        """Return a copy that has read its log."""
        from sims.readers.failures import read_failures

        found = self.model_copy()
        found._log = log = read_failures(folder / self.file, self.platform, self.component)
        if self.start != "random" and self.start >= log.length:
            told = f"{self.start!r} is after the log's end"
            raise unfit("faults.start", told, f"`random`, or a time below {log.length:.15g}")
        for number in self.nodes:
            if NodeId(cast(int, self.platform), number) not in log.nodes:
                known = f"node_id of platform {self.platform}, such as {next(iter(log.nodes)).node}"
                raise unfit("faults.nodes", f"{number} is not in {self.file}", known)
        return found

    def drawn(
        self, stream: Callable[[str], Generator], law: int, units: int
    ) -> tuple[float, list[NodeId]]:
        """Return where the window begins, and the node whose record each unit gets; each draw has a
        stream of its own: `window/LAW`, and `fault/LAW/UNIT`."""
        log, nodes = self.log, list(self.log.nodes)
        begin = self.start
        if begin == "random":
            begin = float(stream(f"window/{law}").uniform(0, log.length))
        listed = [NodeId(cast(int, self.platform), number) for number in self.nodes[:units]]
        more = range(len(listed), units)
        draws = (int(stream(f"fault/{law}/{unit}").integers(len(nodes))) for unit in more)
        return begin, [*listed, *(nodes[it] for it in draws)]

    def replay(self, begin: float, nodes: Sequence[NodeId]) -> Outages:
        """Return (time, worker, how long it is DOWN) of each failure, in order of time."""
        return replayed_outages([self.log.nodes[it] for it in nodes], self.log.length, begin)

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Raises InputError: its failures have lengths."""
        raise unread("replayed")
