"""Journals copies as runs; only where a sink wants runs, for it costs more than the run itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import define, field

from actors.events import Outcome, RunEnded, RunStarted
from actors.redundant.events import CopyPlaced, CopySettled
from policies.interface.redundancy import Counts, Numbers

Record = Callable[..., None]


@define
class _Copy:
    run: int
    job: int
    """Position of its job in the placement."""


@define(eq=False)
class RunLog:
    """The copies that run now, and each job's next run number."""

    record: Record
    next_run: dict[str, int] = field(init=False, factory=dict)
    names: Sequence[str] = field(init=False, default=())
    sizes: list[float] = field(init=False, factory=list)
    copies: list[_Copy] = field(init=False, factory=list)

    def placed(
        self,
        names: Sequence[str],
        sizes: Numbers,
        counts: Counts,
        servers: Sequence[str],
        left: Numbers,
        starts: Sequence[float],
        share: float,
    ) -> None:
        """All copies of one placement start; `servers`, `left` and `starts` go copy by copy."""
        self.names, self.sizes = names, sizes.tolist()
        jobs = [job for job, count in enumerate(counts.tolist()) for _ in range(count)]
        self.copies = [_Copy(self._number(names[job]), job) for job in jobs]
        for copy, where, lacks, start in zip(
            self.copies, servers, left.tolist(), starts, strict=True
        ):
            name = names[copy.job]
            self.record(RunStarted, name, copy.run, where)
            progress = self.sizes[copy.job] - lacks
            self.record(CopyPlaced, name, copy.run, float(share), float(progress), float(start))

    def settled(self, left: Numbers, over: Sequence[bool]) -> None:
        """All copies end: the first of the furthest copies of a job that is over completed it."""
        lacks = left.tolist()
        furthest = self._furthest(lacks)
        for k, copy in enumerate(self.copies):
            name, best = self.names[copy.job], furthest[copy.job] == k
            ended = over[copy.job] and best
            progress = self.sizes[copy.job] if ended else self.sizes[copy.job] - lacks[k]
            self.record(CopySettled, name, copy.run, float(progress), best)
            outcome = Outcome.COMPLETED if ended else Outcome.WITHDRAWN
            self.record(RunEnded, name, copy.run, outcome)
        for name, gone in zip(self.names, over, strict=True):
            if gone:
                del self.next_run[name]
        self.copies = []

    def _number(self, name: str) -> int:
        run = self.next_run.get(name, 0)
        self.next_run[name] = run + 1
        return run

    def _furthest(self, lacks: list[float]) -> dict[int, int]:
        best: dict[int, int] = {}
        for k, copy in enumerate(self.copies):
            if copy.job not in best or lacks[k] < lacks[best[copy.job]]:
                best[copy.job] = k
        return best
