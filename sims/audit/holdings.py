"""Keeps which workers are free at a line of a log, and which copies hold the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import Factory, define, field

from sims.audit.facts import ExpectedCopy, ExpectedJob
from sims.audit.law import allowed
from sims.audit.workers import UP, ExpectedWorker, Free, Spans, joined, numbers


@define(eq=False)
class Holdings:
    """The workers of a platform, as they are free or held."""

    jobs: Mapping[str, ExpectedJob]
    workers: Mapping[int, ExpectedWorker]
    """The workers to which something has happened, by number."""
    free: Free = Factory(Free)
    """Free workers that may get a job."""
    spare: Free = Factory(Free)
    """Free workers that only replace members (spares)."""
    able: int = 0
    """Number of workers that are no spares."""
    resting: set[int] = Factory(set)
    """Workers that copies hold as the rest of their members' nodes (G6)."""
    _holders: dict[int, ExpectedCopy] | None = field(init=False, default=None)
    """Maps workers to the copies that hold them; None until something has happened to a worker."""

    def begin(self, size: int) -> None:
        """Begin with `size` workers, all of which are free."""
        self.free, self.able = Free((0, size), size), size

    def set_aside(self, spares: int) -> None:
        """Make the last `spares` workers spares: no job starts on them."""
        size, self.able = self.able, self.able - spares
        self.spare = Free((self.able, size), spares)
        self.free.take((self.able, size))

    def holder(self, number: int) -> ExpectedCopy | None:
        """Return the copy that holds the worker of this number as a member or ready to replace one;
        else None. A copy need not know what happens to the rest of its members' nodes, so that None
        is returned for these workers, too."""
        if self._holders is None:
            # Built only now: many logs have no event of a worker, and never need this index.
            copies = [copy for job in self.jobs.values() for copy in job.copies]
            self._holders = {n: copy for copy in copies for n in numbers(copy.held)}
        return None if number in self.resting else self._holders.get(number)

    def take(self, copy: ExpectedCopy, spans: Spans) -> None:
        """Have the copy hold these workers, which are free no longer. Raises Broken unless all of
        them are free."""
        for pool, own in self._pools(spans):
            allowed(pool.take(own), "{} gets {}: not all are free", copy.job.name, copy.text)
        if self._holders is not None:
            self._holders.update(dict.fromkeys(numbers(spans), copy))

    def give(self, copy: ExpectedCopy, spans: Spans) -> None:
        """Release these workers of the copy; those that are UP are free from now on, the others
        once they are UP again."""
        if self._holders is not None:
            members = numbers(spans)
            for number in members:
                self._holders.pop(number, None)
            # Members that are away become free when they are UP again (`copies.change`).
            spans = joined(filter(self.is_up, members))
        for pool, own in self._pools(spans):
            pool.give(own)

    def _pools(self, spans: Spans) -> Iterator[tuple[Free, Spans]]:
        """Yield the set of free spares and that of all other free workers, each with those of
        `spans` that belong to it. Without spares in `spans`, yield only the second."""
        if spans and spans[-1] > self.able:
            members = numbers(spans)
            yield self.spare, joined(n for n in members if n >= self.able)
            spans = joined(n for n in members if n < self.able)
        yield self.free, spans

    def pool(self, number: int) -> Free:
        """Return the set of free workers to which worker `number` belongs when it is free; spares
        have a set of their own, as no job starts on them (P10)."""
        return self.free if number < self.able else self.spare

    def is_up(self, number: int) -> bool:
        """Return whether the worker of this number is UP, as is each worker to which nothing has
        happened."""
        worker = self.workers.get(number)
        return worker is None or worker.state is UP
