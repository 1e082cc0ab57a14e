"""Which of a job's runs its time went to: those that the state which completed it came from.

A job's time from its submission to its end is told by the run that completed it from that run's
start on, before that by the run whose state it began from, and so on back. What lies between is
told by the other runs under way, whose computing was lost, else it was downtime while the job kept
processors, else waiting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from attrs import frozen

from sims.trace.account import FlowAccount, Part
from sims.trace.history import History

Gap = tuple[float, float]


@frozen
class Head:
    """The state that a job, or an iteration of it, came to."""

    run: int
    done: float = inf
    """What of that run's work is in it."""


@frozen
class Era:
    """The time of one iteration, or of the whole job: what was done in it is for its end."""

    start: float
    end: float
    runs: Sequence[History]
    """In order of their starts."""
    kept: Sequence[Gap]
    """When the job kept processors between two runs."""

    def settle(self, account: FlowAccount, head: Head | None, fate: Part) -> None:
        """Enter all its time; what was computed and is in `head` met `fate`."""
        end = self.end
        for run, done in self._lineage(head):
            over = end if run.end is None else min(run.end, end)
            self._fill(account, over, end)
            _enter(account, run.spent(run.start, over, done, fate))
            end = run.start
        self._fill(account, self.start, end)

    def _lineage(self, head: Head | None) -> Iterator[tuple[History, float]]:
        """The run of that state, the run that it began from, and so on, each with what of its work
        is in the state."""
        known = {run.number: run for run in self.runs}
        while head is not None and head.run in known:
            run = known[head.run]
            yield run, head.done
            head = None if run.source is None else Head(run.source, run.saved)

    def _fill(self, account: FlowAccount, start: float, end: float) -> None:
        """Enter [start, end), in which no run of the lineage was under way."""
        for run in self.runs:
            first = max(run.start, start)
            last = end if run.end is None else min(run.end, end)
            if last > first:
                self._idle(account, start, first)
                _enter(account, run.spent(first, last, inf, Part.LOST))
                start = last
        self._idle(account, start, end)

    def _idle(self, account: FlowAccount, start: float, end: float) -> None:
        for since, until in sorted(self.kept):
            first, last = max(since, start), min(until, end)
            if last > first:
                account.add(Part.WAITING, start, first)
                account.add(Part.DOWNTIME, first, last)
                start = last
        account.add(Part.WAITING, start, end)


def _enter(account: FlowAccount, spent: Iterable[tuple[Part, float, float]]) -> None:
    for part, start, end in spent:
        account.add(part, start, end)
