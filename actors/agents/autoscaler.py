"""An autoscaler, who calls workers while jobs wait, and returns those that stay idle."""

from typing import ClassVar

from attrs import define, field

from actors import events
from actors.acts import Act
from actors.agents.agent import Agent, Reminder
from actors.intervals import numbers_in
from actors.runtime import handles


@define(eq=False)
class Autoscaler(Agent):
    """Has the first `least` workers. While jobs wait it calls `step` more, which come after `boot`,
    and `step` more whenever one is idle for `linger`; it returns idle ones when no job waits."""

    does: ClassVar = (Act.TAKE,)
    least: int
    step: int = 1
    boot: float = 1
    linger: float = 10
    _away: list[int] = field(init=False, factory=list)
    _waiting: set[str] = field(init=False, factory=set)
    _idle: dict[int, float] = field(init=False, factory=dict)
    _runs: dict[tuple[str, int], set[int]] = field(init=False, factory=dict)

    def begin(self, cause: int) -> None:
        self._away = list(range(self.least, self.world.workers))
        for worker in self._away:
            self.take(worker, cause, after=0)

    @handles(events.JobSubmitted)
    def submitted(self, event: events.JobSubmitted, cause: int) -> None:
        self._waiting.add(event.job)
        self._use(self._away[: self.step], cause, self.boot)

    @handles(events.RunStarted, events.MembersJoined, events.MembersChanged)
    def held(self, event: events.RunStarted, cause: int) -> None:
        self._waiting.discard(event.job)
        self._runs.setdefault((event.job, event.run), set()).update(numbers_in(event.processors))
        workers = self._runs[event.job, event.run]
        self._use([it for it in self._away if it in workers], cause, 2)
        self._idle = {it: t for it, t in self._idle.items() if it not in workers}

    @handles(events.RunEnded, events.MembersReleased)
    def released(self, event: events.RunEnded | events.MembersReleased, cause: int) -> None:
        if isinstance(event, events.MembersReleased) or not event.kept:
            self._use(sorted(self._runs.pop((event.job, event.run))), cause, 0)

    @handles(Reminder)
    def look(self, reminder: Reminder, cause: int) -> None:
        worker, since = reminder.about
        if self._idle.get(worker) == since and self._waiting:
            self._use([*self._away[: self.step], worker], cause, self.boot)
        elif self._idle.get(worker) == since:
            del self._idle[worker]
            self._away.append(worker)
            self.take(worker, cause)

    def _use(self, workers: list[int], cause: int, after: float) -> None:
        for worker in workers:
            if worker in self._away:
                self._away.remove(worker)
                self.give_back(worker, cause, after)
            if worker >= self.least:
                self._idle[worker] = self.now + after
                self.wait(after + self.linger, cause, (worker, self._idle[worker]))
