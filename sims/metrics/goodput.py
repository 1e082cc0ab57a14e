"""What jobs made of the workers that they held: goodput, overheads and ETTR (WORLD.md, M1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from attrs import define, field, frozen

from actors.events import MemberReplaced, MembersChanged, Outcome
from actors.intervals import numbers_in
from actors.runtime import Record
from sims.history import History, Job, Listener, Run
from sims.ledger import Account, Ledger, Use
from sims.ledger.accountant import AWAY
from sims.ledger.slices import length


@frozen
class Efficiency:
    """Of one job, or of a platform's jobs together."""

    held: Account
    """Processor-time for which it held workers, by what that went to."""
    ettr: float | None = None
    """Effective training time ratio: completed work, in time at speed 1, over the time from the
    first start to completion; None for what is not completed."""

    @property
    def shares(self) -> dict[Use, float]:
        """Parts of the time held; they sum to 1."""
        whole = sum(self.held.values())
        return {use: float(part / whole) for use, part in self.held.items() if part}

    @property
    def overheads(self) -> dict[Use, float]:
        """What is not useful, by cause."""
        return {use: part for use, part in self.shares.items() if use is not Use.USEFUL}

    @property
    def goodput(self) -> float | None:
        """The useful part; None where nothing was held."""
        return self.shares.get(Use.USEFUL, 0.0) if any(self.held.values()) else None


@define(eq=False)
class Goodput(Listener):
    """What a ledger does not tell: of time when workers were away, what jobs held; and ETTR."""

    history: History
    ledger: Ledger
    _away: defaultdict[str, Account] = field(init=False, factory=lambda: defaultdict(_none))
    """By job, if the ledger is; of all together, under no name."""
    _since: dict[int, tuple[str, Use, float]] = field(init=False, factory=dict)
    """Members that are away: whose, why, since when."""
    _started: dict[str, float] = field(init=False, factory=dict)
    _work: defaultdict[str, float] = field(init=False, factory=lambda: defaultdict(float))
    _ettr: dict[str, float] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.history.listen(self)
        for kind in (MembersChanged, MemberReplaced):
            self.history.on(kind, self._exchanged)

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
            self._ettr[job.name] = work / (record.t - started)

    def of(self, job: str) -> Efficiency:
        """One job's, once the log has ended."""
        return Efficiency(self.ledger.by_job[job] | self._away[job], self._ettr.get(job))

    def platform(self) -> Efficiency:
        """Of all jobs together; their mean ETTR."""
        ettr = fmean(self._ettr.values()) if self._ettr else None
        return Efficiency(self.ledger.total | {Use.IDLE: 0} | self._away[""], ettr)


def _none() -> Account:
    return {Use.DOWN: 0, Use.RECLAIMED: 0}
