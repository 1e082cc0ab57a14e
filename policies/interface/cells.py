"""Describes cells: sets of workers that are in the same partitions of a queue and have the same
windows (rules.md, G5 and M2), so that a plan only has to count them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from math import inf

from attrs import frozen

from policies.interface.windows import Window, Windows
from policies.maths.tolerance import ROUNDING

Parts = tuple[tuple[int, int], ...]
"""Pairs (cell, number of its workers), each number above 0."""
CellNumbers = tuple[int, ...]
"""Numbers of cells."""
EARLIER, LATER = 1 - ROUNDING, 1 + ROUNDING
"""Factors that make a time earlier or later by rounding."""


def _spans(workers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return ascending numbers as intervals."""
    spans: list[list[int]] = []
    for worker in workers:
        if spans and spans[-1][1] == worker - 1:
            spans[-1][1] = worker
        else:
            spans.append([worker, worker])
    return tuple((first, last) for first, last in spans)


@frozen(eq=False, slots=False)
class Cell:
    """Workers that are in the same partitions and are DOWN in the same windows."""

    workers: tuple[tuple[int, int], ...]
    """Numbers of these workers, as intervals."""
    windows: Windows
    """Spans of time in which their owner has them DOWN."""
    partitions: tuple[int, ...]
    """Numbers of the partitions that contain them, ascending."""
    place: tuple[tuple[int, ...], tuple[int, ...], int]
    """The partitions and the windows by their places in the scenario file, which decide between
    cells that are alike otherwise, and then `node`."""
    unit: int = 1
    """Number of workers that are taken and become free together: of a node, where all partitions
    of its workers are exclusive; else 1."""

    @property
    def node(self) -> int:
        """Number of its workers' node, if an exclusive partition has the node and they are counted
        apart from other nodes': they are not all alike, or the node is smaller; else -1."""
        return self.place[2]

    @cached_property
    def size(self) -> int:
        return sum(last - first + 1 for first, last in self.workers)


def _apart(
    worker: int,
    keys: Sequence[tuple[tuple[int, ...], frozenset[Window]]],
    node: int,
    exclusive: frozenset[int],
) -> int:
    """Return the number of a worker's node, if an exclusive partition has the node and a count of
    free workers does not tell whether it is wholly free: others share it, windows divide it, or it
    is smaller. Return -1 for any other worker. `keys` are the partitions and windows of each."""
    its, _ = keys[worker]
    if exclusive.isdisjoint(its):
        return -1
    number = worker // node
    alike = keys[number * node : (number + 1) * node].count(keys[worker]) == node
    return -1 if alike and exclusive.issuperset(its) else number


