"""Which changes of a log mean something."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

from actors.events import (
    ApplicationDescribed,
    CheckpointTaken,
    EndExpected,
    JobsLeftOut,
    MembersReleased,
    PackDescribed,
    ProtectionDescribed,
    ProtectionKind,
    RateChanged,
    RedistributionPlanned,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    StageStarted,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerSpeedChanged,
)
from actors.runtime import Event, Record
from tests.parts import parted

NOTHING = ProtectionKind.NONE


def says_nothing_new(records: Sequence[Record], at: int) -> bool:
    """A worker's speed that was the same before, or what is expected of a job."""
    event = records[at].event
    if isinstance(event, JobsLeftOut):
        return True
    if isinstance(event, EndExpected):
        told = (r.event for r in reversed(records[:at]) if isinstance(r.event, EndExpected))
        return next((it for it in told if it.job == event.job), None) == event
    if not isinstance(event, WorkerSpeedChanged):
        return False
    said = (r.event for r in reversed(records[:at]) if isinstance(r.event, WorkerSpeedChanged))
    before = next((other.speed for other in said if other.worker == event.worker), 1)
    return before == event.speed


def meaningless(event: Event, records: Sequence[Record]) -> frozenset[str]:
    """Fields about what is not there: a checkpoint's cost where none is kept, nor the MTBF by which
    it would be weighed, nor the size of what would be saved or moved; a clone's delay where there
    were never two copies at once."""
    if isinstance(event, PackDescribed):
        kept = any(it.kind is not NOTHING for it in _protections(records))
        return frozenset(() if kept else ("mtbf",))
    if isinstance(event, ApplicationDescribed):
        mine = (it.kind is not NOTHING for it in _protections(records) if it.job == event.job)
        moved = (it.event.job for it in records if isinstance(it.event, RedistributionPlanned))
        sized = not _has_table(records, event.job) or any(mine) or event.job in moved
        return frozenset(() if sized else ("footprint",))
    if not isinstance(event, ProtectionDescribed):
        return frozenset()
    nothing = ("cost", "recovery", "verified") if event.kind is NOTHING else ()
    alone = ("cloning", "delay") if event.copies == 1 or _single(records, event.job) else ()
    return frozenset((*nothing, *alone, *(() if event.cloning else ("delay",))))


def _protections(records: Sequence[Record]) -> list[ProtectionDescribed]:
    return [it.event for it in records if isinstance(it.event, ProtectionDescribed)]


def _has_table(records: Sequence[Record], job: str) -> bool:
    """Whether the scenario lists the job with measured times."""
    head = records[0].event
    assert isinstance(head, ScenarioStarted)
    listed = tomllib.loads(head.text)["job"].get("jobs", [])
    own = {it.get("name", f"J{k}"): it for k, it in enumerate(listed, 1)}
    return own.get(job, {}).get("speedup", {}).get("kind") == "table"


def _single(records: Sequence[Record], job: str) -> bool:
    """Whether it never had two copies at once."""
    copies = most = 0
    for record in parted(records):
        event = record.event
        if getattr(event, "job", None) == job:
            copies += isinstance(event, RunStarted) and event.keeps is None
            copies -= isinstance(event, MembersReleased)
            copies -= isinstance(event, RunEnded) and not event.kept
        most = max(copies, most)
    return most < 2


def related(one: Event, other: Event) -> bool:
    """Whether the order of two events of one instant means anything."""
    ours, theirs = _about(one), _about(other)
    return not ours or not theirs or bool(ours & theirs)


def _about(event: Event) -> set[tuple[str, object]]:
    """The things that an event is about; none: about everything."""
    if isinstance(event, ScenarioStarted):
        return set()
    job, run = getattr(event, "job", None), getattr(event, "run", None)
    if isinstance(event, StageStarted | RateChanged | CheckpointTaken):
        job = (job, run)  # what another copy does is not its business
    if isinstance(event, TransferStarted | TransferEnded | TransferSuspended | TransferDropped):
        job = None
    things = {("job", job), ("worker", getattr(event, "worker", None))}
    return {thing for thing in things if thing[1] is not None}
