"""Spans as a fold over records, which tests look into line by line."""

from __future__ import annotations

from actors.runtime import Record
from sims.history.reader import History
from sims.history.rows import SpanRow


class Accountant:
    """The same as a fold: from each record, or each part of it, to the spans that it ends."""

    def __init__(self, processors: int) -> None:
        self._history, self._told = History(processors), list[SpanRow]()
        self._history.take(SpanRow, self._told.append)

    def __call__(self, record: Record) -> list[SpanRow]:
        """The spans that end, or become known, with this record."""
        self._history.apply(record)
        return self._take()

    def close(self, now: float) -> list[SpanRow]:
        """The spans still open where the log ends."""
        self._history.now = now
        self._history.close()
        return self._take()

    def _take(self) -> list[SpanRow]:
        if not self._told:
            return []
        told = self._told[:]
        self._told.clear()
        return told
