"""The life of a job with redundant copies: placements, copies, clones (004)."""

from __future__ import annotations

from math import inf
from typing import ClassVar

from attrs import define, field

from actors.events import Outcome
from actors.redundant.events import (
    ClusterDescribed,
    CopyPlaced,
    CopySettled,
    JobSized,
    ServerCameBack,
    ServerSpeedChanged,
    ServerWentDown,
)
from actors.runtime import Record
from sims.telling import counted
from sims.trace.account import Part
from sims.trace.span import Span
from sims.trace.tale import Tale
from sims.uses.slices import ranges


@define
class _Copy:
    span: Span
    servers: str
    starts: float
    """When it computes: the checkpoint's and the clone's cost come first."""


@define
class RedundantTrace(Tale):
    """Placements between two checkpoints, each with its copies.

    The job's time is useful while a copy advances, and suspended while the servers of all its
    copies stand still.
    """

    about: ClassVar[tuple[bytes, ...]] = (b'"event":"Server', b'"event":"ClusterDescribed"')

    mean: bool = False
    """Whether jobs progress by g(r, t), whatever servers do."""
    _rates: dict[int, float] = field(factory=dict)
    _copies: dict[int, _Copy] = field(factory=dict)
    """By run."""
    _placement: Span | None = None

    def __call__(self, record: Record) -> None:
        if self._copies:
            self._pass(record.t)
        match record.event:
            case ClusterDescribed(mean=mean):
                self.mean = mean
            case ServerSpeedChanged(server=server, speed=speed):
                self._turn(server, speed, f"server {server} has speed {speed:g} now", record)
            case ServerWentDown(server=server):
                self._turn(server, 0.0, f"server {server} goes down", record)
            case ServerCameBack(server=server, speed=speed):
                self._turn(server, speed, f"server {server} is back", record)
            case _:
                Tale.__call__(self, record)

    def tell(self, record: Record) -> None:
        """See Tale."""
        match record.event:
            case JobSized(size=size) if self.root is not None:
                self.root.title += f", size {size:g}"
            case CopyPlaced():
                self._open(record.event, record)
            case CopySettled():
                self._end(record.event, record)

    def _turn(self, server: int, speed: float, title: str, record: Record) -> None:
        self._rates[server] = speed
        for copy in self._copies.values():
            if copy.servers == str(server):
                self._happened(copy.span, title, record)

    def _open(self, copy: CopyPlaced, record: Record) -> None:
        if self._placement is None or self._placement.start != record.t:
            self._placement = self._below(self.root, "placed", record)
        self._placement.title = f"placed: {counted(len(self._copies) + 1, 'copy', 'copies')}"
        share = f", share {copy.share:g}" if copy.share < 1 else ""
        title = f"copy {copy.run} on server {copy.processors} from {copy.progress:g}{share}"
        span = self._below(self._placement, title, record)
        self._copies[copy.run] = _Copy(span, copy.processors, copy.starts)

    def _end(self, settled: CopySettled, record: Record) -> None:
        copy = self._copies.pop(settled.run)
        copy.span.title += f" to {settled.progress:g}" + ", the furthest" * settled.furthest
        if settled.outcome is Outcome.COMPLETED:
            self._happened(copy.span, "ended: completed", record)
        self._close(copy.span, record.t)
        if not self._copies:
            self._close(self._placement, record.t)
            self.account.turn(record.t, Part.WAITING)

    def _pass(self, now: float) -> None:
        """Enter the time until now, in which no speed changed."""
        account = self.account
        paid = min(copy.starts for copy in self._copies.values())
        moving = [copy.starts for copy in self._copies.values() if self._moves(copy.servers)]
        for start, part in (
            (account.until, Part.CHECKPOINT),
            (paid, Part.SUSPENDED),
            (min(moving, default=inf), Part.USEFUL),
        ):
            account.turn(min(max(start, account.until), now), part)
        account.turn(now, account.part)

    def _moves(self, servers: str) -> bool:
        spans = ranges(servers)
        return self.mean or any(
            self._rates.get(server, 0) > 0 for a, b in spans for server in range(a, b + 1)
        )
