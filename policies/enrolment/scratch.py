"""A platform as if no task were allocated to any worker."""

from __future__ import annotations

from attrs import frozen

from policies.interface import Enrolment, EnrolmentView, Reason


@frozen
class FromScratch:
    """The same instant as if no task were allocated to any worker (volatile13, section VI.B).

    Complete programs count; data and parts of messages do not.
    """

    enrolment: Enrolment
    elapsed: int
    up: int
    programmed: int

    @classmethod
    def of(cls, view: EnrolmentView) -> FromScratch:
        return cls(view.enrolment, view.elapsed, view.up, view.programmed)

    @property
    def reason(self) -> Reason:
        return Reason.START

    @property
    def running(self) -> None:
        return None

    def missing(self, worker: int, tasks: int) -> int:
        """Slots to send the program, unless it is there, and the data of `tasks` tasks."""
        program = 0 if self.programmed >> worker & 1 else self.enrolment.program
        return program + tasks * self.enrolment.data
