"""Random numbers of a source's many units, such as the workers of a fleet."""

from __future__ import annotations

from hashlib import blake2b
from math import log
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator, Philox
from numpy.random.bit_generator import ISeedSequence

NUMBERS_SHIFT = 2
NUMBERS = 1 << NUMBERS_SHIFT
"""Numbers that one step of Philox's counter makes."""
UNITS_SHIFT = 8
UNITS = 1 << UNITS_SHIFT
"""Number of neighbouring units whose numbers are made at once. For a few units, one such table
takes as long to make as one generator for each unit; for thousands of units, a hundredth of
that."""
BLOCK_SHIFT = 64
MOST_TABLES = 1_024
"""Largest number of tables, of 8 kB each, that a source keeps; others are made anew if needed."""


class Hashed(ISeedSequence):
    """A seed for a bit generator that is a cryptographic hash already."""

    __slots__ = ("digest",)

    def __init__(self, digest: bytes) -> None:
        self.digest = digest

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """Return the first words of the hash, `n_words` of this type."""
        order = np.dtype(dtype).newbyteorder("<")
        return np.frombuffer(self.digest, order, n_words).astype(dtype, copy=False)


def unit_stream(seed: int, name: str, unit: int) -> Generator:
    """Return a random generator of one of a source's many units in a run with `seed`. It is
    independent of all others, and of the numbers of `UnitDraws`.

    The hash is the whole state of the generator. numpy's SeedSequence would hash it again, and take
    eight times as long as all else.
    """
    named = f"{seed}/{name}/{unit}".encode()
    seed_of: Any = Hashed(blake2b(named, digest_size=32).digest())  # numpy's stubs know no other
    return Generator(PCG64(seed_of))


class UnitDraws:
    """Draws random numbers for each of a source's many units (workers, nodes or racks), in a run
    with `seed`. What one unit draws never shifts what another one draws, nor another source.

    Number k of a unit is Philox's output at a place of its counter that the unit and k give, under
    a key that is the hash of seed and name (Salmon et al., Parallel random numbers: as easy as 1,
    2, 3; SC 2011). A unit therefore needs no generator of its own, which takes as long to make as
    all else that a fault costs.
    """

    __slots__ = ("_blocks", "_key", "_left", "_name", "_seed", "_tables", "drew")

    def __init__(self, seed: int, name: str) -> None:
        self._seed, self._name = seed, name
        digest = blake2b(f"{seed}/{name}".encode(), digest_size=16).digest()
        self._key = int.from_bytes(digest, "little")
        self._blocks: dict[int, int] = {}
        """Number of blocks of each unit's numbers that have been begun."""
        self._left: dict[int, list[float]] = {}
        """Maps units to the numbers that are left of their present blocks, the next one last."""
        self._tables: dict[tuple[int, int], memoryview] = {}
        self.drew = False
        """Whether anything has been drawn."""

    def random(self, unit: int) -> float:
        """Return the next number of this unit, uniform in [0, 1)."""
        left = self._left.get(unit)
        return left.pop() if left else self._begun(unit).pop()

    def _begun(self, unit: int) -> list[float]:
        """Begin the unit's next block; return its numbers, the first one last."""
        block = self._blocks.get(unit, 0)
        self._blocks[unit] = block + 1
        group, first = unit >> UNITS_SHIFT, (unit & UNITS - 1) << NUMBERS_SHIFT
        table = self._tables.get((group, block))
        if table is None:
            table = self._table(group, block)
        left: list[float] = table[first : first + NUMBERS].tolist()  # type: ignore[assignment]
        left.reverse()
        self._left[unit] = left
        return left

    def exponential(self, unit: int, mean: float) -> float:
        """Return a draw of this unit from the exponential distribution with this mean, by inversion
        of its next number."""
        return -mean * log(1.0 - self.random(unit))

    def integers(self, unit: int, beyond: int) -> int:
        """Return a draw of this unit from the whole numbers from 0 to below `beyond`, all equally
        likely."""
        return int(self.random(unit) * beyond)

    def generator(self, unit: int) -> Generator:
        """Return a generator of this unit's own, for distributions other than those above; it
        begins anew at each call."""
        self.drew = True
        return unit_stream(self._seed, self._name, unit)

    def _table(self, group: int, block: int) -> memoryview:
        """Make, for the units of a group, the numbers of this block of their sequences."""
        self.drew = True
        if len(self._tables) == MOST_TABLES:
            del self._tables[next(iter(self._tables))]
        counter = (block << BLOCK_SHIFT) + (group << UNITS_SHIFT)
        made = Generator(Philox(key=self._key, counter=counter)).random(UNITS << NUMBERS_SHIFT)
        self._tables[group, block] = table = memoryview(made)  # type: ignore[arg-type]
        return table
