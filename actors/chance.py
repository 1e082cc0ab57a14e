"""Outcomes that chance decides, or that a scenario lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define, field

from actors.runtime.draws import UnitDraws

Asked = float | Sequence[int]
"""Probability of an outcome; or a list of outcomes in the order in which they are asked for, 1 for
each that comes true."""


@define(eq=False)
class Chance:
    """Decides, each time that it is asked, whether an event comes true: from the next item of a
    list, or at random with a fixed probability. A probability of 0 or 1 takes no draw from the
    random stream."""

    asked: Asked
    after: bool = False
    """The answer once all outcomes of a list have been given."""
    certain: bool = field(init=False)
    """Whether the event comes true always or never, so that nothing is drawn."""
    _listed: Iterator[int] | None = field(init=False, default=None)
    """Outcomes of the list that are still to come; None: there is no list."""

    _probability: float = field(init=False, default=0)
    """Probability of the event, where there is no list."""

    def __attrs_post_init__(self) -> None:
        self.certain = self.asked in (0, 1)
        if isinstance(self.asked, float | int):
            self._probability = self.asked
        else:
            self._listed = iter(self.asked)

    def comes(self, draws: UnitDraws, unit: int) -> bool:
        """Return whether the event comes true this time, drawn by the unit numbered `unit` if
        something is drawn."""
        if self._listed is not None:
            return bool(next(self._listed, self.after))
        if self.certain:
            return bool(self._probability)
        return draws.random(unit) < self._probability
