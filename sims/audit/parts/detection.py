"""Derives when a fault is known to the copy whose member it strikes (rules.md, F1): the run stands
still until then."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from attrs import define

from actors.events import FaultDetected, WorkerChanged
from actors.runtime import Event
from sims.audit import stages
from sims.audit.facts import Change, ExpectedCopy
from sims.audit.law import LinePhase, possible, same
from sims.audit.parts import replacement
from sims.audit.turns import LATER, Script
from sims.audit.workers import DOWN, ExpectedWorker
from sims.audit.world import Handler, PartRules, World


@define(eq=False)
class DetectionRules(PartRules):
    """The rules of faults that are detected late."""

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {FaultDetected: self.detect}

    def hidden(self, copy: ExpectedCopy, worker: int, cause: int) -> Script:
        """Have the copy's run stand still until the fault that has taken its member `worker` DOWN
        is detected."""
        fault, w = copy.undetected.get(worker), self.w
        if fault is None:
            return cause  # an earlier one is detected at this instant, and this one with it
        latest = w.now + w.worker(worker).detection
        found = partial(_latest, self, copy, worker, fault)
        w.turns.at(latest, LinePhase.RESUME, copy.job, -2 * LATER, found)
        if copy.run is not None and copy.concerns(worker):
            cause = yield from stages.review(w, copy.run, cause)
        return cause

    def known(self, copy: ExpectedCopy, worker: int) -> Script:
        """Let a copy learn now that a fault has taken its member `worker` DOWN (F1). Its run is
        lost, unless it goes on without the member."""
        w = self.w
        since, cause = copy.undetected.pop(worker)
        w.tell_state(worker, DOWN, copy, cause)
        if since < w.now:
            cause = yield FaultDetected(copy.job.name, copy.last, worker), cause
        if copy.run is not None:
            cause = yield from stages.lose(w, copy, worker, cause)
        elif copy.job.asked.ready:
            stages.resume_soon(w, copy)
        w.decider.report(copy, cause)
        replacement.wanted(w, copy, worker)

    def detect(self, w: World, event: FaultDetected) -> Script | None:
        """Return the script (generator) of a fault's detection, of which `event` is the line; None
        if no such fault is undetected.

        The log may not say why it comes now: the owner of a worker that is DOWN already takes it.
        """
        w.turns.settle(LinePhase.STATES)
        copies = [it for it in w.copies(event.job) if event.worker in it.undetected]
        w.turns.phase = LinePhase.STATES
        return self.known(copies[0], event.worker) if copies else None

    def check_change(self, worker: ExpectedWorker, change: Change) -> None:
        if change.fault:
            worker.detection = _detection(self.w, change.event)


def _detection(w: World, event: WorkerChanged) -> float:
    """Return the time after which the fault that takes a worker DOWN in this line is detected.

    It is one of those that the log's head lists; where they differ, the line itself says which.
    Raises Broken where it is none of them.
    """
    named = set(w.platform.detections)
    if len(named) < 2:
        possible(event.detection is None, "all faults are detected alike")
        return max(named, default=0)
    found = event.detection
    possible(found is not None and any(same(found, it) for it in named), "it is detected otherwise")
    return found or 0


def _latest(
    rules: DetectionRules, copy: ExpectedCopy, worker: int, fault: tuple[float, int]
) -> Script | None:
    """Return the script of a fault's detection at the latest time for that; None if it is detected
    already, or was known at once."""
    repairs = rules.w.repairs
    waits = not copy.gone and copy.undetected.get(worker) == fault
    if not waits or (repairs is not None and repairs.reveals(copy, worker)):
        return None
    return rules.known(copy, worker)
