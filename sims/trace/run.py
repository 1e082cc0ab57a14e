"""Describes one run of a job, stage by stage: what it does, which members are away, and what they
send and receive."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from actors.events import (
    BY_MESSAGES,
    Outcome,
    RateChanged,
    ScenarioStarted,
    Stage,
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.intervals import numbers_in, within
from actors.runtime import Record
from actors.worker_messages import Needs
from policies.availability import WorkerState
from sims.history.lineages import ADVANCING
from sims.history.reader import History, Worker
from sims.telling import amount_of, in_units, worker_of
from sims.trace import Span
from sims.trace.account import Course, Part, Piece, held_up
from sims.trace.words import stage_words

PARTS = {stage: Part(use.value) for stage, use in ADVANCING.items()}
"""Maps each stage of a run to the part of the job's time that it counts as, as in the ledger."""
MESSAGES = {
    TransferKind.PROGRAM: "program",
    TransferKind.DATA: "data",
    TransferKind.IMAGE: "an image",
    TransferKind.SAVE: "its image",
}

VERBS, GOING_ON = ("receives", "sends"), ("goes on receiving", "goes on sending")


@define(eq=False)
class RunStory(Course):
    """Builds the description of one run, in `span`, and then of the time for which its job keeps
    the run's members.

    A run whose log has no stages computes at its members' speed and then verifies; one line
    describes it.
    """

    history: History
    started: ScenarioStarted
    span: Span
    kept: Span | None = field(init=False, default=None)
    """Span of the time for which the job keeps the members after the run; None while it does
    not."""
    doing: Span | None = field(init=False, default=None)
    """Span of the present stage; None while the run does nothing."""
    ended: Span = field(init=False)
    """Span whose title says how the run ended."""
    _reclaimed: dict[int, Span] = field(init=False, factory=dict)
    """Maps each member that is RECLAIMED to the span of the time for which it is."""
    _rate: float = field(init=False)
    _verifies: bool = field(init=False, default=False)
    """Whether a run without logged stages has computed all of its work and verifies now."""

    def __attrs_post_init__(self) -> None:
        self.ended = self.span
        # The log need not have a stage: until one comes, the run computes at its members' speed.
        self._turn(self.run.start, self.run.done, self._speed())

    @property
    def place(self) -> Span:
        """Span of the printed trace below which events are put now: that of the run or, once the
        run is over, that of the time for which its job keeps the members."""
        return self.kept or self.span

    # --- its stages ---------------------------------------------------------------------------

    def advance(self, record: Record) -> None:
        """Close the span of the present stage, and open that of the stage or rate that begins with
        `record`, unless the run then does nothing."""
        run, now = self.run, record.t
        computes = run.stage in (None, Stage.COMPUTING)
        if self.doing is not None and computes and isinstance(record.event, RateChanged):
            self.doing.title += f", {in_units(run.done, self.started.unit)} done by then"
        self._stop(now)
        self._turn(now, run.done, run.rate)
        if run.rate or run.stage in BY_MESSAGES:
            words = stage_words(run, self.started)
            paced = (computes or run.stage is Stage.VERIFYING) and run.rate != 1
            self.doing = self.span.below(
                f"{words} at speed {run.rate:g}" if paced else words, record
            )

    def describe(self, more: str) -> None:
        """Append `more` to the title of the present stage."""
        if self.doing is not None:
            self.doing.title += f": {more}"

    def _turn(self, now: float, done: float, rate: float) -> None:
        self._rate = rate  # which `_part` reads
        self.turn(now, self._part(), done, rate)

    def review(self, now: float) -> None:
        """Begin a new piece of the job's time at `now` if a change of the members makes the run
        spend its time on another part, such as waiting for a member that is DOWN.

        While the job keeps the members after the run's end, each call begins a piece.
        """
        if self.run.end is not None:
            if self.kept is not None:
                self.waits.append(Piece(now, self._held_up(), self.run.done, 0))
        elif self.run.stage is None:
            self._extrapolate(now, 0 if self.run.away else self._speed())
        elif self._part() is not self.pieces[-1].part:
            self._turn(now, self.pieces[-1].done, self._rate)

    def _held_up(self) -> Part:
        known = map(self.history.workers.get, self.run.away)
        return held_up({worker.state for worker in known if worker})

    def _stop(self, now: float) -> None:
        if self.doing is not None:
            self.doing.close_within(self.span, now)
            self.doing = None

    def _part(self) -> Part:
        """Return the part of the job's time that the run spends now."""
        run = self.run
        stage = run.stage
        if run.paused:
            return self._held_up() if run.away or run.hung is not None else Part.RECOVERY
        if stage in BY_MESSAGES:
            if self.under_way():
                return Part.TRANSFER
            return self._held_up()
        if not self._rate:
            # A run at rate 0 whose members are all UP stands still for its checkpoint, if one is
            # under way.
            passing = run.passing and not run.away
            return Part.CHECKPOINT if passing else self._held_up()
        return PARTS[stage or (Stage.VERIFYING if self._verifies else Stage.COMPUTING)]

    # --- its members --------------------------------------------------------------------------

    def under_way(self) -> list[Worker]:
        """Return the members that have a message under way."""
        known = map(self.history.workers.get, self.run.apart)
        return [worker for worker in known if worker and worker.transfer]

    def befall(self, worker: int, record: Record) -> None:
        """Describe what happens to a member: it changes state or speed, or joins the run."""
        match record.event:
            case WorkerChanged(state=state):
                self._move(worker, state, record)
            case WorkerSpeedChanged(speed=speed) if self.run.end is None:
                name = worker_of(self.started, worker)
                self.span.happened(f"{name} has speed {speed:g} now", record)
        self.review(record.t)

    def _move(self, worker: int, state: WorkerState, record: Record) -> None:
        """Describe a member's new state; a span shows the time for which it is RECLAIMED."""
        name = worker_of(self.started, worker)
        if worker in self._reclaimed:
            self._reclaimed.pop(worker).close(record.t)
        if state is WorkerState.DOWN:
            self.place.happened(f"{name} goes DOWN", record)
        elif state is WorkerState.RECLAIMED:
            self._reclaimed[worker] = self.place.below(f"{name} is RECLAIMED", record)

    # --- runs without logged stages -----------------------------------------------------------

    def _speed(self) -> float:
        """Return the speed at which the run computes: that of its slowest member times its share of
        the workers, or, where copies rotate over all workers, the sum of their speeds times that
        share."""
        run, speeds = self.run.event, self.history.speeds
        if not speeds:
            return run.share
        of_members = [speeds.get(worker, 1) for worker in numbers_in(self.run.processors)]
        return run.share * (sum(of_members) if run.rotates else min(of_members))

    def _extrapolate(self, now: float, rate: float) -> None:
        """Compute the progress of a run without logged stages up to `now`, then go on at `rate`.

        The log has no event for the end of such a run's computation: it is over when work divided
        by rate says so.
        """
        last, work = self.pieces[-1], self.run.event.work
        done = last.done
        if self._rate and not self._verifies:
            done += self._rate * (now - last.start)
            over = last.start + (work - last.done) / self._rate
            if self.run.job.verification and over <= now:
                self._verifies, done = True, work
                self.turn(over, Part.VERIFICATION, work)
        turned, self._rate = rate != self._rate, rate
        if turned or self._part() is not self.pieces[-1].part:
            self._turn(now, done, rate)

    # --- its end ------------------------------------------------------------------------------

    def end(self, done: float, record: Record) -> None:
        """Describe how the run ended, with `done` of its work, and close all of its open spans."""
        now, outcome = record.t, self.run.outcome
        assert outcome is not None
        if self.run.stage is not None:
            self.ended = self.span.happened(f"ended: {outcome.value}", record)
        else:
            self._extrapolate(now, self._rate)
            self._sum_up(outcome, done, now)
        self._stop(now)
        for reclaimed in self._reclaimed.values():
            reclaimed.close(now)
        self.span.close(now)

    def keep(self, parent: Span, record: Record) -> None:
        """Open a span below `parent` for the time for which the job keeps the members after the
        run.

        Members that are RECLAIMED get a new span within it.
        """
        self.kept = parent.below(f"keeps its workers {self.run.processors}", record)
        self.review(record.t)
        for worker in list(self._reclaimed):
            self._move(worker, WorkerState.RECLAIMED, record)

    def release(self, parent: Span, now: float) -> None:
        """Close, at time `now`, the span of the time for which the job kept the members: it
        releases them now."""
        for reclaimed in self._reclaimed.values():
            reclaimed.close(now)
        if self.kept is not None:
            self.kept.close_within(parent, now)
            self.kept, self.released = None, now

    def _sum_up(self, outcome: Outcome, done: float, now: float) -> None:
        """Complete the title of a run without logged stages: how long it computed and verified, and
        how it ended."""
        clauses = []
        for part, verb in ((Part.USEFUL, "computes"), (Part.VERIFICATION, "verifies")):
            spans = ((it, over) for it, over in self.spans(now) if it.part is part)
            spent = sum(over - it.start for it, over in spans)
            if spent:
                clauses.append(f"{verb} {in_units(spent, self.started.unit)}")
        how = outcome.value
        if outcome in (Outcome.LOST, Outcome.CANCELLED):
            how += f" with {amount_of(done)} of {amount_of(self.run.event.work)} done"
        self.span.title += f"; {', '.join([*clauses, how])}"


