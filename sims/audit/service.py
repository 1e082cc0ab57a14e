"""What servers have delivered since their copies were placed, from the log's speeds alone."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import ScenarioStarted
from actors.redundant.events import ServerCameBack, ServerSpeedChanged, ServerWentDown
from actors.runtime import Record
from sims.audit.law import Law, Violation


@define
class Server:
    """One server."""

    number: int
    rate: float = 0.0
    delivered: float = 0.0
    since: float = 0.0
    """When the account was settled, or when the placement begins to be served."""
    down: int | None = None
    """seq of the failure that it has not come back from."""

    def at(self, now: float) -> float:
        """Service since the placement, work units."""
        return self.delivered + self.rate * max(now - self.since, 0.0)

    def turn(self, now: float, rate: float, kept: float = 1.0) -> None:
        """From now on (or from its start) it serves at `rate`; `kept` of the service counts."""
        self.delivered, self.since = self.at(now) * kept, max(now, self.since)
        self.rate = rate

    def restart(self, start: float) -> None:
        """A new placement, served from `start` on."""
        self.delivered, self.since = 0.0, start


@define
class Service:
    """Fold: the servers' states; reports those that cannot be."""

    servers: list[Server] = field(factory=list)
    peak: float = 0.0
    """The highest speed so far."""
    lost: float = 0.0
    """Part of the service that a failure undoes."""

    def __call__(self, record: Record) -> Iterator[Violation]:
        t, seq = record.t, record.seq
        match record.event:
            case ScenarioStarted(processors=count):
                self.servers = [Server(number) for number in range(count)]
            case ServerSpeedChanged(server=number, speed=speed):
                yield from self._turn(number, t, seq, speed)
            case ServerWentDown(server=number):
                yield from self._fail(number, t, seq)
            case ServerCameBack(server=number, speed=speed):
                yield from self._come_back(number, t, seq, speed)

    def _known(self, number: int) -> bool:
        return 0 <= number < len(self.servers)

    def _turn(self, number: int, t: float, seq: int, speed: float) -> Iterator[Violation]:
        if not self._known(number):
            yield Violation(Law.STATE, (seq,), f"there is no server {number}")
            return
        server = self.servers[number]
        if server.down is not None:
            yield Violation(Law.STATE, (server.down, seq), f"server {number} is down")
        if speed < 0:
            yield Violation(Law.SPEED, (seq,), f"server {number} has speed {speed}")
        server.turn(t, speed)
        self.peak = max(self.peak, speed)

    def _fail(self, number: int, t: float, seq: int) -> Iterator[Violation]:
        if not self._known(number) or self.servers[number].down is not None:
            yield Violation(Law.STATE, (seq,), f"server {number} cannot fail now")
            return
        server = self.servers[number]
        server.turn(t, 0.0, 1 - self.lost)
        server.down = seq

    def _come_back(self, number: int, t: float, seq: int, speed: float) -> Iterator[Violation]:
        if not self._known(number) or self.servers[number].down is None:
            yield Violation(Law.STATE, (seq,), f"server {number} cannot come back now")
            return
        server = self.servers[number]
        server.down = None
        server.turn(t, speed)
