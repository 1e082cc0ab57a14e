"""One configuration, whatever happens: what Figure 1 of volatile13 shows."""

from __future__ import annotations

from attrs import field, frozen
from numpy.random import Generator

from policies.interface import Configuration, EnrolmentView, Wake


def _sorted(members: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(members))


@frozen
class FixedConfiguration:
    """Enrols the same workers each time, as soon as they are all UP; passive."""

    members: tuple[tuple[int, int], ...] = field(converter=_sorted)
    """(worker index, tasks)."""

    @property
    def wake(self) -> Wake:
        """Passive."""
        return Wake.NEVER

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        ready = all(view.up >> worker & 1 for worker, _ in self.members)
        return Configuration(self.members) if ready else None