@define
class Messages:
    """The messages that a job's members receive and send over the master's link, each with a
    span."""

    sizes: dict[TransferKind, float] = field(factory=dict)
    """Maps each kind of message to the time that a whole one takes."""
    spans: dict[int, Span] = field(factory=dict)
    """Maps each worker to the span of the last part of a message that has not passed whole."""

    def describe(self, needs: Needs) -> None:
        """Keep how long each kind of message takes as a whole."""
        images = dict.fromkeys((TransferKind.IMAGE, TransferKind.SAVE), needs.image)
        self.sizes = {TransferKind.PROGRAM: needs.program, TransferKind.DATA: needs.data, **images}

    def start(
        self, event: TransferStarted, run: RunStory, record: Record, verbs: Sequence[str] = VERBS
    ) -> None:
        """Open a span for a message that a worker starts or continues, as it holds a channel from
        now on.

        `verbs` are the words for receiving and for sending.
        """
        what, left = MESSAGES[event.kind], event.left
        if left < self.sizes.get(event.kind, left):
            what = f"the last {in_units(left, run.started.unit)} of {what}"
        verb = verbs[event.kind is TransferKind.SAVE]
        name = worker_of(run.started, event.worker)
        if within(run.run.aside, event.worker) and not within(run.run.dropped, event.worker):
            name = f"standby {name}"
        title = f"{name} {verb} {what}"
        self.spans[event.worker] = (run.doing or run.place).below(title, record)

    def go_on(self, run: RunStory, record: Record) -> None:
        """Show in the run that starts with `record` those messages that were under way to its
        workers when the job's last run ended.

        Such a message gets a span in both runs. Nothing is shown if `run` starts at another time.
        """
        workers = run.history.workers
        for number, span in self.spans.items():
            held = number in run.run.apart or within(run.run.aside, number)
            transfer = workers[number].transfer if held and number in workers else None
            if transfer is not None and span.start < record.t == run.run.start:
                span.title += ", goes on in the next run"
                span.close(record.t)
                self.start(transfer, run, record, GOING_ON)

    def stop(
        self, event: TransferSuspended | TransferEnded | TransferDropped, unit: str, now: float
    ) -> None:
        """Close the span of a message whose worker holds its channel no longer; times are in
        `unit`.

        A suspended message gets another span for its rest later; one that has ended or was dropped
        does not.
        """
        span = self.spans.get(event.worker)
        if span is None:
            return
        if isinstance(event, TransferSuspended):
            span.title += f", {in_units(event.left, unit)} of it left"
        else:
            del self.spans[event.worker]
        if isinstance(event, TransferDropped):
            span.title += ", lost"
        span.close(now)

    def leave(self, now: float) -> None:
        """Close all spans: messages that are under way are lost when the job leaves the system."""
        for span in self.spans.values():
            if span.end is None:
                span.title += ", lost"
                span.close(now)
        self.spans.clear()
