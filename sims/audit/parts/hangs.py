"""Derives when a hang of a member is detected (rules.md, F6): the run stands still until then."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from attrs import define

from actors.events import HangDetected, RunHung
from actors.runtime import Event
from sims.audit import stages
from sims.audit.facts import ExpectedCopy, ExpectedRun
from sims.audit.law import LinePhase, possible
from sims.audit.turns import LATER, Script
from sims.audit.workers import DOWN, UP
from sims.audit.world import Handler, PartRules, World


@define(eq=False)
class HangRules(PartRules):
    """The rules of members that hang."""

    not_of_jobs: ClassVar = (RunHung,)

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {RunHung: hang}


def hang(w: World, event: RunHung) -> Script:
    """Check the line that says that a member of a run hangs, and have the run stand still (F6)
    until the hang is detected."""
    w.turns.settle(LinePhase.RESUME)
    w.turns.phase = LinePhase.RESUME
    copy, worker = w.copy_of(event), w.worker(event.worker)
    run = copy.run if copy is not None else None
    sound = copy is not None and run is not None and run.hung is None
    possible(sound and copy is not None and copy.concerns(event.worker), "no such run can hang")
    assert copy is not None and run is not None
    # A fault of a later law may have taken the worker DOWN at this instant, or kept it DOWN.
    falls = worker.state is DOWN and w.now in (worker.changed, worker.until)
    up = worker.state is UP or falls
    possible(event.worker in copy.members and up and event.detection >= 0)
    hung = yield event, w.brought(event)
    run.hangs(event.worker, hung)
    cause = yield from stages.review(w, run, hung)
    if event.detection:
        w.decider.report(copy, cause)
        found = partial(_hang_found, w, copy, run, event, hung)
        w.turns.at(
            w.now + event.detection, LinePhase.RESUME, copy.job, -LATER - (LATER >> 1), found
        )
    else:
        yield from _hang_detected(w, copy, event, hung)


def _hang_found(
    w: World, copy: ExpectedCopy, run: ExpectedRun, event: RunHung, hung: int
) -> Script | None:
    over = run.over or copy.gone or run.hung is None or run.hang != hung
    return None if over else _hang_detected(w, copy, event, hung)


def _hang_detected(w: World, copy: ExpectedCopy, event: RunHung, hung: int) -> Script:
    cause = yield HangDetected(event.job, event.run, event.worker), hung
    cause = yield from stages.lose(w, copy, event.worker, cause)
    w.decider.report(copy, cause)
