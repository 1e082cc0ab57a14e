"""Randomness: one seed per run, one stream of its own for each source."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence


def stream(seed: int, name: str) -> Generator:
    """The generator of the source `name` in a run with `seed`.

    Streams are independent of each other and of the order in which they are asked for: what a
    policy draws never shifts a worker's failures, so policies meet the same ones. The name goes in
    through a cryptographic hash, because Python's own differs from process to process.
    """
    words = np.frombuffer(blake2b(name.encode(), digest_size=16).digest(), dtype="<u4")
    return Generator(PCG64(SeedSequence(seed, spawn_key=tuple(int(word) for word in words))))
