"""The master: it serves at most n_com transfers at once (bounded multi-port, 002, III.B)."""

from __future__ import annotations

from attrs import define, field

from actors.runtime import Actor, Phase, handles
from actors.volatile.messages import Drop, Fetch, Granted, Preempted, Serve, SlotBegan
from policies.interface import ServiceOrder, Waiting


@define
class _Request:
    """One worker that wants a channel, as the order of service sees it."""

    fetch: Fetch
    now: float
    started: bool

    @property
    def index(self) -> int:
        return self.fetch.index

    @property
    def left(self) -> int:
        return self.fetch.holding.missing(self.fetch.tasks, self.now)


@define(eq=False)
class Master(Actor):
    """Deals its channels out anew whenever demand changes, after the scheduler's decision."""

    channels: int
    """n_com."""
    order: ServiceOrder
    requests: dict[int, Fetch] = field(init=False, factory=dict)
    serving: dict[int, Fetch] = field(init=False, factory=dict)
    _due: bool = field(init=False, default=False)

    @handles(Fetch)
    def fetch(self, request: Fetch) -> None:
        self.requests[request.index] = request
        self._serve_soon()

    @handles(Drop)
    def drop(self, message: Drop) -> None:
        if self.requests.pop(message.index, None) is not None:
            self.serving.pop(message.index, None)
            self._serve_soon()

    def _serve_soon(self) -> None:
        if not self._due:
            self._due = True
            self.later(Serve(), Phase.SERVICE)

    @handles(SlotBegan)
    def slot_began(self, _: SlotBegan) -> None:
        self._serve_soon()

    @handles(Serve)
    def serve(self, _: Serve) -> None:
        self._due = False
        chosen = {index: self.requests[index] for index in self._choose()}
        for index in [index for index in self.serving if index not in chosen]:
            self.send(self.serving[index].worker, Preempted())
        for index, request in chosen.items():
            if index not in self.serving:
                self.send(request.worker, Granted())
        self.serving = chosen
        if self.order.every_slot and self.requests:
            self.after(1, SlotBegan(), Phase.STATES_CHANGE)

    def _choose(self) -> list[int]:
        now = self.now
        waiting: list[Waiting] = [
            _Request(fetch, now, index in self.serving or fetch.holding.part.done > 0)
            for index, fetch in self.requests.items()
        ]
        return [request.index for request in self.order(waiting, self.channels, now)]
