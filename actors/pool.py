"""The platform as its scheduler knows it: which workers are UP and free, and which copy holds
each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from actors.intervals import (
    Intervals,
    Numbers,
    added,
    common,
    intervals_of,
    members,
    merged,
    size_of,
    swapped,
    without,
)
from policies.availability import WorkerState
from policies.interface.cells import Parts

Take = Callable[[Numbers, int, Intervals, int], Intervals]
"""Removes workers from the free ones and returns them. The arguments are the free numbers, how many
to take, the workers that the job had a moment ago, and the job's index."""

UP = WorkerState.UP


@frozen
class Source:
    """A set of free workers in which the placement chooses `count` members of a start."""

    workers: Intervals
    count: int

    @property
    def size(self) -> int:
        """Number of the workers."""
        return size_of(self.workers)


@frozen
class Sources:
    """The free workers from which those of one start are chosen."""

    members: Sequence[Source]
    """Sets of free workers, and how many members the placement chooses in each."""
    others: Intervals
    """Free workers among which those held ready are chosen, once the members are: those of the
    partition. A window that takes one of these DOWN costs the run nothing."""
    whole: Intervals = ()
    """All workers of the nodes that the run holds whole, members included; empty where it holds
    its members only."""
    parts: Parts = ()
    """How many members are of each cell, as pairs (cell, number) in the order of the cells; empty
    where the placement chooses."""


ANY = Sources((), ())
"""Leaves the choice among all free workers, those held ready included, to the placement."""


