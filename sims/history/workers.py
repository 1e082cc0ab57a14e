"""Workers: who is away, who has a message under way, and which run holds whom."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from attrs import define, field

from actors.events import (
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.intervals import count_in, spans_in
from actors.runtime import Record
from policies.availability import WorkerState
from sims.history.holders import Holders
from sims.history.listener import HOOKS
from sims.history.states import Key, Run, Worker


def _silence() -> SimpleNamespace:
    return SimpleNamespace(**{hook: [] for hook in HOOKS})


@define(eq=False)
class Workers:
    """What a history knows of workers."""

    processors: int = 0
    """Size of the platform; the log's first record tells it."""
    workers: dict[int, Worker] = field(init=False, factory=dict)
    """Those that are not UP, or have a message under way."""
    speeds: dict[int, float] = field(init=False, factory=dict)
    """Of those whose speed has been told; 1 elsewhere."""
    _holders: Holders = field(init=False, factory=Holders)
    _stalled: set[int] = field(init=False, factory=set)
    """Workers of speed 0."""
    _notify: Any = field(init=False, factory=_silence)
    """By hook: the methods that override it."""

    @property
    @abstractmethod
    def runs(self) -> Mapping[Key, Run]:
        """All that hold members."""

    def holders(self, worker: int) -> list[Run]:
        """The runs that hold this worker: one, none, or several that share it."""
        return self._index().of(worker)

    @property
    def free(self) -> int:
        """How many workers are UP and held by no run."""
        away = [it.number for it in self.workers.values() if it.state is not WorkerState.UP]
        return self._index().free(away)

    def _index(self) -> Holders:
        if not self._holders.kept:
            self._holders.keep(self.processors, self.runs.values())
        return self._holders

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
        """This worker, about to change."""
        worker = self.workers.get(number)
        if worker is None:
            worker = self.workers[number] = Worker(number, record.t, record.seq)
        else:
            self._cut(worker, record)
        return worker

    def _cut(self, worker: Worker, record: Record) -> None:
        if record.t > worker.since:
            for notify in self._notify.worker_span:
                notify(worker, record.t)
        worker.since, worker.seq = record.t, record.seq

    def _review(self, worker: Worker, record: Record) -> None:
        if not worker.apart:
            del self.workers[worker.number]
        runs = self._move(worker.number, record)
        worker.serve(runs[0] if runs else None)
        for notify in self._notify.worker_changed:
            notify(worker, record)

    def _move(self, worker: int, record: Record) -> list[Run]:
        """Notify of a member that has changed; the runs that hold it."""
        runs = self.holders(worker)
        known = self.workers.get(worker)
        apart = known is not None or worker in self._stalled
        away = known is not None and known.state is not WorkerState.UP
        for run in runs:
            self._stop_passing(run, record)
            (run.away.add if away else run.away.discard)(worker)
            if apart:
                run.apart[worker] = None
            else:
                run.apart.pop(worker, None)
            for notify in self._notify.member_changed:
                notify(run, worker, record)
        return runs

    @abstractmethod
    def _stop_passing(self, run: Run, record: Record) -> None:
        """What a run that only waits does of its checkpoint is another from now on."""

    def _meet(self, run: Run, processors: str, record: Record) -> None:
        """Members of a run that starts, or that join it, may be apart already."""
        for number in self._apart_in(processors):
            run.apart[number] = None
            for notify in self._notify.member_changed:
                notify(run, number, record)
            worker = self.workers.get(number)
            if worker is not None:
                self._cut(worker, record)
                worker.serve(run)

    def _forsake(self, run: Run, record: Record) -> None:
        """What members that are apart do is not for the run any more."""
        for number in run.apart:
            worker = self.workers.get(number)
            if worker is not None and worker.holder is run:
                self._cut(worker, record)
                worker.serve(None)
        run.apart = {}

    def _apart_in(self, processors: str) -> Iterator[int]:
        apart = self.workers.keys() | self._stalled if self._stalled else self.workers.keys()
        if not apart:
            return iter(())
        spans = spans_in(processors)
        if count_in(processors) < len(apart):
            return iter([n for a, b in spans for n in range(a, b + 1) if n in apart])
        return iter([n for n in sorted(apart) if any(a <= n <= b for a, b in spans)])
