"""Replicas of a run's whole state, which drop out of it and rejoin (rules.md, E1).

Readings: messages go on in a pause, and what they complete is complete when it is over; a part of
length 0 that begins in a pause is passed at once. A fault of a replica that is rejoining is a drop.
A replica that fails while it loads begins that anew, but for programs and data. None rejoins a run
that hangs, or whose fault is unheard. A rejoin is no recovery to the replica's buddies.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracle.jobs import ZERO, Group, Run
from tests.oracle.parts import Worker
from tests.oracle.repair import RepairWorld
from tests.oracle.standbys import StandbyWorld
from tests.oracle.storage import Flows
from tests.oracle.timeline import UP
from tests.oracle.words import Outcome, Part, Source, Use

WAITING, LOADING, LOADED, REJOINING = "waiting", "loading", "loaded", "rejoining"
BEFORE = frozenset((Part.STARTUP, Part.MESSAGES, Part.LOADING, Part.RECOVERY))
"""Parts of a run before it computes."""


class ReplicatedWorld(StandbyWorld):
    """A world in which some jobs have replicas."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        super().__init__(scenario)
        self.known: dict[Group, set[int]] = {}
        """Replicas with a fault that this instant has made known."""

    # --- they drop out ---

    def _lose(self, run: Run, member: int) -> None:
        group = run.group
        if run.job.replicas == 1 or run.part in BEFORE:
            super()._lose(run, member)
            return
        replica = group.replica(member)
        if group.out.get(replica, REJOINING) != REJOINING:
            self.drop_messages(run, group.of(replica))
            group.out[replica] = WAITING
        else:
            self.known.setdefault(group, set()).add(replica)

    def _judge(self) -> None:
        known, self.known = self.known, {}
        for group, dropped in known.items():
            run = group.run
            if run is None:
                continue
            left = set(range(run.job.replicas)) - group.out.keys() - dropped
            if len(left) < run.job.least:
                self.finish(run, Outcome.LOST)
            else:
                self._drop(run, dropped)

    def _drop(self, run: Run, dropped: set[int]) -> None:
        group = run.group
        for replica, standing in group.out.items():
            if standing == REJOINING:
                group.out[replica] = LOADED
        for replica in dropped:
            group.out[replica] = WAITING
            self.drop_messages(run, group.of(replica))
        if run.hanging is not None and run.hanging not in group.counting:
            run.found = run.hanging = None
        run.blind = any(self._unheard(q) for q in group.counting)
        group.pause = run.job.regroup or None
        self.pass_parts(run)

    def _unheard(self, q: int) -> bool:
        worker = self.workers[q]
        return worker.down_since is not None and worker.heard > self.now

    # --- they rejoin ---

    def _pass_time(self, run: Run) -> None:
        group = run.group
        for replica, standing in group.out.items():
            loading = any(run.pending[q] for q in group.of(replica))
            if standing == LOADING and not loading and group.loads.get(replica, ZERO) <= 0:
                group.out[replica] = LOADED
        if group.pause is not None and group.pause <= 0 and not run.still:
            self._end_pause(run)
        super()._pass_time(run)

    def _end_pause(self, run: Run) -> None:
        group = run.group
        group.pause = None
        back = {replica for replica, standing in group.out.items() if standing == REJOINING}
        for replica in back:
            del group.out[replica]
        run.blind = any(self._unheard(q) for q in group.counting)

    def _start_kept(self) -> None:
        super()._start_kept()
        for run in self._active():
            if run.group.out:
                self._gather(run)

    def _gather(self, run: Run) -> None:
        """Whole replicas load; those that have rejoin once no pause is due."""
        group = run.group
        for replica, standing in group.out.items():
            if standing == WAITING and self._up(group, replica):
                group.out[replica] = self._load(run, replica)
        ready = [
            replica
            for replica, standing in group.out.items()
            if standing == LOADED and self._up(group, replica)
        ]
        if ready and group.pause is None and not run.still:
            group.out.update(dict.fromkeys(ready, REJOINING))
            group.pause = run.job.rejoin
            if not run.job.rejoin:
                self._end_pause(run)
                self.pass_parts(run)

    def _up(self, group: Group, replica: int) -> bool:
        return all(self.state[q] == UP for q in group.of(replica))

    def _load(self, run: Run, replica: int) -> str:
        members = run.group.of(replica)
        run.group.loads[replica] = run.job.bytes / run.job.replicas
        if self.channels is not None:
            units = run.job.units(run.group.members)
            for q in members:
                run.pending[q] = list(self.needs(run, q, units[q], Source.IMAGE))
        if run.job.bytes or any(run.pending[q] for q in members):
            return LOADING
        return LOADED

    def _exchange(self, gone: Worker, newcomer: Worker, group: Group) -> None:
        super()._exchange(gone, newcomer, group)
        if group.run:
            group.run.pending[newcomer.index] = []

    # --- pauses ---

    def save_at_notice(self, run: Run) -> None:
        """Pauses begin after notices (Z2): what takes no time is over before."""
        pause, run.group.pause = run.group.pause, None
        if pause is None or run.saving is None:
            super().save_at_notice(run)
        elif run.part is Part.COMPUTING and run.done > run.base and run.job.on_notice:
            self._save(run)
        if run.group.run is run:  # a verification of no length may have ended it
            run.group.pause = pause

    def pass_parts(self, run: Run) -> None:
        if run.group.pause is None:
            super().pass_parts(run)

    def _rate(self, run: Run) -> Fraction:
        if run.group.pause is not None:
            return ZERO
        rate, replicas = super()._rate(run), run.job.replicas
        fast = run.part in (Part.COMPUTING, Part.VERIFICATION, Part.FINAL)
        return rate * (replicas - len(run.group.out)) / replicas if fast else rate

    def _saving_rate(self, run: Run) -> Fraction:
        return ZERO if run.group.pause is not None else super()._saving_rate(run)

    def _flows_now(self, run: Run) -> bool:
        return run.group.pause is None and super()._flows_now(run)

    def _flows(self) -> Flows:
        """Whole replicas load, too."""
        return super()._flows() | {
            (run.group, replica): run.group.each
            for run in self._active()
            for replica, left in run.group.loads.items()
            if left > 0 and self._loads(run, replica)
        }

    def _loads(self, run: Run, replica: int) -> bool:
        """Whether it has its programs and data, and is UP."""
        members = run.group.of(replica)
        fed = not any(run.pending[q] for q in members)
        return run.group.out.get(replica) == LOADING and fed and self._up(run.group, replica)

    def _ends(self) -> Iterator[Fraction]:
        yield from super()._ends()
        for run in self._active():
            if run.group.pause and self._goes_on(run):
                yield self.now + run.group.pause
            for replica, left in run.group.loads.items():
                share = self.shares().get((run.group, replica))
                if share:
                    yield self.now + left / share

    def _advance(self, then: Fraction) -> None:
        passed = {it: share * (then - self.now) for it, share in self.shares().items()}
        super()._advance(then)
        for run in self._active():
            loads = run.group.loads
            for replica in loads:
                loads[replica] -= passed.get((run.group, replica), ZERO)

    def _use(self, worker: Worker, sending: set[int], uses: dict[Run, Use | None]) -> Use | None:
        group = worker.group
        aside = group and group.run and worker.index not in group.counting
        if aside and self.state[worker.index] == UP:
            return Use.WAITING
        return super()._use(worker, sending, uses)


class RepairedReplicas(ReplicatedWorld, RepairWorld):
    """The same where faults are repaired."""

    def _judge(self) -> None:
        """Faults of whom a lost run leaves are known at once."""
        while self.known:
            super()._judge()
            self._know()
