"""Faults from a log of failures: a law fitted to the log, or the log itself, replayed."""

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
from sims.readers.trace_states import NodeId
from sims.scenario.fault_fields import Effect, FaultFields
from sims.scenario.fault_laws import OfSome, Weibull
from sims.tables.fields import Accepts, Natural, Time

if TYPE_CHECKING:
    from sims.readers.failures import FailureLog


def unread(how: str) -> InputError:
    """Return the error that says that the log of a law of faults has not been read; `how` is the
    law's kind, `fitted` or `replayed`."""
    problem = f"is {how} where a scenario file is read, or a table"
    return unfit("faults.kind", problem, "holdfast.run of a file, or a table")


class FittedFaults(OfSome):
    """`{kind = "fitted", file = "event_trace.tab"}`: a law that is fitted to a log of failures."""

    kind: Literal["fitted"] = "fitted"
    file: str
    """Path of a log in FTA form, relative to the scenario's folder; `.gz` and `.xz` are unpacked.
    """
    law: Literal["weibull", "exponential"] = "weibull"
    """Law of the times from one failure of a node to its next: `weibull` or `exponential`."""
    platform: int | None = None
    """platform_id of the nodes that count; default: all nodes count."""
    component: int | None = None
    """component_id of the events that count; default: all events count."""
    age: Age = Age.STATIONARY
    """Age of the workers at the start: `stationary`: in the middle of their lives, as at an
    arbitrary moment; `new`: all have just failed, which gives many failures where the shape is
    below 1."""

    mtbf: ClassVar[float] = math.inf

    def fitted(self, folder: Path) -> FaultFields:
        """Return the Weibull law (shape 1 where an exponential one is asked for) that fits the log
        in `folder` best, with the other keys of this section.

        Raises InputError where the log cannot be read.
        """
        from sims.readers.failures import fit_failures

        found = fit_failures(folder / self.file, self.law, self.platform, self.component)
        keys = {*OfSome.model_fields, "age"} - {"downtime" if self.hangs else ""}
        own = self.model_dump(include=keys)
        law = Weibull(mtbf=found.mtbf, shape=found.shape, **own)
        law._fit = found
        return law

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Raise InputError: this section only names a log, and `fitted` returns the law that has
        faults."""
        raise unread("fitted")


class ReplayedFaults(FaultFields):
    """`{kind = "replayed", file = "event_trace.tab"}`: each worker, or node, has the failures of a
    randomly drawn node of a log; one window of the log serves all."""

    kind: Literal["replayed"] = "replayed"
    file: str
    """Path of a log in FTA form, relative to the scenario's folder; `.gz` and `.xz` are unpacked.
    """
    platform: int | None = None
    """platform_id of the nodes that count; default: all nodes count."""
    component: int | None = None
    """component_id of the events that count; default: all events count."""
    start: Annotated[
        Time | Literal["random"], Accepts("`random`, or a time from the log's first failure on")
    ] = "random"
    """Beginning of the window in the log, as time after the log's first failure; `random`: drawn
    with the run's seed."""
    nodes: tuple[Natural, ...] = ()
    """node_id of the record that each worker, or node, has, in order; workers after the list's end
    get drawn nodes. Needs `platform`."""

    downtime: ClassVar[float] = 0.0  # type: ignore[misc] # each failure has its own
    effect: ClassVar[Effect] = Effect.FAULT  # type: ignore[misc] # they keep their nodes DOWN

    _log: FailureLog | None = PrivateAttr(None)
    """The log of failures once it is read."""

    def check(self) -> None:
        if self.nodes and self.platform is None:
            problem = "nodes are numbered within a platform, and none is said"
            raise InputError("", "nodes", problem, "platform = 20, say, or nodes left out")

    @property
    def log(self) -> FailureLog:
        """The log of failures that is replayed.

        Raises InputError where the log has not been read.
        """
        if self._log is None:
            raise unread("replayed")
        return self._log

    @property
    def mtbf(self) -> float:
        """Mean time between the failures of one node in a window that is drawn from the log, time
        units."""
        return self.log.replayed_mtbf

    @property
    def starts(self) -> Age:
        """Age of the units at the start: `stationary`, as a replay begins at an arbitrary moment of
        the log."""
        return Age.STATIONARY

    @property
    def ages(self) -> bool:
        return True

    @property
    def down(self) -> float:
        """Probability that a node is DOWN at the start: the fraction of the log's node-time in
        which nodes are DOWN."""
        return self.log.down

    @property
    def mean_downtime(self) -> float:
        """Mean length of the log's failures, time units."""
        return self.log.mean_length

    def fitted(self, folder: Path) -> FaultFields:
        """Return a copy of this law that has read its log, which is looked for in `folder`.

        Raises InputError where the log cannot be read, `start` is after its end, or `nodes` names a
        node that it does not have.
        """
        from sims.readers.failures import read_failures

        found = self.model_copy()
        found._log = log = read_failures(folder / self.file, self.platform, self.component)
        if self.start != "random" and self.start >= log.length:
            problem = f"{self.start!r} is after the log's end"
            raise unfit("faults.start", problem, f"`random`, or a time below {log.length:.15g}")
        for number in self.nodes:
            if NodeId(cast(int, self.platform), number) not in log.nodes:
                known = f"node_id of platform {self.platform}, such as {next(iter(log.nodes)).node}"
                raise unfit("faults.nodes", f"{number} is not in {self.file}", known)
        return found

    def drawn(
        self, stream: Callable[[str], Generator], law: int, units: int
    ) -> tuple[float, list[NodeId]]:
        """Return (time in the log, after its first failure, at which the replay begins; the node of
        the log whose failures each of `units` units has).

        `nodes` of the section are taken first, in order, and the other nodes are drawn. Each draw
        has a random stream of its own from `stream`, called `window/LAW` or `fault/LAW/UNIT` for
        law number `law`, so that another number of units leaves the first units' nodes as they
        were.
        """
        log, nodes = self.log, list(self.log.nodes)
        begin = self.start
        if begin == "random":
            begin = float(stream(f"window/{law}").uniform(0, log.length))
        listed = [NodeId(cast(int, self.platform), number) for number in self.nodes[:units]]
        more = range(len(listed), units)
        draws = (int(stream(f"fault/{law}/{unit}").integers(len(nodes))) for unit in more)
        return begin, [*listed, *(nodes[it] for it in draws)]

    def replay(self, begin: float, nodes: Sequence[NodeId]) -> Outages:
        """Return (time, unit, length of DOWN) of each failure, in order of time: unit k has the
        failures of nodes[k], and time 0 is the time `begin` of the log, which begins again after
        its end."""
        return replayed_outages([self.log.nodes[it] for it in nodes], self.log.length, begin)

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Raise InputError: replayed failures have lengths, so that `replay` gives them."""
        raise unread("replayed")
