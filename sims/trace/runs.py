"""A job's runs, told side by side, and the workers that it keeps between two of them."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    CheckpointLost,
    CheckpointTaken,
    MembersJoined,
    MembersReleased,
    Outcome,
    RateChanged,
    RestartedFromScratch,
    RunEnded,
    RunStarted,
    StageStarted,
    TasksDealt,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.events.pack import MembersChanged
from actors.runtime import Record
from sims.ledger.slices import count
from sims.telling import amount_of, counted, in_units
from sims.trace.account import FlowAccount, Part
from sims.trace.descent import Era, Gap, Head
from sims.trace.history import History
from sims.trace.holding import RECLAIMED, Cast, Holding
from sims.trace.messages import Messages
from sims.trace.running import RunUnderWay
from sims.trace.span import Span

WAITS = "waits for workers"


@define
class Runs:
    """All runs of one job since its submission, or of its present iteration."""

    cast: Cast
    root: Span
    """What they are told below."""
    since: float
    """When this began."""
    messages: Messages
    verification: float = 0
    running: dict[int, RunUnderWay] = field(factory=dict)
    kept: dict[int, Holding] = field(factory=dict)
    """By the run that ended on them."""
    _ended: dict[int, RunUnderWay] = field(factory=dict)
    _histories: list[History] = field(factory=list)
    _gaps: list[Gap] = field(factory=list)
    _saved: Head | None = None
    """What the last complete checkpoint holds."""
    _completed: Head | None = None
    _waiting: Span | None = None

    def concern(self, worker: int) -> bool:
        """Whether it is held, or has a message of the job's to get."""
        held = (*self.running.values(), *self.kept.values())
        return self.messages.concern(worker) or any(it.holds(worker) for it in held)

    # --- from era to era ----------------------------------------------------------------------

    def turn(self, root: Span, account: FlowAccount, record: Record) -> None:
        """An iteration is over, and another one begins below `root`: no state outlives it."""
        self.settle(account, record.t)
        self.root, self._waiting = root, None
        self.wait(record)

    def settle(self, account: FlowAccount, now: float, killed: bool = False) -> None:
        """Enter the time until now into the account. Computation counts where it is in the state
        that completed the job or iteration; where none did it is unsettled, or lost if killed."""
        gaps = self._gaps + [(it.span.start, now) for it in self.kept.values()]
        era = Era(self.since, now, self._histories, gaps)
        if self._completed is not None:
            era.settle(account, self._completed, Part.USEFUL)
        else:
            era.settle(account, None if killed else self._furthest(), Part.UNSETTLED)
        self.since, self._completed, self._saved = now, None, None
        self._histories, self._gaps = [], []
        self._stop_waiting(now)

    def _furthest(self) -> Head | None:
        """Where the job is, if the log ends here."""
        under_way = [it.history for it in self.running.values()]
        best = max(under_way, key=lambda it: it.pieces[-1].done / (it.work or 1), default=None)
        return self._saved if best is None else Head(best.number)

    def wait(self, record: Record) -> None:
        """Nobody works for it now."""
        if not self.running and not self.kept and self._waiting is None:
            self._waiting = self.root.below(WAITS, record)

    def _stop_waiting(self, now: float) -> None:
        if self._waiting is not None:
            self._waiting.close_within(self.root, now)
            self._waiting = None

    # --- runs ---------------------------------------------------------------------------------

    def start(self, event: RunStarted, record: Record) -> None:
        """A run holds its members from now on."""
        now = record.t
        self._stop_waiting(now)
        if event.keeps is not None:
            self._release(event.keeps, now)
        history = History(event.run, now, event.work, event.source, event.saved)
        span = self.root.below(self._title(event), record)
        run = RunUnderWay(
            *(event.processors, span, self.cast), history=history, verification=self.verification
        )
        run.begin(event)
        self.running[event.run] = run
        self._histories.append(history)

    def _title(self, event: RunStarted) -> str:
        unit = self.cast.unit
        where = f"{counted(count(event.processors), 'worker')}: {event.processors}"
        kept = "the same " if event.keeps is not None else ""
        share = f", share {event.share:g}" if event.share < 1 else ""
        title = f"run {event.run} on {kept}{where}{share}; {in_units(event.work, unit)} of work"
        if event.source is not None:
            own = "" if event.begun == event.saved else f", {amount_of(event.begun)} here"
            title += f", from {amount_of(event.saved)} done by run {event.source}{own}"
        beside = counted_runs(self.running)
        return f"{title}; beside {beside}" if beside else title

    def deal(self, event: TasksDealt) -> None:
        """Who has how many tasks: that tells an iterative job's run better."""
        name = self.cast.name
        members = ", ".join(f"{name(worker)} x{tasks}" for worker, tasks in event.tasks)
        reason = f" ({event.reason})" if event.reason else ""
        span = self.running[event.run].span
        rest = span.title.partition("; ")[2]
        span.title = f"run {event.run}{reason}: {members}; {rest}"

    def end(self, event: RunEnded, record: Record) -> None:
        """A run is over."""
        run = self.running.pop(event.run)
        away = dict(run.away)
        run.end(event.outcome, event.done, record)
        self._ended[event.run] = run
        if event.outcome is Outcome.COMPLETED:
            self._completed = Head(event.run)
        if event.kept:
            self._keep(run, away, record)
        self.wait(record)

    def _keep(self, run: RunUnderWay, away: dict[int, Span | None], record: Record) -> None:
        span = self.root.below(f"keeps its workers {run.numbers}", record)
        held = self.kept[run.history.number] = Holding(run.numbers, span, self.cast)
        for worker, reclaimed in away.items():
            if reclaimed is not None:
                held.move(worker, RECLAIMED, record)

    def release(self, event: MembersReleased, record: Record) -> None:
        """Workers that were kept are not any more."""
        self._release(event.run, record.t)
        self.wait(record)

    def _release(self, run: int, now: float) -> None:
        held = self.kept.pop(run, None)
        if held is not None:
            held.close(now)
            self._gaps.append((held.span.start, now))
            held.span.close_within(self.root, now)

    def join(self, event: MembersJoined, record: Record) -> None:
        """More members for a run that is under way."""
        run = self.running[event.run]
        run.numbers = f"{run.numbers} {event.processors}".strip()
        run.span.happened(f"workers {event.processors} join", record)

    def exchange(self, event: MembersChanged, record: Record) -> None:
        """A job keeps other workers than before for its next run."""
        held = self.kept[event.run]
        held.numbers = event.processors
        held.span.happened(f"keeps workers {event.processors} from now on", record)

    # --- what they do -------------------------------------------------------------------------

    def enter(self, event: StageStarted, record: Record) -> None:
        """A run goes over to another stage."""
        run = self.running[event.run]
        run.enter(event.stage, event.rate, event.done, record)
        self.messages.go_on(run, record)
        run.review(record.t)

    def change_rate(self, event: RateChanged, record: Record) -> None:
        """A run goes faster, slower, or stands still."""
        self.running[event.run].change_rate(event.rate, event.done, record)

    def save(self, event: CheckpointTaken, record: Record) -> None:
        """A checkpoint is complete."""
        run = self.running[event.run]
        title = (
            f"checkpoint complete: {amount_of(event.done)} of {amount_of(run.history.work)} done"
        )
        run.span.happened(title, record)
        self._saved = Head(event.run, event.done)

    def lose(self, event: CheckpointLost, record: Record) -> None:
        """What the copy had saved is gone with its workers."""
        who = self.cast.listed(event.workers)
        self._last(event.run).happened(f"checkpoint lost with {who}", record)

    def restart(self, event: RestartedFromScratch, record: Record) -> None:
        """All that was saved is given up."""
        title = f"starts from scratch: {amount_of(event.lost)} that was saved is lost"
        self._last(event.run).happened(title, record)
        self._saved = None

    def remark(self, run: int | None, title: str, record: Record) -> None:
        """Something else happened to the job, or to one of its runs."""
        span = self.root if run is None else self._last(run)
        span.happened(title, record)

    def _last(self, run: int) -> Span:
        """Where to tell of what befalls a run that may have ended just now."""
        if run in self.kept:
            return self.kept[run].span
        if run in self.running:
            return self.running[run].span
        return self._ended[run].span if run in self._ended else self.root

    # --- workers and messages -----------------------------------------------------------------

    def move(self, event: WorkerChanged, record: Record) -> None:
        """A worker changed state."""
        for held in (*self.running.values(), *self.kept.values()):
            if held.holds(event.worker):
                held.move(event.worker, event.state, record)

    def pace(self, event: WorkerSpeedChanged, record: Record) -> None:
        """A worker has another speed."""
        for run in self.running.values():
            if run.holds(event.worker):
                run.pace(event.worker, record)

    def transfer(self, event: TransferStarted, record: Record) -> None:
        """A member holds a channel from now on."""
        run = self.running[event.run]
        self.messages.start(event, run, record)
        run.review(record.t)

    def stop_transfer(
        self, event: TransferSuspended | TransferEnded | TransferDropped, record: Record
    ) -> None:
        """A member holds it no more."""
        worker, now = event.worker, record.t
        match event:
            case TransferSuspended(left=left):
                self.messages.suspend(worker, left, now)
            case TransferEnded():
                self.messages.end(worker, now)
            case TransferDropped():
                self.messages.drop(worker, now)
        for run in self.running.values():
            if worker in run.receiving:
                run.receiving.discard(worker)
                run.review(now)


def counted_runs(runs: dict[int, RunUnderWay]) -> str:
    """`run 3`, `runs 3, 4`."""
    if not runs:
        return ""
    return f"run{'s' if len(runs) > 1 else ''} {', '.join(map(str, runs))}"
