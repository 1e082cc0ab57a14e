"""The audit of a log: the world is derived from its inputs and decisions, and held against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from actors import events as e
from actors.events import DeciderKind, ScenarioStarted
from actors.runtime import Event, Record, rare_collections
from sims.audit import copies, inputs, practice, runs, service
from sims.audit.columns import Columns
from sims.audit.deciding import Decider, Enrolment
from sims.audit.law import Broken, Law, Violation, framed, told
from sims.audit.pack import Pack
from sims.audit.queue import Queue
from sims.audit.turns import Script
from sims.audit.world import Handler, World
from sims.log import Misfit


def telling(name: str) -> Handler:
    """The handler of a line that one kind of decider tells."""

    def handle(w: World, event: Any, seq: int) -> Script:
        make = getattr(w.decider, name, None)
        if make is None:
            raise Broken(Law.FOLLOWS, "that is not told by this decider")
        return make(event, seq)  # type: ignore[no-any-return]

    return handle


DESCRIBED = (
    *(e.MeasuresDescribed, e.JobsLeftOut, e.JobsChanged, e.LogReplayed, e.WorkerPriced),
    *(e.WorkerRented, e.DeadlineDescribed, e.ChainsBelieved, e.LinkDescribed, e.PackDescribed),
    *(e.PlatformDescribed, e.FaultsFitted),
)
"""Lines of the head."""
TOLD: dict[type[Event], str] = {
    e.ReservationMade: "promise",
    e.ReservationDropped: "withdraw",
    e.ShelfOpened: "open_shelf",
    e.BatchOpened: "open_batch",
    e.GainDescribed: "describe_gain",
    e.CopiesPlaced: "place",
    e.CopiesSettled: "settle",
    e.EndExpected: "expect",
    e.RedistributionDecided: "decide",
    e.MembersPromised: "promise",
    e.MembersJoined: "join",
    e.FaultIgnored: "ignore",
}
"""By kind of line that a decider tells, its method."""
HANDLERS: dict[type[Event], Handler] = {
    e.ScenarioStarted: inputs.begin,
    **dict.fromkeys(DESCRIBED, inputs.describe),
    e.CheckpointingDescribed: practice.describe_checkpoints,
    e.NoticeGiven: practice.notice,
    e.FaultDetected: practice.detect,
    e.MemberReplaced: practice.replace,
    e.CheckpointStarted: runs.learn,
    e.JobSubmitted: inputs.submit,
    e.WorkerChanged: copies.change,
    e.WorkerSpeedChanged: copies.speed,
    e.WorkloadEnded: inputs.end_workload,
    e.ScenarioEnded: inputs.end,
    e.StaleMessage: inputs.off,
    e.RunStarted: copies.start,
    e.RunEnded: copies.cancel,
    e.MembersReleased: copies.cancel,
    e.StageStarted: runs.learn,
    e.CheckpointTaken: runs.learn,
    e.VerificationEnded: runs.learn,
    e.TransferStarted: service.pass_channels,
    e.TransferSuspended: service.pass_channels,
    e.TransferDropped: service.forgotten,
    **{kind: telling(name) for kind, name in TOLD.items()},
}
"""Lines that nothing but themselves decides, and what makes their scripts."""


MEANINGLESS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError),
    *(StopIteration, TypeError, ValueError),
)
"""What comes of computing with values that no world has."""


def choose(w: World, event: ScenarioStarted) -> None:
    """Who decides, by the first line."""
    said = dict(setting.partition("=")[::2] for setting in event.settings)
    if event.decider is DeciderKind.QUEUE:
        shelves = "SHELF" in event.policy and ":" not in event.policy
        w.decider = Queue(
            w,
            placement=said.get("placement", "lowest"),
            believes="estimates" not in said,
            shelves=shelves,
        )
    elif event.decider is DeciderKind.ENROLMENT:
        w.decider, w.reuses = Enrolment(w), said.get("reuse") != "False"
    elif event.decider is DeciderKind.PACK:
        w.decider = Pack(w)
    elif event.decider is DeciderKind.DEADLINE:
        w.decider, w.changeover = Decider(w), float(said.get("changeover", 0))
    else:
        w.decider = Columns(w)
    w.copies_decide = event.decider is DeciderKind.COPIES
    w.after.extend((w.untold.clear, lambda: service.close(w), w.decider.close))
    w.after.append(lambda: practice.close(w))


def world() -> World:
    """One that reads a log from its first line on."""
    return World(HANDLERS, choice=choose, course=runs.course)


def audit(records: Iterable[Record]) -> Iterator[Violation]:
    """The first line that cannot be, if there is one; nothing for a run of this simulator. After
    it nothing is known of the world: what follows is not looked at."""
    w = world()
    with rare_collections():
        try:
            for record in records:
                w.read(record)
            ended = w.started is None or w.ended
            framed(ended, "the log does not end with ScenarioEnded")
        except Broken as broken:
            line = told(w.line) if w.line is not None else "the log"
            yield Violation(broken.law, (w.reading,), f"{line}: {broken.why}")
        except Misfit as misfit:
            why = f"{misfit.key}: {misfit.problem}; accepted: {misfit.accepted}"
            yield Violation(Law.SCHEMA, (w.reading + 1,), why)
        except MEANINGLESS as wrong:
            yield Violation(Law.INPUT, (w.reading,), f"this means nothing here: {wrong!r}")
