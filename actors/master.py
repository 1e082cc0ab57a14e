"""The master lets at most n_com messages pass at once (bounded multi-port; rules.md, L1)."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from attrs import define, field

from actors.decisions import answer, items, refusal
from actors.runtime import NOTHING, Actor, Phase, handles
from actors.worker_messages import (
    AskForChannel,
    Granted,
    MessageLost,
    NeedNoChannel,
    Preempted,
    Serve,
    SlotBegan,
    YieldChannel,
)
from policies.interface import ServiceOrder

SERVE, GRANTED, PREEMPTED = Serve(), Granted(), Preempted()


@define(eq=False)
class Request:
    """One worker's request for a channel, as an order of service sees it: whether it is being
    served, has begun, and how much channel time it still lacks (satisfies
    policies.interface.Waiting)."""

    worker: Actor = field(repr=False)
    index: int
    started: bool
    """Whether it has a channel, or a part of its message has passed already."""
    lacked: float
    """Channel time of all messages that the worker lacked when it asked, or when its channel was
    last taken away."""
    cause: int = field(repr=False)
    """Number of the event for which it wants a channel."""
    master: Master = field(repr=False)
    standby: bool = False
    """Whether the worker is a standby, not a member of a run."""
    serving: bool = False
    """Whether it has a channel, so that `lacked` counts down."""
    since: float = 0
    """Time since which it has had its channel."""

    @property
    def left(self) -> float:
        if not self.serving:
            return self.lacked
        return max(self.lacked - (self.master.now - self.since), 0)

    def suspend(self) -> None:
        """Take the channel away; what has passed of the message counts as received."""
        self.lacked, self.serving = self.left, False


@define(eq=False)
class Master(Actor):
    """Assigns its n_com channels to workers that have something to fetch or to send. It does so
    anew whenever demand changes, once an instant, after the scheduler's decision. If there are no
    more requests than channels all are served; otherwise the order of service chooses, and can take
    channels away."""

    channels: int
    """Number of channels, n_com."""
    order: ServiceOrder
    requests: dict[int, Request] = field(init=False, factory=dict)
    """Maps the number of each worker that wants or has a channel to its request."""
    _lost: set[int] = field(init=False, factory=set)
    """Workers whose messages are lost but which keep their channels (F1); no order of service sees
    them."""
    _asks: dict[int, int] = field(init=False, factory=dict)
    """Maps each worker that sent a request at this instant to the event that caused it."""
    _freed: int = field(init=False, default=NOTHING)
    """Number of the event that freed a channel at this instant; NOTHING: none did."""
    _standbys: bool = field(init=False, default=False)
    """Whether a standby has ever asked for a channel."""
    _due: bool = field(init=False, default=False)
    _slot: float = field(init=False, default=0)
    """Time at which the next slot begins, if the order of service is asked in every slot."""
    _chosen: Sequence[Request] = field(init=False, default=())
    """Requests that get the channels that other workers are about to yield."""
    _yielding: set[int] = field(init=False, factory=set)

    @handles(AskForChannel)
    def ask(self, message: AskForChannel, cause: int) -> None:
        index, before = message.index, self.requests.get(message.index)
        if before is not None and not message.from_scratch:
            before.lacked, before.cause = message.left, cause
            before.started = message.begun or before.serving
            before.since = self.now  # `lacked` no longer has what has passed by now
            if before.standby and not message.standby:
                before.standby, self._asks[index] = False, cause
                self._serve_soon()  # as a member it comes before those held ready
            return
        if before is not None and before.serving:
            self._freed = cause
        begun, left, standby = message.begun, message.left, message.standby
        if standby:
            self._standbys = True
        self.requests[index] = Request(message.worker, index, begun, left, cause, self, standby)
        self._asks[index] = cause
        self._serve_soon()

    @handles(NeedNoChannel)
    def forget(self, message: NeedNoChannel, cause: int) -> None:
        self._lost.discard(message.index)
        request = self.requests.pop(message.index, None)
        if request is not None:
            if request.serving:
                self._freed = cause
            self._serve_soon()

    @handles(MessageLost)
    def keep(self, message: MessageLost, _: int) -> None:
        self._lost.add(message.index)

    def _serve_soon(self) -> None:
        if not self._due:
            self._due = True
            self.later(SERVE, NOTHING, Phase.SERVICE)

    @handles(SlotBegan)
    def slot_began(self, _: SlotBegan, __: int) -> None:
        self._serve_soon()

    @handles(Serve)
    def serve(self, _: Serve, __: int) -> None:
        self._due = False
        requests = self.requests
        if len(requests) <= self.channels and not self.order.every_slot:
            gaining = [requests[it] for it in sorted(requests) if not requests[it].serving]
            self._grant(gaining, self._freed)
        elif len(self._lost) < self.channels:
            waiting, lost = list(requests.values()), self._lost
            if lost:
                waiting = [it for it in waiting if it.index not in lost]
            free = self.channels - len(lost)
            if self._standbys:
                self._deal(self._served(waiting, free))
            else:
                self._deal(choose(self.order, waiting, free, self.now))
        self._asks.clear()
        self._freed = NOTHING
        if self.order.every_slot and requests and self._slot <= self.due_by:
            self._slot = floor(self.due_by) + 1
            self.at(self._slot, SlotBegan(), NOTHING, Phase.STATES_CHANGE)

    def _served(self, waiting: Sequence[Request], channels: int) -> Sequence[Request]:
        """Return the requests that get channels, of `waiting`; there are `channels` to be had.
        Those of members are chosen first, by the order of service; the channels left go to
        workers that are held ready to replace members, by the same order (rules.md, P12)."""
        chosen: list[Request] = []
        for standby in (False, True):
            them = [it for it in waiting if it.standby is standby]
            if them and len(chosen) < channels:
                chosen += choose(self.order, them, channels - len(chosen), self.now)
        return chosen

    def _deal(self, chosen: Sequence[Request]) -> None:
        gaining = [request for request in chosen if not request.serving]
        kept = {request.index for request in chosen} | self._lost
        losing = [it for it in self.requests.values() if it.serving and it.index not in kept]
        if losing:
            # Transfers are suspended before others begin, which have the last suspension as their
            # cause.
            cause = self._claim(chosen, gaining)
            self._chosen, self._yielding = gaining, {request.index for request in losing}
            for request in losing:
                request.suspend()
                self.send(request.worker, PREEMPTED, cause)
        else:
            self._grant(gaining, self._freed)

    def _claim(self, chosen: Sequence[Request], gaining: Sequence[Request]) -> int:
        """Return the number (seq) of the event because of which other workers lose their channels.
        That is the cause of a request that was made at this instant and is among `chosen`, else of
        the first of `gaining`, the requests that get a channel now, else the run's first event."""
        served = {request.index for request in chosen}
        asked = (cause for index, cause in self._asks.items() if index in served)
        return next(asked, gaining[0].cause if gaining else self.system.origin)

    @handles(YieldChannel)
    def take(self, message: YieldChannel, cause: int) -> None:
        self._yielding.discard(message.index)
        if not self._yielding:
            self._grant(self._chosen, cause)

    def _grant(self, requests: Sequence[Request], cause: int) -> None:
        now = self.now
        for request in requests:
            request.since, request.serving, request.started = now, True, True
            self.send(request.worker, GRANTED, cause)


def choose(
    order: ServiceOrder, waiting: Sequence[Request], channels: int, now: float
) -> Sequence[Request]:
    """Ask the order of service which of the `waiting` requests get the `channels` channels, and
    return them. Raises BadDecision, naming the order and what it saw, unless it answers with at
    most `channels` of these requests, each once."""
    answered = answer(order, waiting, channels, now)
    chosen = items(order, answered)
    problem = None
    known = set(map(id, waiting))
    if chosen is None or not known.issuperset(map(id, chosen)):
        problem = "an answer is a sequence of those that wait, as they were shown"
    elif len(set(map(id, chosen))) < len(chosen):
        problem = "it names a worker twice"
    elif len(chosen) > channels:
        problem = f"it serves {len(chosen)}; there are {channels} channels"
    if problem is not None:
        raise refusal(order, repr(answered), problem, f"now = {now!r}, waiting: {waiting!r}")
    return chosen  # type: ignore[return-value]
