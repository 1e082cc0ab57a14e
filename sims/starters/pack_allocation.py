"""How a pack of malleable applications shares the processors at the start. In a scenario file:

[policy]
allocation = "pack_allocation:Levelled"
"""

from attrs import frozen

from policies.interface import AllocationView


@frozen
class Levelled:
    """One group more for whoever is expected to end last, while that helps."""

    def __call__(self, view: AllocationView) -> list[int]:
        """A size for each application, by index: positive multiples of `view.pair`."""
        sizes = [view.pair] * len(view.applications)
        idle = view.processors - sum(sizes)
        while idle >= view.pair:
            last = max(view.applications, key=lambda it: it.finish(sizes[it.index]))
            if sizes[last.index] + view.pair > last.largest:
                break  # more processors would only slow it down
            sizes[last.index] += view.pair
            idle -= view.pair
        return sizes