def lowest(numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
    """Placement that takes the `count` lowest free numbers from `numbers` and returns them
    (rules.md, D2). `former` and `index`, which other placements use, do not matter."""
    return numbers.lowest(count)


def compact(numbers: Numbers, count: int, former: Intervals, index: int) -> Intervals:
    """Placement that takes `count` free numbers from `numbers` and returns them: those in `former`,
    which the job had a moment ago, if they are that many and all free; else numbers from as few
    gaps between the taken ones as possible. `index` does not matter.

    Where workers are alike, numbers are only names, and intervals cost time (up to a tenth of a run
    of 50,000 jobs with its log).
    """
    return numbers.take(count, former)


@define(eq=False)
class Pool:
    """Keeps which of the workers 0 .. P-1, all UP and free at first, are UP and free, and which
    copy holds each.

    Identical workers to which nothing happens are only counted; with `numbered` runs hold workers
    by number, because a log or a hazard needs to know which.
    """

    size: int
    """Number of workers, P, without spares."""
    numbered: bool
    changing: bool = False
    """Whether workers change state or speed; the copy that holds each worker is then recorded."""
    take: Take = lowest
    spares: int = 0
    """Number of workers from P on that start no job: they replace members that are away (rules.md,
    P10)."""
    named: bool = False
    """Whether the decider chooses a copy's workers itself. Intervals of free workers are then not
    kept: they would cost a tenth of the run of a volatile platform."""
    free: int = field(init=False)
    """Number of workers that are UP and that no copy holds, without spares."""
    numbers: Numbers | None = field(init=False, default=None)
    """Numbers of the free workers; None: they are only counted."""
    away: dict[int, float] = field(init=False, factory=dict)
    """Maps each worker that is not UP to the time at which it is expected back; inf: it is not
    known."""
    speeds: list[float] = field(init=False, factory=list)
    """Speed of each worker; empty: all are 1."""
    retired: set[int] = field(init=False, factory=set)
    """Workers that are DOWN for ever (rules.md, R8)."""
    _held_by: NDArray[np.int64] = field(init=False, factory=lambda: np.empty(0, np.int64))
    """Number, by worker, of the copy that holds it or was the last to hold it, or -1."""
    _holders: memoryview = field(init=False, factory=lambda: memoryview(b""))
    """View of `_held_by`, from which a single number is read in a fraction of numpy's time, while
    numpy sets those of a whole interval at once."""

    held: dict[int, tuple[int, int, Intervals]] = field(init=False, factory=dict)
    """Maps each copy to its job's index, the number of its workers, and their numbers; these are
    empty where workers are only counted. When a copy gives back all of its workers, only its entry
    is removed here; what is kept of each of its workers, often thousands, stays."""
    rest: set[int] = field(init=False, factory=set)
    """Workers that copies hold because they are of their members' nodes; they are idle."""

    def __attrs_post_init__(self) -> None:
        self.free = self.size
        if (self.numbered or self.changing) and not self.named:
            self.numbers = Numbers(self.size)
        if self.changing:
            self._held_by = np.full(self.size + self.spares, -1, np.int64)
            self._holders = memoryview(self._held_by)  # type: ignore[arg-type]

    @property
    def left(self) -> int:
        """Number of workers that are neither retired nor spares."""
        return self.size - sum(worker < self.size for worker in self.retired)

    # --- copies take workers, and give them back ----------------------------------------------

    def allocate(
        self,
        copy: int,
        count: int,
        index: int,
        former: Intervals = (),
        sources: Sequence[Source] = (),
    ) -> Intervals:
        """Allocate `count` free workers, which the placement chooses, to the copy numbered `copy`
        of the job with this index; return them. `former` are workers that the job had a moment ago,
        which the placement may prefer. With `sources` it chooses among each of these sets as many
        as the source says. The caller makes sure that there are enough. Where workers are only
        counted, return an empty tuple."""
        taken: Intervals = ()
        self.free -= count
        if self.numbers is not None:
            if sources:
                taken = self._take(self.numbers, count, former, index, sources)
            else:
                taken = self.take(self.numbers, count, former, index)
            if self.changing:
                self._hold(taken, copy)
        self.held[copy] = index, count, taken
        return taken

    def _take(
        self,
        numbers: Numbers,
        count: int,
        former: Intervals,
        index: int,
        sources: Sequence[Source],
    ) -> Intervals:
        """Remove `count` workers from the free ones and return them. The sources are used in their
        order, each up to its own count."""
        taken: Intervals = ()
        for source in sources:
            some = min(source.count, count)
            if some:
                had = common(former, source.workers)
                chosen = self.take(Numbers.of(source.workers), some, had, index)
                taken, count = merged(taken, chosen), count - some
        numbers.remove(taken)
        return taken

    def allocate_rest(self, copy: int, whole: Intervals, taken: Intervals) -> Intervals:
        """Allocate to the copy numbered `copy` the workers of its nodes that are no members of it,
        and return them: `whole` are all workers of these nodes, `taken` the members. The caller
        makes sure that the rest is free."""
        assert self.numbers is not None
        rest = without(whole, members(taken))
        if rest:
            self.numbers.remove(rest)
            self.free -= size_of(rest)
            index, count, held = self.held[copy]
            self.held[copy] = index, count + size_of(rest), merged(held, rest)
            self.rest.update(members(rest))
            if self.changing:
                self._hold(rest, copy)
        return rest

    def allocate_ready(
        self, copy: int, count: int, ready: int, index: int, among: Sources
    ) -> tuple[Intervals, Intervals]:
        """Allocate `count` free workers as members, and up to `ready` more, as far as there are
        any, to the copy numbered `copy` of the job with this index. Return both sets: members, then
        those held ready.

        Held ready are, of the workers chosen, the last in the placement's order; where it has no
        order, those that `compact` takes next or, under any other placement, the lowest left
        (rules.md, P12). Where the others of `among` are the workers of its only source, both are
        one choice of the placement, as they are without sources.
        """
        assert self.numbers is not None
        in_order, sources, others = (
            getattr(self.take, "in_order", None),
            among.members,
            among.others,
        )
        free = Numbers.of(others) if sources else self.numbers
        more = min(ready, (size_of(others) if sources else self.free) - count)
        together = all(it.workers == others for it in sources)
        if more and together and in_order is not None:
            chosen = in_order(free, count + more, index)
            taken, held = (intervals_of(sorted(it)) for it in (chosen[:count], chosen[count:]))
            self.numbers.remove(taken)
            self.numbers.remove(held)
        elif sources:
            taken = self._take(self.numbers, count, (), index, sources)
            free.remove(taken)
            rest = lowest if in_order is None and self.take is not compact else self.take
            held = rest(free, more, (), index) if more else ()
            self.numbers.remove(held)
        else:
            # A criterion for members' expected ends does not apply to these, which do not compute.
            taken = self.take(self.numbers, count, (), index)
            rest = self.take if self.take is compact else lowest
            held = rest(self.numbers, more, (), index) if more else ()
        self.free -= count + more
        both = merged(taken, held)
        self.held[copy] = index, size_of(both), both
        if self.changing:
            self._hold(both, copy)
        return taken, held

    def assign(self, copy: int, index: int, numbers: Sequence[int]) -> Intervals:
        """Allocate exactly these workers, given in ascending order, to the copy numbered `copy` of
        the job with this index; return them as intervals. Raises ValueError where one is not
        free."""
        taken = self._assign(copy, numbers)
        self.held[copy] = index, len(numbers), taken
        return taken

    def join(self, copy: int, worker: int) -> None:
        """Allocate one more worker, `worker`, to the copy numbered `copy`. Raises ValueError where
        it is not free."""
        index, count, held = self.held[copy]
        self._assign(copy, (worker,))
        self.held[copy] = index, count + 1, added(held, worker)

    def _assign(self, copy: int, numbers: Sequence[int]) -> Intervals:
        taken = ((numbers[0], numbers[0]),) if len(numbers) == 1 else intervals_of(numbers)
        if not self._all_free(taken, numbers):
            raise ValueError(f"not all of {list(numbers)} are free")
        if self.numbers is not None:
            self.numbers.remove(taken)
        self.free -= len(numbers)
        if self.changing:
            self._hold(taken, copy)
        return taken

    def _all_free(self, taken: Intervals, numbers: Sequence[int]) -> bool:
        if self.numbers is not None:
            return self.numbers.has(taken)
        away = self.away
        return all(self.holder(n) < 0 and n not in away for n in numbers)

    def exchange(self, copy: int, count: int) -> Intervals:
        """Resize the copy numbered `copy` to `count` workers, and return those that it holds then.
        To grow it gets free workers that the placement chooses. To shrink it releases its highest
        workers; those that are not UP, and spares, come last, because no other copy could use
        them."""
        index, _, numbers = self.held[copy]
        had = members(numbers)
        if count < len(had):
            lost = self._spare(had, len(had) - count)
            spans = intervals_of(lost)
            if self.changing:
                self._hold(spans, -1)
            self._free(len(lost), spans, [n for n in lost if n in self.away])
            numbers = intervals_of(sorted(set(had).difference(lost)))
        elif count > len(had):
            gained = self.allocate(copy, count - len(had), index)
            numbers = intervals_of(sorted((*had, *members(gained))))
        self.held[copy] = index, count, numbers
        return numbers

    def returned(self, copy: int, count: int) -> int:
        """Return how many workers other copies could use if the copy numbered `copy` released
        `count` of its workers, chosen as `exchange` chooses. Not counted are workers that are not
        UP, and spares."""
        return sum(map(self._usable, self._spare(members(self.held[copy][2]), count)))

    def _usable(self, worker: int) -> bool:
        """Return whether other copies can use the worker once no copy holds it: it is UP and not a
        spare."""
        return worker not in self.away and worker < self.size

    def _spare(self, had: Sequence[int], count: int) -> list[int]:
        """Return, ascending, the `count` workers that a copy with the workers `had` (ascending)
        releases to shrink: the highest that other copies can use, then the highest of the rest."""
        if self.away or self.spares:
            had = sorted(had, key=lambda n: (self._usable(n), n))
        return sorted(had[-count:])

    def release(self, copy: int) -> Intervals:
        """Take back all workers of the copy numbered `copy`, and return them; none are named where
        they are only counted. Those that are UP and are no spares count as free from now on."""
        _, count, numbers = self.held.pop(copy)
        if not numbers:
            self.free += count
            return numbers
        if self.rest:
            self.rest.difference_update(members(numbers))
        self._free(count, numbers, self._gone(copy, count, numbers) if self.away else ())
        return numbers

    def release_early(self, copy: int) -> Intervals:
        """Take back all workers of the copy numbered `copy`, which goes on with its run, and return
        them."""
        index, count, numbers = self.held[copy]
        self.held[copy] = index, 0, ()
        self._free(count, numbers, self._gone(copy, count, numbers))
        if self.changing:
            self._hold(numbers, -1)
        return numbers

    def _gone(self, copy: int, count: int, numbers: Intervals) -> Sequence[int]:
        """Return those workers of the copy numbered `copy` that are not UP; `numbers` are all that
        it holds, `count` in number."""
        away, holders = self.away, self._holders
        if count < len(away):
            return [n for n in members(numbers) if n in away]
        return [n for n in away if holders[n] == copy]

    def _free(self, count: int, taken: Intervals, gone: Sequence[int]) -> None:
        """Count those of the workers `taken`, `count` in number, as free that are UP and are no
        spares. `gone` are those of them that are not UP."""
        if self.spares and taken and taken[-1][1] >= self.size:
            most = self.size - 1
            taken = tuple((first, min(last, most)) for first, last in taken if first <= most)
            count, gone = size_of(taken), [n for n in gone if n <= most]
        self.free += count - len(gone)
        numbers = self.numbers
        if numbers is not None:
            numbers.release(taken)
            for n in gone:
                numbers.remove(((n, n),))

    def release_one(self, copy: int, worker: int) -> None:
        """Take back one worker from the copy numbered `copy`. If it is UP and no spare, it is free
        from now on."""
        index, count, numbers = self.held[copy]
        self.held[copy] = index, count - 1, without(numbers, (worker,))
        self._holders[worker] = -1
        if self._usable(worker):
            self.free += 1
            if self.numbers is not None:
                self.numbers.release(((worker, worker),))

    def _hold(self, taken: Intervals, copy: int) -> None:
        """Record that the copy numbered `copy`, or none if it is -1, holds these workers."""
        for first, last in taken:
            if first == last:
                self._holders[first] = copy
            else:
                self._held_by[first : last + 1] = copy

    # --- workers change -----------------------------------------------------------------------

    def holder(self, worker: int) -> int:
        """Return the number of the copy that holds this worker; -1 if none does."""
        copy = self._holders[worker]
        return copy if copy in self.held else -1

    def move(self, worker: int, state: WorkerState, until: float | None) -> int:
        """Record that the worker has changed its state to `state`. `until` is the time at which it
        is expected to be UP again; None if that is not known. Return the number of the copy that
        holds it; -1 if none does."""
        copy, away = self._holders[worker], self.away
        if copy not in self.held:
            copy = -1
        free = copy < 0 and worker < self.size
        if state is UP:
            if away.pop(worker, None) is not None and free:
                self.free += 1
                if self.numbers is not None:
                    self.numbers.release(((worker, worker),))
            return copy
        if free and worker not in away:
            self.free -= 1
            if self.numbers is not None:
                self.numbers.remove(((worker, worker),))
        away[worker] = math.inf if until is None else until
        return copy

    def change_speed(self, worker: int, speed: float) -> None:
        """Record the worker's speed from now on."""
        if not self.speeds:
            self.speeds = [1.0] * (self.size + self.spares)
        self.speeds[worker] = speed

    def absent(self) -> list[tuple[int, float]]:
        """Return (worker, time) for each worker that is not UP and that no copy holds, spares
        excluded. The time is that at which it is expected back UP; inf if that is not known."""
        away, size = self.away.items(), self.size
        return [(n, until) for n, until in away if self.holder(n) < 0 and n < size]

    # --- spares -------------------------------------------------------------------------------

    def replace(self, copy: int, worker: int, other: int) -> Intervals:
        """Let the copy numbered `copy` hold the free worker `other` in place of `worker`, which is
        not UP. Return all workers that it holds then."""
        index, count, held = self.held[copy]
        if other < self.size:
            self._assign(copy, (other,))
        self._holders[worker], self._holders[other] = -1, copy
        numbers = swapped(held, worker, other)
        self.held[copy] = index, count, numbers
        return numbers