@frozen(eq=False, slots=False)
class Cells:
    """The cells of a platform, and which of them each partition contains."""

    cells: tuple[Cell, ...]
    names: tuple[str, ...]
    """Names of the partitions, by number; one without a name where all workers form one pool."""
    longest_window: float
    """Time at which the last window of any worker is over; -inf if there is none."""
    exclusive: frozenset[int] = frozenset()
    """Numbers of the partitions whose jobs hold whole nodes."""
    node: int = 1
    """Number of workers of a node."""

    @classmethod
    def of(
        cls,
        size: int,
        partitions: Mapping[str, Iterable[int]],
        windows: Sequence[tuple[Window, Iterable[int]]],
        node: int = 1,
        exclusive: Collection[str] = (),
    ) -> Cells:
        """Build the cells of `size` workers, spares excluded, from the workers of each partition,
        by name, and those of each window; both are in the order of the scenario file. Without
        partitions all workers form one. Jobs of the partitions in `exclusive` hold whole nodes of
        `node` workers."""
        pools = partitions or {"": range(size)}
        within: list[list[int]] = [[] for _ in range(size)]
        down: list[set[Window]] = [set() for _ in range(size)]
        for number, them in enumerate(pools.values()):
            for worker in filter(size.__gt__, them):
                within[worker].append(number)
        for span, them in windows:
            for worker in filter(size.__gt__, them):
                down[worker].add(span)
        whole = frozenset(number for number, name in enumerate(pools) if name in exclusive)
        keys = [(tuple(its), frozenset(spans)) for its, spans in zip(within, down, strict=True)]
        known: dict[tuple[tuple[int, ...], frozenset[Window], int], list[int]] = {}
        for worker, key in enumerate(keys):
            known.setdefault((*key, _apart(worker, keys, node, whole)), []).append(worker)
        at = {span: at for at, (span, _) in reversed(list(enumerate(windows)))}
        cells = [
            Cell(
                _spans(workers),
                Windows.of(its),
                mine,
                (mine, tuple(sorted(at[span] for span in its)), of),
                node if of < 0 and not whole.isdisjoint(mine) else 1,
            )
            for (mine, its, of), workers in known.items()
        ]
        cells.sort(key=lambda cell: cell.place)
        last = max((over for (_, over), _ in windows), default=-inf)
        return cls(tuple(cells), tuple(pools), last, whole, node)

    def __deepcopy__(self, _: object) -> Cells:
        """Return the cells themselves, because they never change."""
        return self

    @cached_property
    def partitioned(self) -> bool:
        """Whether the workers are divided otherwise than by windows: there are several partitions,
        or one that does not have all workers."""
        return len(self.names) > 1 or any(not cell.partitions for cell in self.cells)

    @cached_property
    def containing(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the partitions that contain each cell."""
        return tuple(cell.partitions for cell in self.cells)

    @cached_property
    def of_partition(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the cells of each partition."""
        return tuple(
            tuple(k for k, cell in enumerate(self.cells) if number in cell.partitions)
            for number in range(len(self.names))
        )

    @cached_property
    def sharing(self) -> tuple[frozenset[int], ...]:
        """For each partition the numbers of those that share a worker with it, itself included."""
        return tuple(
            frozenset(other for k in own for other in self.cells[k].partitions)
            for own in self.of_partition
        )

    @cached_property
    def linked(self) -> tuple[int, ...]:
        """For each partition the lowest number of those that it shares workers with, directly or
        through others: partitions with different ones have nothing to do with each other."""
        found = list(range(len(self.names)))
        for _ in found:
            for number, others in enumerate(self.sharing):
                found[number] = min(found[other] for other in others | {number})
        return tuple(found)

    @cached_property
    def component_of(self) -> tuple[int, ...]:
        """Maps each cell to the lowest number of the partitions that are linked through the cell
        (see `linked`); -1 for a cell of no partition."""
        linked = self.linked
        return tuple(linked[it.partitions[0]] if it.partitions else -1 for it in self.cells)

    @cached_property
    def of_component(self) -> dict[int, CellNumbers]:
        """The cells of each set of linked partitions, by the lowest number of these."""
        found: dict[int, list[int]] = {}
        for cell, component in enumerate(self.component_of):
            found.setdefault(component, []).append(cell)
        found.pop(-1, None)
        return {component: tuple(own) for component, own in found.items()}

    @cached_property
    def lasting(self) -> tuple[int, ...]:
        """Number of workers of each partition that no window without end takes; in an exclusive one
        those of whole nodes."""
        counts = [cell.size if cell.windows.lasts else 0 for cell in self.cells]
        return tuple(self.usable(number, counts) for number in range(len(self.names)))

    @cached_property
    def _nodes(self) -> tuple[tuple[int, ...], ...]:
        """Maps each cell to all cells of its node; to the cell alone if it is no part of one
        node."""
        of: dict[int, list[int]] = {}
        for k, cell in enumerate(self.cells):
            of.setdefault(cell.node, []).append(k)
        return tuple(
            (k,) if cell.node < 0 else tuple(of[cell.node]) for k, cell in enumerate(self.cells)
        )

    @cached_property
    def _spans(self) -> tuple[list[int], list[int], list[int]]:
        """First and last workers of all intervals of cells, ascending, and the cell of each."""
        rows = sorted((*span, k) for k, cell in enumerate(self.cells) for span in cell.workers)
        firsts, lasts, which = zip(*rows, strict=True)
        return list(firsts), list(lasts), list(which)

    @cached_property
    def of_worker(self) -> list[int]:
        """The cell of each worker, spares excluded."""
        found = [0] * sum(cell.size for cell in self.cells)
        for number, cell in enumerate(self.cells):
            for first, last in cell.workers:
                found[first : last + 1] = [number] * (last + 1 - first)
        return found

    def take(self, parts: Parts, free: list[int], sign: int = -1) -> None:
        """Take these workers (with `sign` 1: give them back) in `free`, the number of free workers
        of each partition."""
        for cell, count in parts:
            for partition in self.containing[cell]:
                free[partition] += sign * count

    def has(self, partition: int, worker: int) -> bool:
        """Return whether a worker, which is no spare, is in the partition."""
        return partition in self.cells[self.of_worker[worker]].partitions

    def counts(self, numbers: Iterable[tuple[int, int]]) -> list[int]:
        """Return how many of these workers, given as intervals, are in each cell. Spares, whose
        numbers come after all others, are in none."""
        firsts, lasts, which = self._spans
        counts = [0] * len(self.cells)
        for first, last in numbers:
            at = bisect_right(firsts, first) - 1
            if last <= lasts[at]:
                counts[which[at]] += last - first + 1
                continue
            for k in range(at, bisect_right(firsts, last)):
                counts[which[k]] += max(0, min(last, lasts[k]) - max(first, firsts[k]) + 1)
        return counts

    def free(self, vacant: Iterable[tuple[int, int]]) -> list[int]:
        """Return how many of these free workers, given as intervals, jobs can be given of each
        cell: where a cell deals in nodes those of nodes that are free whole."""
        if not self.exclusive:
            return self.counts(vacant)
        vacant = list(vacant)
        counts = self.counts(vacant)
        for number, cell in enumerate(self.cells):
            if cell.unit > 1:
                counts[number] = len(self.free_nodes(number, vacant)) * cell.unit
        return counts

    def free_nodes(self, cell: int, vacant: Iterable[tuple[int, int]]) -> list[int]:
        """Return, ascending, the numbers of the nodes of a cell that deals in nodes of which all
        workers are among these, given as intervals."""
        found, node = list[int](), self.node
        for first, last in vacant:
            for begin, end in self.cells[cell].workers:
                low, high = max(first, begin), min(last, end)
                found.extend(range(-(-low // node), (high + 1) // node))
        return found

    def whole(
        self, cells: Collection[int], vacant: Iterable[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """Return the nodes, by number, that consist of workers of these cells all of which are
        vacant, given as intervals; each node as an interval of workers."""
        vacant, nodes = list(vacant), list[int]()
        counts, sizes = self.free(vacant), dict[int, tuple[int, int]]()
        for k in cells:
            if self.cells[k].unit > 1:
                nodes += self.free_nodes(k, vacant)
            elif self._nodes[k][0] == k and all(
                it in cells and counts[it] == self.cells[it].size for it in self._nodes[k]
            ):
                spans = [span for it in self._nodes[k] for span in self.cells[it].workers]
                sizes[self.cells[k].node] = min(spans)[0], max(spans)[1]
        sizes |= {it: (it * self.node, (it + 1) * self.node - 1) for it in nodes}
        return [sizes[it] for it in sorted(sizes)]

    def parts(self, numbers: Iterable[tuple[int, int]]) -> Parts:
        """Return how many of these workers, given as intervals, are in each cell, as pairs (cell,
        number)."""
        return tuple((cell, count) for cell, count in enumerate(self.counts(numbers)) if count)

    def within(self, partition: int, numbers: Iterable[tuple[int, int]]) -> int:
        """Return how many of these workers, given as intervals, are in the partition."""
        counts = self.counts(numbers)
        return sum(counts[cell] for cell in self.of_partition[partition])

    def usable(self, partition: int, counts: Sequence[int]) -> int:
        """Return how many workers jobs of the partition can use where `counts` of each cell are
        free (see `free`); of an exclusive partition, those of nodes that are free whole."""
        own = self.of_partition[partition]
        if partition in self.exclusive:
            own = tuple(
                k
                for k in own
                if all(counts[it] == self.cells[it].size for it in self._nodes[k])
                or self.cells[k].unit > 1
            )
        return sum(counts[k] for k in own)

    def whole_nodes(self, wanted: int, in_order: Sequence[int], free: Mapping[int, int]) -> Parts:
        """Return how many workers of each cell the first nodes have that have `wanted` workers
        together and are free whole; empty if they are too few. Of the cells `in_order`, which a job
        of an exclusive partition may use, `free` has how many workers are free; a node that is
        divided comes with the first of its cells."""
        may, found, left = set(in_order), dict[int, int](), wanted
        for first in in_order:
            its, unit = self._nodes[first], self.cells[first].unit
            if first in found or not may.issuperset(its):
                continue
            if unit > 1:
                found[first] = min(free[first], -(-left // unit) * unit)
            elif all(free[k] == self.cells[k].size for k in its):
                found.update((k, self.cells[k].size) for k in its)
            left = wanted - sum(found.values())
            if left <= 0:
                return tuple((k, count) for k, count in found.items() if count > 0)
        return ()

    def dealt(
        self, partition: int, wanted: int, in_order: Sequence[int], free: Iterable[int]
    ) -> Parts:
        """Return how many workers of each cell a job of the partition gets that wants `wanted`, of
        the cells `in_order`; empty if they are too few. `free` yields for each of these how many
        are free; below 0 where more are reserved than there are."""
        if partition in self.exclusive:
            return self.whole_nodes(wanted, in_order, dict(zip(in_order, free, strict=True)))
        found: list[tuple[int, int]] = []
        for cell, count in zip(in_order, free, strict=True):
            if count >= wanted:
                found.append((cell, wanted))
                return tuple(found)
            if count > 0:
                found.append((cell, count))
                wanted -= count
        return ()

    def never_fits(self, partition: int, processors: int, held: float) -> bool:
        """Return whether no start at any time would let a job hold `processors` workers of this
        partition for `held` time units without a window on one of them: `held` is infinite, or
        fewer workers than that are without a window that never ends. Such a job then starts as if
        there were no windows."""
        return held == inf or processors > self.lasting[partition]

    def open_to(self, partition: int, processors: int, held: float, start: float) -> CellNumbers:
        """Return the cells of the partition that a job may use which starts at `start` and holds
        `processors` workers for `held` time units: those that no window closes in that time; all,
        if the job fits between no windows at all (`never_fits`)."""
        return self.opening(partition, processors, held, start)[0]

    def opening(
        self, partition: int, processors: int, held: float, start: float
    ) -> tuple[CellNumbers, float, float]:
        """Return the cells of `open_to`; a time up to which they are the same for later starts, as
        far as windows that begin are concerned; and the time of the next end of a window of the
        partition, from which there may be more. Both times are inf where there is none."""
        own = self.of_partition[partition]
        if self.longest_window <= start or self.never_fits(partition, processors, held):
            return own, inf, inf
        # The cells depend only on how many windows begin before its end and are over by its start.
        begins, ends = self._turns[partition]
        begun = bisect_left(begins, (start + held) * EARLIER)
        over = bisect_right(ends, start * LATER)
        found = self._open.get((partition, begun, over))
        if found is None:
            found = tuple(k for k in own if not self.cells[k].windows.closed(start, start + held))
            self._open[partition, begun, over] = found
        # Rounding moves the limit a little; being early only means to ask once more.
        until = begins[begun] * (1 - 4 * ROUNDING) - held if begun < len(begins) else inf
        return found, until, ends[over] if over < len(ends) else inf

    def ends_within(self, partition: int, since: float, until: float) -> list[float]:
        """Return the times from `since` on and before `until` at which windows of the partition's
        cells end."""
        _, ends = self._turns[partition]
        return ends[bisect_left(ends, since) : bisect_left(ends, until)]

    @cached_property
    def _turns(self) -> tuple[tuple[list[float], list[float]], ...]:
        """For each partition the times, ascending, at which windows of its cells begin, and those
        at which they end."""
        return tuple(
            (
                sorted({time for k in own for time in self.cells[k].windows.begins}),
                sorted({time for k in own for time in self.cells[k].windows.ends}),
            )
            for own in self.of_partition
        )

    @cached_property
    def _open(self) -> dict[tuple[int, int, int], CellNumbers]:
        """Cells of `opening`, which a plan asks for thousands of times between two windows."""
        return {}

    def in_order(self, cells: CellNumbers, start: float, now: bool) -> CellNumbers:
        """Return these cells, all of one partition, in the order in which a job that starts at
        `start` takes workers from them (G5). For a start now that is: what the fewest partitions
        contain, then what the next window closes soonest, then what the file lists first. For a
        later start those of which a window ends latest at `start` or before come first: no one can
        use them sooner."""
        if len(cells) < 2:
            return cells
        begins, ends = self._all_turns
        passed = bisect_right(begins, start), bisect_right(ends, start * LATER)
        found = self._ordered.get((cells, now, passed))
        if found is None:
            key = partial(self._rank, start, now)
            found = self._ordered[cells, now, passed] = tuple(sorted(cells, key=key))
        return found

    def open_in_order(
        self, partition: int, processors: int, held: float, start: float, now: bool
    ) -> CellNumbers:
        """Return the cells of `open_to`, in the order of `in_order`."""
        # Both depend only on how many windows have begun and ended.
        begins, ends = self._turns[partition]
        begun, over = bisect_right(begins, start), bisect_right(ends, start * LATER)
        until = -1
        if not self.never_fits(partition, processors, held):
            until = bisect_left(begins, (start + held) * EARLIER)
        found = self._taken.get((partition, begun, over, until, now))
        if found is None:
            may = self.open_to(partition, processors, held, start)
            found = self.in_order(may, start, now)
            self._taken[partition, begun, over, until, now] = found
        return found

    @cached_property
    def _taken(self) -> dict[tuple[int, int, int, int, bool], CellNumbers]:
        """Answers of `open_in_order`, which a plan asks for thousands of times between two
        windows."""
        return {}

    def _rank(self, start: float, now: bool, number: int) -> tuple[float, int, float, int]:
        cell = self.cells[number]
        over = inf if now else -cell.windows.last_over(start)
        return over, len(cell.partitions), cell.windows.next_from(start), number

    @cached_property
    def _all_turns(self) -> tuple[list[float], list[float]]:
        """The times, ascending, at which any window begins, and those at which one ends."""
        return (
            sorted({time for cell in self.cells for time in cell.windows.begins}),
            sorted({time for cell in self.cells for time in cell.windows.ends}),
        )

    @cached_property
    def _ordered(self) -> dict[tuple[CellNumbers, bool, tuple[int, int]], CellNumbers]:
        """Answers of `in_order`, which depend only on how many windows have begun and ended."""
        return {}

    def next_from(self, cells: Iterable[int], start: float) -> float:
        """Return the first time after `start` at which a window takes workers of these cells DOWN;
        inf if none does."""
        return min([self.cells[cell].windows.next_from(start) for cell in cells], default=inf)
