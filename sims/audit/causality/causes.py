"""The law of causes: which event may cause which, and what the two must have in common.

The cause of an event is the one without which it would not have happened. Where several coincide,
what made a job or a worker want something comes before what made room for it, and that before what
only called for a decision. `audit` reads it, and the tests assert it of every run.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, define, frozen

from actors import events as e
from actors.runtime import Event, Record
from sims.audit.causality import relations as r
from sims.audit.causality import starts as s
from sims.audit.causality.known import LEARNERS, KnownEvents
from sims.audit.causality.relations import Relation


@frozen
class AllowedCause:
    """Kinds of events that may cause another one, and the relation that must hold between the
    two."""

    kinds: tuple[type[Event], ...]
    about: Relation
    later: bool = False
    """Whether the effect may come at a later instant."""


def at_once(about: Relation, *kinds: type[Event]) -> AllowedCause:
    """At the same instant."""
    return AllowedCause(kinds, about)


def later(about: Relation, *kinds: type[Event]) -> AllowedCause:
    """At the same instant or later."""
    return AllowedCause(kinds, about, True)


BEGINNING = (later(r.anything, e.ScenarioStarted),)
"""The cause of events that come from outside of the simulated world."""
OWN = at_once(r.same_job, e.JobSubmitted)
LOSSES = (e.CheckpointLost, e.RestartedFromScratch)
PARTS = (e.RunStarted, e.StageStarted, e.RateChanged)
TRIGGERS = (
    *(e.JobSubmitted, e.IterationStarted, e.RunEnded, e.MembersReleased),
    *(e.WorkerChanged, e.TransferEnded),
)
"""Events that call for a decision."""
CANCELLED = (
    at_once(r.other_first, e.RunEnded),
    later(r.begun, e.RunStarted),
    at_once(r.reconsidered, *TRIGGERS),
    later(r.due, e.ReservationMade),
    later(r.capped, e.ScenarioStarted),
)

CAUSES: Mapping[type[Event], tuple[AllowedCause, ...]] = {
    # scenario
    e.ScenarioStarted: (),
    e.ScenarioEnded: (
        at_once(r.anything, e.WorkloadEnded, *TRIGGERS),
        later(r.anything, e.ScenarioStarted, e.RunStarted),
    ),
    e.StaleMessage: (later(r.anything, Event),),
    # jobs
    e.JobSubmitted: BEGINNING,
    e.JobsLeftOut: BEGINNING,
    e.JobsChanged: BEGINNING,
    e.MeasuresDescribed: BEGINNING,
    e.WorkerPriced: BEGINNING,
    e.JobDescribed: (OWN,),
    e.ProtectionDescribed: (OWN,),
    e.MessagesDescribed: (OWN,),
    e.TasksDescribed: (OWN,),
    e.BoundsDescribed: (at_once(r.same_job, e.IterationStarted),),
    e.ChainsBelieved: BEGINNING,
    e.ApplicationDescribed: (OWN,),
    e.IterationStarted: (OWN, at_once(r.same_job, e.IterationCompleted)),
    e.IterationCompleted: (at_once(r.ended_well, e.RunEnded),),
    e.JobCompleted: (
        at_once(r.ended_well, e.RunEnded),
        at_once(r.same_job, e.IterationCompleted),
        at_once(r.names_it, e.CopiesSettled),
    ),
    e.JobKilled: (at_once(r.cancelled, e.RunEnded),),
    e.WorkloadEnded: (at_once(r.anything, e.RunEnded, e.JobCompleted),),
    # workers
    e.WorkerChanged: (
        later(r.returns, e.WorkerChanged),
        later(r.turns, e.ScenarioStarted),
    ),
    e.WorkerSpeedChanged: BEGINNING,
    # the link
    e.LinkDescribed: BEGINNING,
    e.TransferStarted: (
        at_once(r.asks, e.StageStarted),
        at_once(r.makes_room, e.TransferEnded, e.TransferDropped, e.TransferSuspended),
        at_once(r.same_worker, e.WorkerChanged),
        later(r.asked_before, e.StageStarted, e.TransferEnded, e.WorkerChanged),
    ),
    e.TransferEnded: (later(r.asked, e.TransferStarted),),
    e.TransferSuspended: (
        at_once(r.turned_away, e.WorkerChanged),
        at_once(r.hungry, e.StageStarted, e.TransferEnded, e.WorkerChanged),
        later(r.waited, e.StageStarted, e.TransferEnded, e.WorkerChanged),
        later(r.unserved, e.ScenarioStarted),
    ),
    e.TransferDropped: (
        at_once(r.forgets, e.WorkerChanged),
        at_once(r.ends_with, e.RunEnded, e.StageStarted),
    ),
    # runs
    e.RunStarted: (
        later(s.begins_anew, *LOSSES),
        at_once(s.resumes, e.WorkerChanged, e.RunEnded, e.MembersChanged),
        at_once(s.wanted, e.JobSubmitted, e.IterationStarted, e.RunEnded),
        at_once(s.opened, e.ShelfOpened, e.BatchOpened),
        at_once(s.freed, e.RunEnded, e.MembersReleased, e.WorkerChanged),
        at_once(s.rearranged, e.RunEnded, e.MembersReleased),
        at_once(s.another_copy, e.RunStarted, e.ReservationMade),
        later(s.promised, e.ReservationMade),
        at_once(s.made_way, e.RunStarted, e.ReservationMade),
        at_once(s.called, *TRIGGERS),
        at_once(s.shared_out, e.RedistributionDecided),
        later(s.called, e.ScenarioStarted),
        later(s.wanted_before, e.JobSubmitted, e.IterationStarted, e.RunEnded),
    ),
    e.TasksDealt: (at_once(r.same_run, e.RunStarted),),
    e.StageStarted: (
        at_once(r.same_run, e.RunStarted, e.TasksDealt, e.RedistributionPlanned),
        at_once(r.same_run, e.CheckpointTaken),
        at_once(r.of_run, e.TransferEnded, e.WorkerChanged),
        later(r.part_over, e.StageStarted, e.RateChanged),
    ),
    e.RateChanged: (at_once(r.of_run, e.WorkerChanged, e.WorkerSpeedChanged),),
    e.VerificationEnded: (
        later(r.same_run, *PARTS),
        at_once(r.same_run, e.CheckpointTaken, e.TasksDealt, e.RedistributionPlanned),
    ),
    e.RunEnded: (
        later(r.run_over, *PARTS),
        at_once(r.nothing_left, e.CheckpointTaken),
        at_once(r.down_in_run, e.WorkerChanged),
        at_once(r.resized, e.RedistributionDecided),
        *CANCELLED,
    ),
    e.MembersReleased: CANCELLED,
    e.MembersJoined: (at_once(r.given_up, e.RunEnded),),
    # protection
    e.CheckpointTaken: (
        at_once(r.of_run, e.TransferEnded, e.WorkerChanged),
        later(r.part_over, e.StageStarted, e.RateChanged),
    ),
    e.CheckpointLost: (at_once(r.down_in_run, e.WorkerChanged),),
    e.RestartedFromScratch: (at_once(r.same_run, e.CheckpointLost, e.RunEnded),),
    # the queue
    e.ReservationMade: (
        at_once(r.anything, *TRIGGERS, e.ShelfOpened, e.BatchOpened),
        later(r.anything, e.ReservationMade, e.ScenarioStarted),
    ),
    e.ReservationDropped: (
        at_once(r.anything, *TRIGGERS, e.ShelfOpened, e.BatchOpened),
        later(r.anything, e.ReservationMade, e.ScenarioStarted),
    ),
    e.ShelfOpened: (
        at_once(r.anything, *TRIGGERS, e.BatchOpened),
        later(r.anything, e.ScenarioStarted),
    ),
    e.BatchOpened: (at_once(r.anything, *TRIGGERS),),
    # copies in columns
    e.GainDescribed: BEGINNING,
    e.CopiesPlaced: (at_once(r.anything, e.CopiesSettled, e.JobSubmitted),),
    e.CopiesSettled: (
        at_once(r.anything, e.JobSubmitted),
        later(r.placed, e.CopiesPlaced, e.WorkerSpeedChanged),
    ),
    # the pack
    e.PackDescribed: BEGINNING,
    e.EndExpected: (
        at_once(r.same_job, e.StageStarted, e.RateChanged, e.CheckpointTaken, e.RunEnded),
        at_once(r.same_job, *LOSSES, e.MembersChanged),
        at_once(r.of_job, e.TransferEnded, e.WorkerChanged, e.WorkerSpeedChanged),
    ),
    e.RedistributionDecided: (
        at_once(r.ended_well, e.RunEnded),
        at_once(r.down_in_job, e.WorkerChanged),
        at_once(r.come_back, e.WorkerChanged, e.RunEnded),
    ),
    e.RedistributionPlanned: (at_once(r.same_run, e.RunStarted),),
    e.MembersChanged: (at_once(r.names_it, e.RedistributionDecided),),
    e.MembersPromised: (at_once(r.down, e.WorkerChanged),),
    e.FaultIgnored: BEGINNING,
}
"""Every kind of event, and what may cause it."""


def _table() -> dict[type[Event], dict[type[Event], tuple[AllowedCause, ...]]]:
    table: dict[type[Event], dict[type[Event], tuple[AllowedCause, ...]]] = {}
    for kind, rows in CAUSES.items():
        table[kind] = {
            cause: tuple(row for row in rows if cause in row.kinds)
            for row in rows
            for cause in row.kinds
        }
    return table


@define(eq=False)
class CauseLaw:
    """Checks each record's cause, in the order of the journal."""

    known: KnownEvents = Factory(KnownEvents)
    table: Mapping[type[Event], Mapping[type[Event], tuple[AllowedCause, ...]]] = Factory(_table)

    def check(self, record: Record) -> str | None:
        """The problem with the cause of `record`, the next one; None if there is none."""
        known, event, seq = self.known, record.event, record.cause
        if record.t > known.now:
            known.pass_to(record.t)
        problem = None
        if seq is not None:
            cause, now = known.instant.get(seq), True
            if cause is None:
                cause, now = known.lasting.get(seq), False
            if cause is None or not self._may(event, cause, seq, now):
                problem = self._problem(event, cause)
        learn = LEARNERS.get(event.__class__)
        if learn is not None:
            learn(known, event, record.seq)
        known.instant[record.seq] = event
        return problem

    def _may(self, event: Event, cause: Event, seq: int, now: bool) -> bool:
        """`now`: whether the cause is of the same instant."""
        causes = self.table.get(event.__class__)
        try:
            for row in causes.get(cause.__class__, ()) if causes is not None else ():
                if (now or row.later) and row.about(self.known, event, cause, seq):
                    return True
        except ValueError:
            return True  # workers or moves that are none: other laws tell
        return False

    @staticmethod
    def _problem(event: Event, cause: Event | None) -> str:
        name = type(event).__name__
        if cause is None:
            return f"it is too late for its cause to lead to this {name}"
        return f"{name} cannot be caused by this {type(cause).__name__}"
