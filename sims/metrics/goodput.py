"""What jobs made of the workers that they held: goodput, overheads and ETTR (WORLD.md, M1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from attrs import define, field

from actors.events import MemberReplaced, MembersChanged, Outcome
from actors.intervals import numbers_in
from actors.runtime import Record
from sims.history import History, Job, Listener, Run
from sims.ledger import AWAY, Account, Ledger, Use, length


@define(eq=False)
class Goodput(Listener):
    """What a ledger does not tell: of time when workers were away, what jobs held; and ETTR."""

    history: History
    ledger: Ledger
    ettr: dict[str, float] = field(init=False, factory=dict)
    """Effective training time ratio of each completed job: its work, in time at speed 1, over the
    time from its first start to completion."""
    _away: defaultdict[str, Account] = field(init=False, factory=lambda: defaultdict(_none))
    """By job, if the ledger is; of all together, under no name."""
    _since: dict[int, tuple[str, Use, float]] = field(init=False, factory=dict)
    """Members that are away: whose, why, since when."""
    _started: dict[str, float] = field(init=False, factory=dict)
    _work: defaultdict[str, float] = field(init=False, factory=lambda: defaultdict(float))

    def __attrs_post_init__(self) -> None:
        self.history.listen(self)
        for kind in (MembersChanged, MemberReplaced):
            self.history.on(kind, self._exchanged)

    def held(self, job: str = "") -> Account:
        """Processor-time for which the job (or all jobs) held workers, by what it went to; the log
        has ended."""
        own = self.ledger.by_job[job] if job else self.ledger.total | {Use.IDLE: 0}
        return own | self._away[job]

    def _exchanged(self, record: Record, _: object) -> None:
        self._close([it for it in self._since if not self.history.holders(it)], record.t)

    def member_changed(self, run: Run, worker: int, record: Record) -> None:
        self._close((worker,), record.t)
        known = self.history.workers.get(worker)
        if known is not None and known.state in AWAY:
            self._since[worker] = run.job.name, AWAY[known.state], record.t

    def run_released(self, run: Run, record: Record) -> None:
        if self._since:
            self._close(numbers_in(run.processors), record.t)

    def log_ended(self, now: float) -> None:
        self._close(tuple(self._since), now)

    def _close(self, workers: Iterable[int], now: float) -> None:
        for worker in workers:
            if worker in self._since:
                job, use, since = self._since.pop(worker)
                for name in ("", job) if self.ledger.jobs else ("",):
                    self._away[name][use] += length(since, now)

    def run_started(self, run: Run, record: Record) -> None:
        self._started.setdefault(run.job.name, record.t)

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        if run.outcome is Outcome.COMPLETED:
            self._work[run.job.name] += done

    def job_ended(self, job: Job, record: Record) -> None:
        started = self._started.pop(job.name, record.t)
        work = self._work.pop(job.name, 0.0)
        if not job.killed and record.t > started:
            self.ettr[job.name] = work / (record.t - started)


def _none() -> Account:
    return {Use.DOWN: 0, Use.RECLAIMED: 0}
