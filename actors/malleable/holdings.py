"""Who holds which pairs of processors, by number (003: pairs in application order)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence

from attrs import define, field

from actors.malleable.processor import Processor


@define(eq=False)
class Holdings:
    """Pairs by application; who shrinks gives its highest numbers, who grows takes the lowest.

    Pair g is processors pair*g .. pair*g + pair - 1; what is left over by the division stays
    unused.
    """

    pair: int
    """Processors in a group."""
    processors: Sequence[Processor]
    _free: list[int] = field(init=False)
    """Pairs that nobody holds, ascending."""
    _held: dict[int, list[int]] = field(init=False, factory=dict)
    """Application -> its pairs, ascending."""
    _promised: dict[int, int] = field(init=False, factory=dict)
    """Pair -> the application that still computes on it, though it is somebody else's, or free."""

    def __attrs_post_init__(self) -> None:
        self._free = list(range(len(self.processors) // self.pair))

    @property
    def usable(self) -> int:
        """Processors in whole pairs."""
        return len(self.processors) // self.pair * self.pair

    @property
    def idle(self) -> int:
        """Processors that nobody holds."""
        return len(self._free) * self.pair

    def size(self, index: int) -> int:
        """Processors of application `index`."""
        return len(self._held.get(index, ())) * self.pair

    def resize(self, index: int, size: int) -> tuple[tuple[Processor, ...], tuple[Processor, ...]]:
        """Give `index` processors or take some; answers those that it gained and lost."""
        held, count = self._held.setdefault(index, []), size // self.pair
        lost = held[count:]
        gained = self._free[: max(0, count - len(held))]
        del held[count:], self._free[: len(gained)]
        for pair in lost:
            insort(self._free, pair)
        self._held[index] = sorted([*held, *gained])
        return self._of(gained), self._of(lost)

    def end(self, index: int) -> list[tuple[int, list[int]]]:
        """Free what `index` holds; answers who waited for the pairs that it had promised."""
        self._free = sorted([*self._free, *self._held.pop(index, ())])
        over = sorted(pair for pair, by in self._promised.items() if by == index)
        for pair in over:
            del self._promised[pair]
        return self._owners(over) if over else []

    def _owners(self, pairs: list[int]) -> list[tuple[int, list[int]]]:
        wanted = set(pairs)
        owners = ((index, sorted(wanted.intersection(held))) for index, held in self._held.items())
        return sorted((index, mine) for index, mine in owners if mine)

    def promise(self, index: int) -> None:
        """Free what `index` holds, though it computes there to its end."""
        pairs = self._held.pop(index)
        for pair in pairs:
            self._promised.setdefault(pair, index)
        self._free = sorted([*self._free, *pairs])

    def present(self, index: int) -> list[int]:
        """The pairs of `index` on which nobody else computes any more."""
        return [pair for pair in self._held.get(index, ()) if pair not in self._promised]

    def text(self, pairs: Iterable[int]) -> str:
        """The processors of some pairs as an interval set: `0-3 6-7`."""
        spans: list[list[int]] = []
        for pair in pairs:
            first = pair * self.pair
            if spans and spans[-1][1] == first - 1:
                spans[-1][1] += self.pair
            else:
                spans.append([first, first + self.pair - 1])
        return " ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans)

    def _of(self, pairs: Iterable[int]) -> tuple[Processor, ...]:
        width = self.pair
        return tuple(p for g in pairs for p in self.processors[g * width : (g + 1) * width])
