"""The audit of a log: every law whose mechanism occurs in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from attrs import define, field

from actors.events import Compound
from actors.runtime import Event, Record, rare_collections
from sims.audit.applications import ApplicationAuditor
from sims.audit.attempts import AttemptAuditor
from sims.audit.capacity import CapacityAuditor
from sims.audit.causality.causes import CauseLaw
from sims.audit.copies import CopiesAuditor
from sims.audit.expectations import ExpectationAuditor
from sims.audit.exposure import ExposureAuditor
from sims.audit.frame import FrameAuditor, OrderAuditor
from sims.audit.iterations import IterationAuditor
from sims.audit.law import Auditor, Handler, Law, Violation
from sims.audit.ledger import LedgerAuditor
from sims.audit.life import LifeAuditor
from sims.audit.link import LinkAuditor
from sims.audit.losses import LossAuditor
from sims.audit.placement import PlacementAuditor
from sims.audit.progress import ProgressAuditor
from sims.audit.promises import PromiseAuditor
from sims.audit.protection import ProtectionAuditor
from sims.audit.queue import QueueAuditor
from sims.audit.redistribution import RedistributionAuditor
from sims.audit.sharing import SharingAuditor
from sims.audit.starts import StartAuditor
from sims.audit.workers import WorkerAuditor
from sims.audit.world import World

Look = Callable[[float, int], None]


def auditors(world: World) -> list[Auditor]:
    """All of them, in the order in which they are asked: who changes the world before who looks at
    it, but for placement, which is asked about workers that are still free."""
    capacity, progress = CapacityAuditor(world), ProgressAuditor(world)
    return [
        FrameAuditor(world),
        LifeAuditor(world),
        WorkerAuditor(world),
        PlacementAuditor(world, capacity),
        LossAuditor(world),
        capacity,
        ProtectionAuditor(world),
        CopiesAuditor(world),
        IterationAuditor(world),
        LinkAuditor(world),
        progress,
        ExposureAuditor(world),
        AttemptAuditor(world),
        StartAuditor(world, capacity),
        QueueAuditor(world),
        RedistributionAuditor(world),
        ApplicationAuditor(world),
        PromiseAuditor(world),
        ExpectationAuditor(world, progress),
        SharingAuditor(world),
        LedgerAuditor(world),
    ]


@define(eq=False)
class Hearers:
    """Class of event -> who wants it; worked out when one is first seen."""

    world: World
    all: list[Auditor]
    auditors: list[Auditor] = field(factory=list)
    """Those that are awake."""
    looking: list[Look] = field(factory=list)
    """What is to be done once an instant is over: a long log has 10^5."""
    touching: list[Look] = field(factory=list)
    """The same where copies were touched in it."""
    handlers: dict[type[Event], tuple[Handler, ...]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._wake(frozenset())

    def _wake(self, heard: frozenset[type[Event]]) -> None:
        awake = self.auditors
        self.auditors = [it for it in self.all if it in awake or not it.wakes or it.wakes & heard]
        looking = [it for it in self.auditors if type(it).passed is not Auditor.passed]
        self.looking[:] = [it.passed for it in looking if not it.of_touched]
        self.touching[:] = [it.passed for it in looking if it.of_touched]
        self.handlers.clear()

    def learn(self, kind: type[Event]) -> tuple[Handler, ...]:
        """Who wants events of this class, which may be a kind of one that is wanted."""
        if any(kind in it.wakes and it not in self.auditors for it in self.all):
            self._wake(frozenset((kind,)))
        own = (auditor.handlers for auditor in self.auditors)
        tables = chain((self.world.first,), own, (self.world.last,))
        found = tuple(
            handler
            for table in tables
            for wanted, handler in table.items()
            if issubclass(kind, wanted)
        )
        if issubclass(kind, Compound):
            found = (*found, self._tell_parts)
        self.handlers[kind] = found
        return found

    def _tell_parts(self, event: Compound, t: float, seq: int) -> None:
        self.world.compound = True
        try:
            for part in event.parts():
                kind = part.__class__
                for handle in self.handlers.get(kind) or self.learn(kind):
                    handle(part, t, seq)
        except ValueError as misfit:
            self.world.breaks(Law.FRAME, (seq,), f"its columns do not fit: {misfit}")
        self.world.compound = False


def audit(records: Iterable[Record]) -> Iterator[Violation]:
    """Everything that the records break, in order; nothing for a run of this simulator."""
    with rare_collections():
        yield from _audit(records)


def _audit(records: Iterable[Record]) -> Iterator[Violation]:
    world = World()
    found, order, causes = world.found, OrderAuditor(world), CauseLaw()
    table = Hearers(world, auditors(world))
    known, last, now, seq, t = table.handlers, None, 0.0, -1, 0.0
    for record in records:
        before, seq, t, cause, event = seq, record.seq, record.t, record.cause, record.event
        world.record = record
        if t > now:
            now = world.now = _pass(world, table, t, seq)
        right = cause is not None and 0 <= cause < seq == before + 1 and t >= now
        problem = causes.check(record)
        if not right or problem is not None or world.ended:
            order.check(last, record, problem)
        for handle in known.get(event.__class__) or table.learn(event.__class__):
            handle(event, t, seq)
        last = record
        if found:
            yield from _taken(found)
    if last is not None:  # an empty log is none
        _pass(world, table, t, seq)
        for auditor in table.auditors:
            auditor.close(t, seq)
    yield from found


def _pass(world: World, table: Hearers, t: float, seq: int) -> float:
    """An instant is over; `t` is the next."""
    for look in table.looking:
        look(t, seq)
    if world.touched:
        for look in table.touching:
            look(t, seq)
        world.touched.clear()
    if world.sizes:
        world.sizes.clear()
    return t


def _taken(found: list[Violation]) -> list[Violation]:
    """Those found so far, told only once."""
    taken = found.copy()
    found.clear()
    return taken
