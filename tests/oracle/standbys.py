"""Standbys: workers that a copy holds besides its members, to take their places (rules.md, P12).

Readings: a standby leaves at the instant of its DOWN, which is known at once and blamed on nobody
else. Windows of maintenance keep members away, not standbys. A member that a fault without downtime
strikes is UP again, and keeps its place. Who is back at once, as others or nobody are blamed, has
been repaired; so has whose DOWN a further fault has only made longer.
"""

from __future__ import annotations

from fractions import Fraction

from tests.oracle.jobs import Group, Job
from tests.oracle.parts import Worker
from tests.oracle.storage import StoredWorld
from tests.oracle.timeline import DOWN, UP
from tests.oracle.words import Protection, Source


class StandbyWorld(StoredWorld):
    """A world in which some jobs have standbys."""

    def _go_down(self, worker: Worker, heard: Fraction) -> None:
        """A standby leaves, and nothing else."""
        if worker.group and worker.index in worker.group.standbys:
            worker.group.standbys.remove(worker.index)
            worker.group, heard = None, self.now
        super()._go_down(worker, heard)

    def start_kept(self, group: Group) -> None:
        """From the last image, or from scratch."""
        if group.job.protection is Protection.BUDDIES:
            super().start_kept(group)
        else:
            origin = group.job.image
            self.start(group, origin, Source.IMAGE if origin else Source.SCRATCH, kept=True)

    def _start_kept(self) -> None:
        given_back = True
        while given_back:  # what is known of who is free may be blamed on others
            groups = [group for job in self.jobs for group in list(job.copies_held)]
            given_back = True in [self._stand_in(group) for group in groups]
            if given_back:
                self._know()
        super()._start_kept()

    def _stand_in(self, group: Group) -> bool:
        """Standbys take the places of who is DOWN; without enough of them all are given back:
        whether that is so."""
        for q in sorted(group.members):
            worker, ready = self.workers[q], [it for it in group.standbys if self.state[it] == UP]
            if self.state[q] == DOWN and worker.heard <= self.now:
                if ready:
                    group.standbys.remove(min(ready))
                    self._exchange(worker, self.workers[min(ready)], group)
                elif group.run is None and group.job.protection is not Protection.BUDDIES:
                    self._release(group)
                    return True
        return False

    def _join(self) -> None:
        """Who is back from a repair is a standby of the first job that lacks one and may have
        it."""
        for worker in self.startable:
            free = worker.group is None and worker.rest_of is None
            if worker.index in self.mended and free:
                groups = [group for job in self.jobs for group in job.copies_held]
                mine = [it for it in groups if worker.index in self.cells.mine(it.job)]
                lacking = [it for it in mine if len(it.standbys) < it.job.standbys]
                if lacking:
                    lacking[0].standbys.append(worker.index)
                    worker.group = lacking[0]

    def _enough(self, job: Job, free: int) -> bool:
        """Who has called starts with all that it can ever have (P11)."""
        mine = self.cells.mine(job)
        left = sum(q in mine for q in self._left())
        wanted = min(job.processors + job.standbys, left)
        return not job.called or free >= wanted
