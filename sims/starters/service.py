"""Whom a master of limited bandwidth serves first. From Python:

holdfast.run("mine.toml", service=ShortestFirst())
"""

from collections.abc import Sequence

from attrs import frozen

from policies.interface import Waiting


@frozen
class ShortestFirst:
    """Whoever lacks least communication, ties to the lowest index."""

    every_slot = False
    """Whether to be asked again in every slot, though nobody came or went."""

    def __call__(self, waiting: Sequence[Waiting], channels: int, now: float) -> list[Waiting]:
        """At most `channels` of `waiting`."""
        return sorted(waiting, key=lambda it: (it.left, it.index))[:channels]
