"""Outcomes that chance decides, or that a scenario lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import define, field
from numpy.random import Generator

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
    _listed: Iterator[int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._listed = iter(()) if isinstance(self.asked, float | int) else iter(self.asked)

    @property
    def certain(self) -> bool:
        """Whether the event comes true always or never, so that nothing is drawn."""
        return self.asked in (0, 1)

    def comes(self, stream: Callable[[], Generator]) -> bool:
        """Return whether the event comes true this time. `stream` returns the random generator to
        draw from; it is called only if something is drawn."""
        if not isinstance(self.asked, float | int):
            return bool(next(self._listed, self.after))
        if self.certain:
            return bool(self.asked)
        return float(stream().random()) < self.asked
