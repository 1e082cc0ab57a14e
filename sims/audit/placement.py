"""Laws of one placement of copies: capacity, starts, and how far each copy comes (004, III)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from math import isclose, ulp

from attrs import define, field

from actors.redundant.events import ClusterDescribed, CopyPlaced, CopySettled
from actors.runtime import Record
from sims.audit.law import Law, Violation
from sims.audit.service import Service
from sims.telling import counted
from sims.uses.slices import ranges

TOLERANCE = 1e-9
"""Relative to the job's size, or to the time."""
ROUNDINGS = 64
"""Roundings of a time that may add up between two checkpoints."""


@define
class Copy:
    """A copy that is going on."""

    job: str
    servers: tuple[int, ...]
    placed: CopyPlaced


@define
class Placement:
    """All copies between two checkpoints."""

    cluster: ClusterDescribed
    service: Service
    holders: dict[str, int]
    """Job -> the server of its furthest state."""
    begun: float
    seq: int
    """Of the event that tells of it."""
    copies: dict[tuple[str, int], Copy] = field(factory=dict)
    counts: Counter[str] = field(factory=Counter)
    """Job -> its copies."""
    rotating: bool = False
    """Whether copies go round all servers."""

    def add(self, event: CopyPlaced) -> None:
        """One more copy."""
        servers = tuple(p for a, b in ranges(event.processors) for p in range(a, b + 1))
        self.copies[event.job, event.run] = Copy(event.job, servers, event)
        self.counts[event.job] += 1
        self.rotating = self.rotating or len(servers) > 1

    def begin(self) -> Iterator[Violation]:
        """All copies are there: check who is where, and start to count their service."""
        yield from self._capacity()
        if not self.cluster.mean:
            for server in self.service.servers:
                server.restart(self.begun)
        for copy in self.copies.values():
            yield from self._start(copy)

    def _capacity(self) -> Iterator[Violation]:
        shares: defaultdict[int, float] = defaultdict(float)
        for copy in self.copies.values():
            for server in copy.servers:
                shares[server] += copy.placed.share
                if not 0 <= server < len(self.service.servers):
                    yield Violation(Law.CAPACITY, (self.seq,), f"there is no server {server}")
        for server, share in shares.items():
            if share > 1 + TOLERANCE:
                why = f"server {server} serves {counted(share, 'copy', 'copies', digits=6)}"
                yield Violation(Law.CAPACITY, (self.seq,), why)
        yield from self._apart()

    def _apart(self) -> Iterator[Violation]:
        on = Counter((copy.job, server) for copy in self.copies.values() for server in copy.servers)
        for (job, server), copies in on.items():
            if copies > 1:
                why = f"{counted(copies, 'copy', 'copies')} of {job} on server {server}"
                yield Violation(Law.CAPACITY, (self.seq,), why)

    # --- starts -------------------------------------------------------------------------------

    def _start(self, copy: Copy) -> Iterator[Violation]:
        due, says = [self.begun + cost for cost in self._costs(copy)], copy.placed.starts
        if not any(isclose(start, says, rel_tol=TOLERANCE) for start in due):
            why = f"it should compute from {due} on; it says {says!r}"
            yield Violation(Law.CLONE, (self.seq,), why)
        if not self.cluster.mean:
            for server in copy.servers:
                if server < len(self.service.servers):
                    self.service.servers[server].restart(copy.placed.starts)

    def _costs(self, copy: Copy) -> tuple[float, ...]:
        """A server pays for the most costly of its copies; all together where they rotate. On one
        server the log does not tell which of the two it is."""
        if len(self.service.servers) == 1:
            return (self._together(copy), self._apart_cost(copy))
        alike = self.cluster.mean or self.rotating
        return (self._together(copy) if alike else self._apart_cost(copy),)

    def _together(self, copy: Copy) -> float:
        together = self.cluster.checkpoint + self.cluster.clone
        if self.cluster.mean:
            return together if copy.placed.progress > 0 else 0.0
        return together if any(c.placed.progress > 0 for c in self.copies.values()) else 0.0

    def _apart_cost(self, copy: Copy) -> float:
        beside = [c for c in self.copies.values() if c.servers == copy.servers]
        return max(self._own_cost(c) for c in beside)

    def _own_cost(self, copy: Copy) -> float:
        holder = self.holders.get(copy.job)
        if holder is None:
            return 0.0
        elsewhere = holder not in copy.servers
        return self.cluster.checkpoint + (self.cluster.clone if elsewhere else 0.0)

    # --- progress -----------------------------------------------------------------------------

    def settle(
        self, copy: Copy, event: CopySettled, size: float, record: Record
    ) -> Iterator[Violation]:
        """A copy says how far it came."""
        found = self._progress(copy, event, record.t)
        slack = self.slack(size, record.t)
        if not isclose(found, event.progress, rel_tol=TOLERANCE, abs_tol=slack):
            why = f"{event.job} is at {found!r} by the servers' speeds; it says {event.progress!r}"
            yield Violation(Law.SPEED, (self.seq, record.seq), why)

    def slack(self, size: float, now: float) -> float:
        """Work that is rounding: late in a long run a small job's times are known to few digits."""
        return (
            TOLERANCE * size + ROUNDINGS * ulp(now) * self.cluster.augmentation * self.service.peak
        )

    def _progress(self, copy: Copy, event: CopySettled, now: float) -> float:
        factor = copy.placed.share * self.cluster.augmentation
        if self.cluster.mean:
            # g(r, t) is not in the log: g(1, t) = t, and more copies are never slower.
            time = len(copy.servers) * max(now - copy.placed.starts, 0.0)
            least = copy.placed.progress + factor * time
            return max(least, event.progress) if self.counts[copy.job] > 1 else least
        served = [self.service.servers[s] for s in copy.servers if s < len(self.service.servers)]
        return copy.placed.progress + factor * sum(server.at(now) for server in served)
