"""Who of a pack changes size at an end or a fault. In a scenario file:

[policy]
name = "redistribution:HelpTheLast"
"""

from attrs import frozen

from policies.interface import Cause, RedistributionView, Resize


@frozen
class HelpTheLast:
    """All idle processors to whoever is expected to end last, if it then ends earlier."""

    acts_at_faults: bool = True
    """Whether to do so after faults as well as after ends. Where not, nobody releases processors
    at a fault either."""

    def __call__(self, view: RedistributionView) -> list[Resize]:
        """The sizes that change: positive multiples of `view.pair`, of candidates only."""
        if view.cause is Cause.FAULT and not self.acts_at_faults:
            return []
        if not view.candidates:
            return []
        last = max(view.candidates, key=lambda it: it.finish(it.size))
        size = min(last.size + view.idle, last.largest - last.largest % view.pair)
        if size <= last.size or last.finish(size) >= last.finish(last.size):
            return []
        return [Resize(last.index, size)]
