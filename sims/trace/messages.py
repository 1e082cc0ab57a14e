"""Messages between a job's members and the master, told: whole, in parts, or lost."""

from __future__ import annotations

from attrs import define, field

from actors.events import MessagesDescribed, TransferKind, TransferStarted
from actors.runtime import Record
from sims.telling import in_units
from sims.trace.holding import Cast
from sims.trace.running import RunUnderWay
from sims.trace.span import Span

WORDS = {
    TransferKind.PROGRAM: "program",
    TransferKind.DATA: "data",
    TransferKind.IMAGE: "an image",
    TransferKind.SAVE: "its image",
}


@define
class _Message:
    """One that has not passed whole."""

    what: str
    verb: str
    span: Span
    run: int

    @property
    def under_way(self) -> bool:
        return self.span.end is None


@define
class Messages:
    """What a job's members receive and send."""

    cast: Cast
    sizes: dict[TransferKind, float] = field(factory=dict)
    """Time of a whole message."""
    _by_worker: dict[int, _Message] = field(factory=dict)

    def describe(self, event: MessagesDescribed) -> None:
        """How long whole messages take."""
        kinds = TransferKind
        self.sizes = {kinds.PROGRAM: event.program, kinds.DATA: event.data}
        self.sizes |= dict.fromkeys((kinds.IMAGE, kinds.SAVE), event.image)

    def concern(self, worker: int) -> bool:
        """Whether a message of this worker has not passed whole."""
        return worker in self._by_worker

    def start(self, event: TransferStarted, run: RunUnderWay, record: Record) -> None:
        """A worker holds a channel from now on."""
        kind, left = event.kind, event.left
        what = WORDS[kind]
        if left < self.sizes.get(kind, left):
            what = f"the last {in_units(left, self.cast.unit)} of {what}"
        verb = "sends" if kind is TransferKind.SAVE else "receives"
        title = f"{self.cast.name(event.worker)} {verb} {what}"
        span = (run.doing or run.span).below(title, record)
        self._by_worker[event.worker] = _Message(what, verb, span, event.run)
        run.receiving.add(event.worker)

    def suspend(self, worker: int, left: float, now: float) -> None:
        """What has passed is kept."""
        span = self._by_worker[worker].span
        span.title += f", {in_units(left, self.cast.unit)} of it left"
        span.close(now)

    def end(self, worker: int, now: float) -> None:
        """It has passed whole."""
        self._by_worker.pop(worker).span.close(now)

    def drop(self, worker: int, now: float) -> None:
        """What has passed is lost."""
        span = self._by_worker.pop(worker).span
        span.title += ", lost"
        span.close(now)

    def leave(self, now: float) -> None:
        """The job is gone, and with it what has not passed whole."""
        for worker in [worker for worker, it in self._by_worker.items() if it.under_way]:
            self.drop(worker, now)

    def go_on(self, run: RunUnderWay, record: Record) -> None:
        """Messages of its members that the run before left under way go on in this one: they are
        told in both."""
        for worker, message in self._by_worker.items():
            if message.under_way and message.run != run.history.number and run.holds(worker):
                message.span.title += ", goes on in the next run"
                message.span.close(record.t)
                verb = "receiving" if message.verb == "receives" else "sending"
                title = f"{self.cast.name(worker)} goes on {verb} {message.what}"
                message.span = (run.doing or run.span).below(title, record)
                message.run = run.history.number
                run.receiving.add(worker)
