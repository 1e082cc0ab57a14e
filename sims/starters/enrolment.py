"""Which volatile workers an iterative job enrols, with how many tasks each. In a scenario file:

[policy]
name = "enrolment:FewestFastest"
parameters = { most = 4 }

`view` (policies.interface.EnrolmentView) has the masks `up` and `programmed` (bit q: worker q), and
in `view.enrolment` each worker's slots per task (`speeds`) and most tasks (`bounds`), and what is
believed of their availability.
"""

from attrs import frozen
from numpy.random import Generator

from policies.interface import Configuration, EnrolmentView


@frozen
class FewestFastest:
    """Tasks dealt one by one to whoever of the fastest UP workers would end first."""

    most: int = 4
    """Workers enrolled at once, if they can hold all tasks."""

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        """Asked when an iteration needs workers; None waits until more of them are UP."""
        speeds, bounds = view.enrolment.speeds, view.enrolment.bounds
        up = [q for q in range(len(speeds)) if view.up >> q & 1 and bounds[q]]
        up.sort(key=lambda q: (speeds[q], q))
        if sum(bounds[q] for q in up) < view.enrolment.tasks:
            return None
        few = self.most
        while sum(bounds[q] for q in up[:few]) < view.enrolment.tasks:
            few += 1
        tasks = dict.fromkeys(up[:few], 0)
        for _ in range(view.enrolment.tasks):
            free = [q for q in tasks if tasks[q] < bounds[q]]
            tasks[min(free, key=lambda q: (tasks[q] + 1) * speeds[q])] += 1
        return Configuration(tuple(sorted((q, n) for q, n in tasks.items() if n)))
