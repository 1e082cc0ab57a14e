"""How many jobs wait: submitted, not over, and without workers."""

from __future__ import annotations

from attrs import define, field

from sims.history import History, Listener


@define(eq=False)
class Queue(Listener):
    """The queue's length over time; a job that starts as soon as it is submitted never waits."""

    history: History
    longest: int = 0
    area: float = 0.0
    """Jobs x time waited."""
    _since: float = 0.0
    _length: int = field(init=False, default=0)
    """From then on."""

    def __attrs_post_init__(self) -> None:
        self.history.listen(self)

    def queue_changed(self, now: float) -> None:
        if now > self._since:
            self.longest = max(self.longest, self._length)
            self.area += self._length * (now - self._since)
            self._since = now
        self._length = self.history.waiting

    def log_ended(self, now: float) -> None:
        self.queue_changed(now)

    @property
    def mean(self) -> float:
        """Time average of its length."""
        return self.area / self._since if self._since else 0.0
