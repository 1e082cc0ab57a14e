"""Hangs: a member can stop computing without going DOWN, and its run with it (rules.md, F6).

Hangs of an instant are acted on together, once all workers have changed state: a worker that goes
DOWN at the same instant does not hang, and the first law of faults counts where several strike.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import define, field

from actors.copy import Copy
from actors.events import HangDetected, RunHung
from actors.job import AT_WORK
from actors.messages import MemberHung
from actors.parts.part import Part
from actors.run import Run
from actors.runtime import NOTHING, Phase, handles, message
from actors.steps import FREED, HANGS


@message
class ActOnHangs:
    """A job tells itself to act on all hangs that begin or are detected at this instant."""


@message
class HangDue:
    """A job tells itself that the hang of `worker`, which stopped this run, is detected now.
    Nothing happens if the run is over by then."""

    copy: int
    run: int
    worker: int


ACT_ON_HANGS = ActOnHangs()


@define(eq=False)
class Hangs(Part):
    """Stops the runs whose members hang, until that is detected."""

    late: ClassVar = (MemberHung,)
    _begun: list[tuple[MemberHung, int]] = field(init=False, factory=list)
    """Each hang of a member at this instant, and the number of the event that caused it."""
    _due: list[tuple[HangDue, int]] = field(init=False, factory=list)
    """Each hang that is detected at this instant, and the number of the event with which it
    began."""
    _hung: dict[int, tuple[int, int]] = field(init=False, factory=dict)
    """Maps each copy whose run hangs to the member that hangs, and the number of the event with
    which that began."""

    @handles(MemberHung, during=AT_WORK)
    def begin(self, message: MemberHung, cause: int) -> None:
        """Note a hang that begins at this instant."""
        self._act_soon()
        self._begun.append((message, cause))

    @handles(HangDue)
    def fall_due(self, message: HangDue, cause: int) -> None:
        """Note a hang that is detected at this instant."""
        self._act_soon()
        self._due.append((message, cause))

    def _act_soon(self) -> None:
        if not (self._begun or self._due):
            # By then all workers have changed state: owners' changes and faults come before hangs.
            self.job.later(ACT_ON_HANGS, NOTHING, Phase.STATES_CHANGE)

    @handles(ActOnHangs)
    def act(self, _: ActOnHangs, __: int) -> None:
        """Act on the hangs that are detected at this instant: their runs are lost, or go on without
        the member where a part says so. Then stop the runs that begin to hang, in the order of the
        laws of faults, then of the workers. A further hang of a run that hangs changes nothing."""
        due, self._due = self._due, []
        for detected, cause in due:
            self._detect(detected, cause)
        begun, self._begun = self._begun, []
        for hung, cause in sorted(begun, key=lambda it: (it[0].hang.law, it[0].worker)):
            copy = self.job.copies.get(hung.copy)
            if copy is None or copy.run is None or copy.number in self._hung:
                continue  # only a run under way can hang, and only once
            if copy.depends_on(hung.worker):
                self._stop(copy, copy.run, hung, cause)

    def _stop(self, copy: Copy[Run], run: Run, message: MemberHung, cause: int) -> None:
        job, detection, worker = self.job, message.hang.detection, message.worker
        due = HangDue(copy.number, run.number, worker)
        hung = job.record(cause, RunHung, job.name, run.number, worker, detection)
        self._hung[copy.number] = worker, hung
        cause = run.standstill.stop(HANGS, hung)
        if detection:
            job.report_progress(copy, cause)
            job.at(job.now + detection, due, hung, Phase.STATES_CHANGE)
        else:
            self._detect(due, hung)

    def _detect(self, due: HangDue, cause: int) -> None:
        job, copy = self.job, self.job.copies.get(due.copy)
        if copy is None or copy.run is None or self._hung.get(due.copy) != (due.worker, cause):
            return  # the run that hung is over
        cause = job.record(cause, HangDetected, job.name, due.run, due.worker)
        job.report_progress(copy, job.fail(copy, copy.run, due.worker, cause))

    def doubts(self, copy: Copy[Run]) -> bool:
        return copy.number in self._hung

    def set_aside(self, run: Run) -> None:
        worker, _ = self._hung.get(run.copy.number, (-1, NOTHING))
        if worker >= 0 and not run.copy.depends_on(worker):
            del self._hung[run.copy.number]
            run.standstill.turn(FREED)

    def run_ended(self, run: Run, kept: bool, cause: int) -> None:
        self._hung.pop(run.copy.number, None)
