"""Keeps which workers are away, which have a message under way, and which runs hold them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from attrs import define, field

from actors.events import (
    LogReplayed,
    MaintenancePlanned,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.intervals import among, count_in, covers, numbers_in, spans_in, within
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.history.head import Head
from sims.history.states import Key, Listener, Run, Worker

Handler = Callable[[Record, Any], object]


@define(eq=False)
class Holders:
    """Index by which the runs that hold a worker are found.

    A run with a share of 1 holds its workers entirely; runs with smaller shares may hold the same
    worker.
    """

    _whole: np.ndarray[Any, Any]
    """Array over workers of the run that holds all of the worker, or None."""
    _shared: list[Run] = field(init=False, factory=list)
    """Runs that hold shares of workers."""
    _busy: int = field(init=False, default=0)
    """Number of workers that one run holds entirely."""

    def note(self, run: Run, processors: str, held: bool) -> None:
        """Record that `run` holds these workers or, if `held` is false, that it has released
        them."""
        if run.event.share != 1:
            (self._shared.append if held else self._shared.remove)(run)
            return
        self._busy += count_in(processors) if held else -count_in(processors)
        holder = run if held else None
        for first, last in spans_in(processors):
            if first == last:  # a slice of one takes ten times as long
                self._whole[first] = holder
            else:
                self._whole[first : last + 1] = holder

    def of(self, worker: int) -> list[Run]:
        """Return the runs that hold this worker: none, one, or several that share it."""
        whole = self._whole[worker]
        shared = [run for run in self._shared if within(run.processors, worker)]
        return shared if whole is None else [whole, *shared]

    def free(self, away: Iterable[int]) -> int:
        """Return the number of workers that no run holds and that are not in `away`."""
        shared = {worker for run in self._shared for worker in numbers_in(run.processors)}
        gone = shared.union(worker for worker in away if self._whole[worker] is None)
        return len(self._whole) - self._busy - len(gone)

    def unheld(self) -> set[int]:
        """Return the numbers of the workers that no run holds."""
        shared = {worker for run in self._shared for worker in numbers_in(run.processors)}
        return {n for n, run in enumerate(self._whole) if run is None} - shared


@define(eq=False)
class Workers:
    """The part of a history that keeps the workers' states, messages and speeds, and which runs
    hold them."""

    processors: int = 0
    """Number of processors of the platform, from the log's first record."""
    workers: dict[int, Worker] = field(init=False, factory=dict)
    """Maps numbers to the workers that are not UP or have a message under way."""
    speeds: dict[int, float] = field(init=False, factory=dict)
    """Maps numbers of workers to the speeds that the log gave; the speed of all others is 1."""
    head: Head = field(init=False, factory=Head)
    """The scenario of the log."""
    windows: list[MaintenancePlanned] = field(init=False, factory=list)
    """Windows in which owners take workers DOWN, in the order of the log."""
    zone: str = field(init=False, default="UTC")
    """Time zone of the jobs' log, as an IANA name."""
    begins: float | None = field(init=False, default=None)
    """Date of time 0, in seconds since 1970; None if the log has no dates."""
    _holders: Holders | None = field(init=False, default=None)
    """Index of holders, built when first asked for, so that a reader without that question does not
    pay."""
    _stalled: set[int] = field(init=False, factory=set)
    """Numbers of the workers of speed 0."""
    _notify: Listener = field(init=False, factory=Listener)
    """Listener whose methods call those of all listeners."""

    def handlers(self) -> dict[type[Event], Handler]:
        """Map each event class to the method that brings the state up to date with it."""
        return {
            LogReplayed: self._date,
            MaintenancePlanned: self._plan,
            WorkerChanged: self._turn,
            WorkerSpeedChanged: self._pace,
            TransferStarted: self._transfer,
            TransferSuspended: self._stop_transfer,
            TransferEnded: self._stop_transfer,
            TransferDropped: self._stop_transfer,
        }

    @property
    @abstractmethod
    def runs(self) -> Mapping[Key, Run]:
        """Maps the key (job's name, number) of each run that holds members to the run."""

    def holders(self, worker: int) -> list[Run]:
        """Return the runs that hold this worker: one, none, or several that share the worker."""
        return self._index().of(worker)

    def message(self, worker: int) -> TransferStarted:
        """Return the event with which the message began that is under way to or from this worker.
        Raises LookupError if none is."""
        known = self.workers.get(worker)
        if known is None or known.transfer is None:
            raise LookupError(f"no message is under way to or from worker {worker}")
        return known.transfer

    @property
    def spares(self) -> range:
        """Numbers of the spares, which start no job."""
        return range(self.processors - self.head.spares, self.processors)

    @property
    def free(self) -> int:
        """Number of workers that are UP, held by no run and no spares, so that a job can start on
        them."""
        away = [it.number for it in self.workers.values() if it.state is not WorkerState.UP]
        return self._index().free([*away, *self.spares])

    @property
    def unheld(self) -> int:
        """Number of workers that no run holds, in whatever state they are, spares included."""
        return self._index().free(())

    @property
    def free_workers(self) -> set[int]:
        """Numbers of the workers that `free` counts."""
        away = {it.number for it in self.workers.values() if it.state is not WorkerState.UP}
        return self._index().unheld() - away - set(self.spares)

    @property
    def spare(self) -> list[int]:
        """Numbers of the spares that are UP and held by no run."""
        return [n for n in self.spares if not self._is_away(n) and not self.holders(n)]

    def _index(self) -> Holders:
        """Return the index of holders, built if there is none yet."""
        if self._holders is None:
            runs = self.runs.values()
            self._holders = Holders(np.full(self.processors, None, object))
            for run in runs:
                self._holders.note(run, run.processors, True)
                if run.aside:
                    self._holders.note(run, run.aside, True)
        return self._holders

    def _date(self, record: Record, event: LogReplayed) -> None:
        self.begins, self.zone = event.begins, event.zone

    def _plan(self, record: Record, event: MaintenancePlanned) -> None:
        self.windows.append(event)

    # --- what changes them --------------------------------------------------------------------

    def _turn(self, record: Record, event: WorkerChanged) -> None:
        worker = self._known(event.worker, record)
        worker.state, worker.until = event.state, event.until
        self._review(worker, record)

    def _transfer(self, record: Record, event: TransferStarted) -> None:
        worker = self._known(event.worker, record)
        worker.transfer = event
        self._review(worker, record)

    def _stop_transfer(
        self, record: Record, event: TransferSuspended | TransferEnded | TransferDropped
    ) -> None:
        worker = self.workers.get(event.worker)
        if worker is not None and worker.transfer is not None:
            self._cut(worker, record)
            worker.transfer = None
            self._review(worker, record)

    def _pace(self, record: Record, event: WorkerSpeedChanged) -> None:
        self.speeds[event.worker] = event.speed
        (self._stalled.discard if event.speed else self._stalled.add)(event.worker)
        self._move(event.worker, record)

    def _known(self, number: int, record: Record) -> Worker:
        """Return the entry of a worker that is about to change, made anew if it has none.

        If it has one, listeners are first notified of the span that ends with `record`.
        """
        worker = self.workers.get(number)
        if worker is None:
            worker = self.workers[number] = Worker(number, record.t, record.seq)
        else:
            self._cut(worker, record)
        return worker

    def _cut(self, worker: Worker, record: Record) -> None:
        """Report what the worker did since its last change, and begin a new span."""
        if record.t > worker.since:
            self._notify.worker_span(worker, record.t)
        worker.since, worker.seq = record.t, record.seq

    def _review(self, worker: Worker, record: Record) -> None:
        """Remove the entry of a worker that is UP and has no message under way, because entries are
        kept of other workers only; notify its runs and listeners."""
        if worker.state is WorkerState.UP and worker.transfer is None:
            del self.workers[worker.number]
        self._move(worker.number, record)
        self._notify.worker_changed(worker, record)

    def _move(self, worker: int, record: Record) -> None:
        """Update all runs that hold the worker for a change of its state, message or speed."""
        for run in self.holders(worker):
            if run.aside and within(run.aside, worker):
                self._cut_aside(run, record)
                self._note_aside(run, worker)
                continue
            self.stop_passing(run, record)
            self.note_member(run, worker, record)

    def _note_aside(self, run: Run, worker: int) -> None:
        (run.aside_away.add if self._is_away(worker) else run.aside_away.discard)(worker)

    def _is_away(self, worker: int) -> bool:
        known = self.workers.get(worker)
        return known is not None and known.state is not WorkerState.UP

    def _cut_aside(self, run: Run, record: Record) -> None:
        """Report what the workers that a run holds aside did since their last change, and begin a
        new span."""
        if run.aside and record.t > run.aside_since:
            self._notify.aside_span(run, record.t)
        run.aside_since, run.aside_seq = record.t, record.seq

    def ready(self, run: Run, aside: str, record: Record) -> None:
        """Let `run` hold the workers of the set `aside` without computing on them; no run holds
        them so far."""
        run.aside, run.aside_away = aside, set()
        run.aside_since, run.aside_seq = record.t, record.seq
        if aside:
            for worker in self._take(run, aside, record):
                self._note_aside(run, worker)

    def note_member(self, run: Run, worker: int, record: Record) -> None:
        """Record whether a member of a run is not UP (`run.away`), and whether it is not UP, has a
        message under way or has speed 0 (`run.apart`); notify listeners."""
        (run.away.add if self._is_away(worker) else run.away.discard)(worker)
        if worker in self.workers or worker in self._stalled:
            run.apart[worker] = None
        else:
            run.apart.pop(worker, None)
        self._notify.member_changed(run, worker, record)

    @abstractmethod
    def stop_passing(self, run: Run, record: Record) -> None:
        """Report what a run did since `run.since` if it stood still over that time, in a pause or
        for a checkpoint; a change of its members or of the checkpoint ends that span. Do nothing
        for any other run."""

    def _take(self, run: Run, processors: str, record: Record) -> list[int]:
        """Let `run` hold the workers of the set `processors` in addition to those that it holds.

        Returns those of the set that are not UP, have a message under way or have speed 0.
        """
        apart = self._apart_in(processors)
        self.cut_all(apart, record)
        run.job.hold(count_in(processors), record.t)
        if self._holders is not None:
            self._holders.note(run, processors, True)
        return apart

    def _meet(self, run: Run, apart: Iterable[int], record: Record) -> None:
        """Record the members of a run that are not UP, have a message under way or have speed 0 as
        they join it."""
        for number in apart:
            self.note_member(run, number, record)

    def _give(self, run: Run, record: Record) -> None:
        """Let `run` release all workers that it holds, its members and those that it holds aside,
        and report what they did for it."""
        self.cut_all(run.apart, record)
        run.job.hold(-count_in(run.processors) - count_in(run.aside), record.t)
        if run.aside:
            self._cut_aside(run, record)
            self.cut_all(self._apart_in(run.aside), record)
        if self._holders is not None:
            self._holders.note(run, run.processors, False)
            if run.aside:
                self._holders.note(run, run.aside, False)

    def cut_all(self, members: Iterable[int], record: Record) -> None:
        """Report what these members did since their last change, because another run, or none,
        holds them from now on."""
        for number in members:
            worker = self.workers.get(number)
            if worker is not None:
                began = worker.seq
                self._cut(worker, record)
                # Time DOWN is the platform's, whichever run holds the worker: its span keeps the
                # event that began it.
                if worker.state is WorkerState.DOWN:
                    worker.seq = began

    def _apart_in(self, processors: str) -> list[int]:
        """Return the workers of the set that are not UP, have a message under way or have speed
        0."""
        apart = self.workers.keys() | self._stalled if self._stalled else self.workers.keys()
        if not apart:
            return []
        spans = spans_in(processors)
        # Either the run or the set of such workers is small: look through the smaller one.
        if count_in(processors) < len(apart):
            return [n for a, b in spans for n in range(a, b + 1) if n in apart]
        return among(spans, apart)


def has_all(these: str, those: str) -> bool:
    """Return whether the set `these` contains all workers of the set `those`."""
    return these == those or covers(spans_in(these), spans_in(those))
