"""The master: at most n_com messages pass at once (bounded multi-port; WORLD.md, L1)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from actors.member import Member
from actors.runtime import Actor, Phase, handles
from actors.worker_messages import (
    AskForChannel,
    Granted,
    NeedNoChannel,
    Preempted,
    Serve,
    SlotBegan,
)
from policies.interface import ServiceOrder, Waiting

SERVE, GRANTED, PREEMPTED = Serve(), Granted(), Preempted()
NOBODY = -1


@define
class _Request:
    """One worker that wants a channel, as the order of service sees it."""

    worker: Member
    serving: bool
    """Its message is under way."""

    @property
    def index(self) -> int:
        return self.worker.index

    @property
    def started(self) -> bool:
        return self.worker.begun

    @property
    def left(self) -> float:
        return self.worker.left


@define(eq=False)
class Master(Actor):
    """Deals its channels out anew whenever demand changes, after the scheduler's decision."""

    channels: int
    """n_com."""
    order: ServiceOrder
    requests: dict[int, Member] = field(init=False, factory=dict)
    serving: dict[int, Member] = field(init=False, factory=dict)
    _asks: dict[int, int] = field(init=False, factory=dict)
    """By worker that asked at this instant: seq of why."""
    _freed: int = field(init=False, default=NOBODY)
    """seq of what freed a channel at this instant."""
    _due: bool = field(init=False, default=False)

    @handles(AskForChannel)
    def ask(self, request: AskForChannel) -> None:
        index, cause = request.index, self.system.loop.cause
        self.requests[index] = request.worker
        if self.serving.pop(index, None) is not None:
            self._freed = cause
        self._asks[index] = cause
        self._serve_soon()

    @handles(NeedNoChannel)
    def forget(self, message: NeedNoChannel) -> None:
        if self.requests.pop(message.index, None) is not None:
            if self.serving.pop(message.index, None) is not None:
                self._freed = self.system.loop.cause
            self._serve_soon()

    def _serve_soon(self) -> None:
        if not self._due:
            self._due = True
            self.later(SERVE, Phase.SERVICE)

    @handles(SlotBegan)
    def slot_began(self, _: SlotBegan) -> None:
        self._serve_soon()

    @handles(Serve)
    def serve(self, _: Serve) -> None:
        self._due = False
        requests = self.requests
        if len(requests) <= self.channels and not self.order.every_slot:
            chosen = {index: requests[index] for index in sorted(requests)}  # no choice
        else:
            chosen = {waiting.index: requests[waiting.index] for waiting in self._choose()}
        self._tell(chosen)
        self.serving = chosen
        self._asks.clear()
        self._freed = NOBODY
        if self.order.every_slot and requests:
            self.after(1, SlotBegan(), Phase.STATES_CHANGE)

    def _tell(self, chosen: dict[int, Member]) -> None:
        """Who loses his channel, to somebody who asks now; who gets one, as one became free."""
        loop, serving = self.system.loop, self.serving
        loop.cause = next((cause for it, cause in self._asks.items() if it in chosen), NOBODY)
        for index in serving:
            if index not in chosen:
                self.send(serving[index], PREEMPTED)
        loop.cause = self._freed
        for index, worker in chosen.items():
            if index not in serving:
                self.send(worker, GRANTED)

    def _choose(self) -> Sequence[Waiting]:
        waiting: list[Waiting] = [
            _Request(worker, index in self.serving) for index, worker in self.requests.items()
        ]
        return self.order(waiting, self.channels, self.now)
