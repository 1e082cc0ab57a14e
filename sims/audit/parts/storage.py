"""Derives the bandwidth with which runs save to shared storage and load from it (rules.md, S1)."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from attrs import Factory, define

from actors import events as e
from actors.runtime import Event
from sims.audit.facts import ExpectedRun
from sims.audit.law import Causes, LinePhase, follows
from sims.audit.turns import NEGLIGIBLE, Script
from sims.audit.workers import joined, written
from sims.audit.world import Handler, PartRules, World


@define(eq=False)
class ExpectedStorage:
    """The shared storage, and the accounts that share its bandwidth: those of runs, of checkpoints
    beside them, and of groups of members that load the state."""

    bandwidth: float
    each: float
    """Largest bandwidth of one worker."""
    using: dict[ExpectedRun, int] = Factory(dict)
    """Maps each account to the event since which it has used the storage."""
    changes: list[int] = Factory(list)
    """Events of this instant with which an account began or ceased to use the storage."""

    def cap(self, it: ExpectedRun) -> float:
        """Return the largest bandwidth that the account's members have together: that of one worker
        times their number."""
        return self.each * it.width

    def due(self) -> list[tuple[ExpectedRun, float]]:
        """Return the accounts whose bandwidth changes now, each with its new bandwidth, in order of
        their caps; empty if no account began or ceased to use the storage at this instant.

        The bandwidth is divided by water-filling: an account whose cap is below a common level gets
        its cap, all others get the level, which is as high as the bandwidth allows.
        """
        if not self.changes:
            return []
        accounts = sorted(self.using, key=self.cap)
        level = self._level([self.cap(it) for it in accounts])
        shares = [(it, min(self.cap(it), level)) for it in accounts]
        return [(it, to) for it, to in shares if abs(to - it.rate) > NEGLIGIBLE * it.rate]

    def _level(self, caps: list[float]) -> float:
        full = 0.0
        for k, cap in enumerate(caps):
            level = (self.bandwidth - full) / (len(caps) - k)
            if cap >= level:
                return level
            full += cap
        return inf


@define(eq=False)
class StorageRules(PartRules):
    """The rules of shared storage."""

    def prepare(self) -> None:
        bandwidths = self.w.given.storage
        if bandwidths is not None:
            self.w.storage = ExpectedStorage(*bandwidths)

    def handlers(self) -> Mapping[type[Event], Handler]:
        return dict.fromkeys((e.BandwidthShared, e.ReplicaLoads), share)

    def share(self, it: ExpectedRun) -> None:
        use(self.w, it, it.cause)

    def share_changed(self, it: ExpectedRun, cause: int) -> Script:
        return (yield from review(self.w, it, cause))

    def share_over(self, it: ExpectedRun, cause: int) -> None:
        leave(self.w, it, cause)

    def close(self) -> None:
        """Check at the end of an instant that the storage's bandwidth is divided as it must be;
        raise Broken if a line is missing."""
        w = self.w
        if w.storage is not None and w.storage.changes:
            for it, bandwidth in w.storage.due():
                left = it.length - it.at(w.now)
                w.turns.lacks((_shared(it, bandwidth, left), ()))
            w.storage.changes.clear()


def use(w: World, it: ExpectedRun, cause: int) -> None:
    """Let the account `it` (of a run, a checkpoint beside it, or a loading replica) share the
    storage's bandwidth, because of event `cause`, unless it does so already or stands still."""
    if not it.still and it not in w.storage.using:
        w.storage.using[it] = cause
        w.storage.changes.append(cause)


def leave(w: World, it: ExpectedRun, cause: int) -> None:
    """End the use of the storage by the account `it`, because of event `cause`; do nothing if it
    does not use it."""
    if it.shares:
        it.shares = False
        if w.storage.using.pop(it, None) is not None:
            w.storage.changes.append(cause)


def review(w: World, it: ExpectedRun, cause: int) -> Script:
    """Apply a change of the members' states, event `cause`, to the account `it`: it has a share of
    the bandwidth only while its time passes, which needs all members UP. Return the last event that
    follows."""
    if not it.still:
        use(w, it, cause)
    elif it in w.storage.using:
        del w.storage.using[it]
        cause = yield from _set(w, it, 0, cause)
        w.storage.changes.append(cause)
    return cause


def _set(w: World, it: ExpectedRun, bandwidth: float, causes: Causes) -> Script:
    it.settle(w.now)
    it.rate = bandwidth
    left = it.length - it.passed
    left = left if left > NEGLIGIBLE * it.length else 0
    it.cause = yield _shared(it, bandwidth, left), causes
    it.aim()
    return it.cause


def _shared(it: ExpectedRun, bandwidth: float, left: float) -> Event:
    """Return the line that gives the account `it` this bandwidth, with the bytes that are left to
    pass."""
    whose = it.copy.job.name, it.number
    if it.group is not None:
        return e.ReplicaLoads(*whose, written(joined(it.group.members)), bandwidth, left)
    return e.BandwidthShared(*whose, bandwidth, left)


def share(w: World, event: e.BandwidthShared | e.ReplicaLoads) -> Script:
    """Return the script (generator) of the lines that divide the storage's bandwidth anew at the
    end of an instant, of which `event` is the first."""
    follows(w.storage is not None, "there is no storage")
    w.turns.settle(LinePhase.DECISION + 1)
    return _share(w)


def _share(w: World) -> Script:
    storage, due = w.storage, w.storage.due()
    changes = tuple(storage.changes)
    storage.changes.clear()
    follows(due, "no share changes now")
    while due:
        event = yield None
        # The log does not say which of two jobs has the lower index: of equal caps any may come.
        equal = [it for it in due if storage.cap(it[0]) == storage.cap(due[0][0])]
        about = ("job", "run", "processors")
        told = [getattr(event, key, None) for key in about]
        lines = ((it, _shared(it[0], 0, 0)) for it in equal)
        named = (it for it, line in lines if [getattr(line, key, None) for key in about] == told)
        it, bandwidth = chosen = next(named, due[0])
        due.remove(chosen)
        yield from _set(w, it, bandwidth, changes if it.rate else storage.using[it])
