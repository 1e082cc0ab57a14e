"""The master's link, and what it leaves in workers' memories (WORLD.md, L1 to L3, W2)."""

from __future__ import annotations

from math import isclose, ulp

from attrs import define, field

from actors.events import (
    LinkDescribed,
    MembersReleased,
    RunEnded,
    Stage,
    StageStarted,
    TasksDealt,
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
)
from actors.events import link as link_events
from policies.availability import WorkerState
from sims.audit.facts import LoggedRun
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.memories import Memories, WorkerMemory
from sims.audit.world import World

UP, DOWN = WorkerState.UP, WorkerState.DOWN
PROGRAM, DATA = TransferKind.PROGRAM, TransferKind.DATA
IMAGE, SAVE = TransferKind.IMAGE, TransferKind.SAVE
STAGING_IN, SAVING = Stage.STAGING_IN, Stage.SAVING
TIMETABLE = "timetable"
ORDERS = ("started-first", "longest-first", TIMETABLE)


@define(eq=False)
class LinkAuditor(Auditor):
    """At most n_com transfers at once; each whole, in its time and turn; only UP members have one,
    and a run waits for its members' messages, no longer and no shorter."""

    wakes = frozenset(link_events.VOCABULARY)
    world: World
    memories: Memories = field(factory=Memories)
    busy: int = 0
    """Transfers under way."""
    waiting: dict[LoggedRun, set[int]] = field(factory=dict)
    """Runs that stage in or save -> members that have a message to come."""
    stirred: set[int] = field(factory=set)
    """Workers whose memory must be looked at once the instant is over."""

    @property
    def handlers(self) -> Handlers:
        return {
            LinkDescribed: self._describe,
            WorkerChanged: self._move,
            TasksDealt: self._deal,
            StageStarted: self._enter,
            RunEnded: self._end,
            MembersReleased: self._release,
            TransferStarted: self._begin,
            TransferSuspended: self._suspend,
            TransferEnded: self._finish,
            TransferDropped: self._drop,
        }

    def passed(self, t: float, seq: int) -> None:
        for number in sorted(self.stirred) if self.stirred else ():
            self._look(number, seq)
        if self.stirred:
            self.stirred.clear()
            self._idle(seq)
        for run, missing in self.waiting.items():
            if not missing and self._surely(run):
                why = f"all members of {run.name} have all they need, and it waits"
                self.world.breaks(Law.PROGRESS, (run.seq, seq), why)

    def _idle(self, seq: int) -> None:
        """No channel is free while somebody has a message to come, but by a timetable."""
        link, away = self.world.link, self.world.away
        if link is None or self.busy >= link.channels or link.order == TIMETABLE or self.world.cut:
            return
        for run, missing in self.waiting.items():
            for number in missing - away:
                if not self.memories[number].passing:
                    why = f"worker {number} of {run.name} waits, and a channel is free"
                    self.world.breaks(Law.LINK, (run.seq, seq), why)
                    return

    def _look(self, number: int, seq: int) -> None:
        memory = self.memories[number]
        if memory.passing and number in self.world.away:
            why = f"worker {number} is not UP, and its transfer goes on"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
        if memory.leaving is None:
            if memory.doomed:
                why = f"worker {number} went DOWN and keeps part of a message"
                self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
            return
        run = self._run_on(number)
        again = run is not None and run.job.name == memory.leaving and not memory.kept
        if memory.kind is not None and not again and not self.world.cut:
            why = f"worker {number} has left its run and keeps part of a message"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
        memory.leave(again)

    def _surely(self, run: LoggedRun) -> bool:
        """Whether its members hold their data whatever was kept of the run before."""
        memories = (self.memories[number] for number in run.copy.members)
        sized = run.job.messages is not None and run.job.messages.data > 0
        return not sized or all(it.sure >= it.units for it in memories)

    def _describe(self, event: LinkDescribed, t: float, seq: int) -> None:
        if event.channels < 1 or t or event.order not in ORDERS:
            self.world.breaks(Law.FRAME, (seq,), f"{event.channels} channels at {t}")

    def _run_on(self, number: int) -> LoggedRun | None:
        """The run that a worker is a member of."""
        for copy in self.world.held.on(number):
            return copy.run
        return None

    # --- workers and runs ---------------------------------------------------------------------

    def _move(self, event: WorkerChanged, t: float, seq: int) -> None:
        if self.world.link is None:
            return
        self.stirred.add(event.worker)
        if event.state is DOWN:
            self.memories[event.worker].forget(t)

    def _deal(self, event: TasksDealt, t: float, seq: int) -> None:
        for worker, tasks in (
            (pair for pair in event.tasks if len(pair) == 2) if self.world.link is not None else ()
        ):
            self.memories[worker].units = tasks

    def _enter(self, event: StageStarted, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        if run is None:
            return
        missing = self.waiting.pop(run, None)
        if missing:
            lacks = f"{len(missing)} of its members lack a message, worker {min(missing)} first"
            why = f"{run.name} goes over to {event.stage.value}, and {lacks}"
            self.world.breaks(Law.PROGRESS, (run.seq, seq), why)
        if event.stage is STAGING_IN:
            self._feed(run)
        elif event.stage is SAVING:
            self.waiting[run] = set(run.copy.members)
            for number in run.copy.members:
                self.memories[number].saving = True

    def _feed(self, run: LoggedRun) -> None:
        dealt = run.job.described is not None and run.job.described.kind == "iterative"
        for number in run.copy.members:
            memory = self.memories[number]
            if not dealt:
                memory.units = 1
            memory.settle(run.job.name)
        self.stirred.update(run.copy.members)
        self.waiting[run] = {n for n in run.copy.members if self._lacks(run, n) is not None}

    def _lacks(self, run: LoggedRun, number: int) -> TransferKind | None:
        """What this member must fetch next."""
        event = run.event
        # After a resize the state moves between the members, past the master.
        image = event.source is not None and event.keeps is None and run.former is None
        return self.memories[number].lacks(run.job.messages, image)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        if self.world.link is None:
            return
        run = self.world.present
        if run is None:
            return
        missing = self.waiting.pop(run, None)
        if missing and event.outcome.value in ("completed", "failed"):
            why = f"{run.name} is {event.outcome.value}, and worker {min(missing)} lacks a message"
            self.world.breaks(Law.PROGRESS, (run.seq, seq), why)
        for number in run.copy.members:
            self._quit(number, event.job, event.kept, t)

    def _quit(self, number: int, job: str, kept: bool, t: float) -> None:
        memory = self.memories[number]
        self.stirred.add(number)
        memory.ended, memory.image, memory.saving = t, False, False
        memory.leaving = job
        memory.kept = kept

    def _release(self, event: MembersReleased, t: float, seq: int) -> None:
        job = self.world.jobs.get(event.job)
        copy = job.kept.get(event.run) if job is not None else None
        for number in copy.members if copy is not None and self.world.link is not None else ():
            self._quit(number, event.job, False, t)

    # --- transfers ----------------------------------------------------------------------------

    def _known(self, number: int, seq: int) -> WorkerMemory:
        if not 0 <= number < self.world.processors:
            self.world.breaks(Law.TRANSFER, (seq,), f"there is no worker {number}")
        return self.memories[number]

    def _begin(self, event: TransferStarted, t: float, seq: int) -> None:
        memory, link, number = self._known(event.worker, seq), self.world.link, event.worker
        self.stirred.add(number)
        self.busy += not memory.passing
        if link is None or self.busy > link.channels:
            channels = link.channels if link is not None else 0
            why = f"{self.busy} transfers on {channels} channels (n_com)"
            self.world.breaks(Law.LINK, (seq,), why)
        run = self._run_on(number)
        if run is None or (run.job.name, run.event.run) != (event.job, event.run):
            why = f"worker {number} is no member of run {event.run} of {event.job}"
            self.world.breaks(Law.TRANSFER, (seq,), why)
        elif memory.passing or number in self.world.away:
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), f"worker {number} cannot, now")
        elif run not in self.waiting:
            why = f"{run.name} neither stages in nor saves"
            self.world.breaks(Law.TRANSFER, (run.seq, seq), why)
        else:
            self._turn(run, event, memory, seq)
        memory.start(event.kind, event.left, t, seq)

    def _turn(self, run: LoggedRun, event: TransferStarted, memory: WorkerMemory, seq: int) -> None:
        """It is this message's turn, and so much of it is left."""
        if event.kind is DATA and memory.sure < memory.units <= memory.data:
            memory.data = memory.sure  # nothing was kept of the run before
        due = SAVE if memory.saving else self._lacks(run, event.worker)
        messages = run.job.messages
        if due is not event.kind or messages is None:
            due_told = due.value if due is not None else "nothing"
            why = f"worker {event.worker} has its {event.kind.value}; {due_told} is due"
            self.world.breaks(Law.TRANSFER, (run.seq, seq), why)
            return
        size = {PROGRAM: messages.program, DATA: messages.data}.get(event.kind, messages.image)
        left = memory.left if memory.kind is event.kind else size
        if not isclose(left, event.left, rel_tol=1e-9):
            why = f"{left!r} of worker {event.worker}'s {event.kind.value} is left; it says"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), f"{why} {event.left!r}")

    def _stop(self, number: int, kind: TransferKind, seq: int) -> WorkerMemory | None:
        """Its channel is free; None where it had none."""
        self.stirred.add(number)
        memory = self._known(number, seq)
        if not memory.passing or memory.kind is not kind:
            why = f"no {kind.value} was passing to or from worker {number}"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
            return None
        memory.passing = False
        self.busy -= 1
        return memory

    def _suspend(self, event: TransferSuspended, t: float, seq: int) -> None:
        memory = self._stop(event.worker, event.kind, seq)
        if memory is None:
            return
        left = memory.left - (t - memory.since)
        if not isclose(left, event.left, rel_tol=1e-9, abs_tol=16 * ulp(t)) or event.left < 0:
            why = f"{left!r} is left of it by the log; it says {event.left!r}"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
        if memory.lost == t:
            why = f"worker {event.worker} went DOWN: nothing is kept"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
        memory.left, memory.seq = event.left, seq

    def _finish(self, event: TransferEnded, t: float, seq: int) -> None:
        memory = self._stop(event.worker, event.kind, seq)
        if memory is None:
            return
        if not isclose(memory.since + memory.left, t, rel_tol=1e-12):
            why = f"{memory.left!r} of it was left at {memory.since!r}, and it is over at {t!r}"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
        if memory.lost == t or memory.ended == t:
            why = f"worker {event.worker} is DOWN or has left its run"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
        run = self._run_on(event.worker)
        label = run.job.messages.label if run is not None and run.job.messages is not None else ""
        memory.complete(label)
        missing = self.waiting.get(run) if run is not None else None
        if run is None or missing is None:
            return
        if event.kind is SAVE or self._lacks(run, event.worker) is None:
            missing.discard(event.worker)

    def _drop(self, event: TransferDropped, t: float, seq: int) -> None:
        memory, number = self._known(event.worker, seq), event.worker
        self.stirred.add(number)
        self.busy -= memory.passing
        if memory.kind is not event.kind:
            why = f"worker {number} has no part of a {event.kind.value}"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
        if t not in (memory.lost, memory.ended):
            why = f"worker {number} loses a message; it is not DOWN and its run has not ended"
            self.world.breaks(Law.TRANSFER, (memory.seq, seq), why)
        memory.drop(seq)
