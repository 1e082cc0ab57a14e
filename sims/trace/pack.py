"""What the pack's decider counts with and decides, told to the jobs that it concerns
(malleable17)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from actors.events.pack import (
    EndExpected,
    FaultIgnored,
    MembersPromised,
    RedistributionDecided,
    RedistributionPlanned,
)
from actors.runtime import Event
from sims.telling import counted, moment


def _decided(event: RedistributionDecided, job: str, unit: str) -> str | None:
    why = "workers came back" if event.job is None else f"{event.job}'s {event.why.value}"
    for name, before, after in event.moves:
        if name == job:
            return f"goes from {before} to {counted(after, 'worker')}: {why}"
    return None


def _planned(event: RedistributionPlanned, job: str, unit: str) -> str | None:
    where = f"from {event.before} to {counted(event.after, 'worker')}"
    title = f"moves its data {where} in {counted(event.rounds, 'round')}"
    return title if event.job == job else None


def _expected(event: EndExpected, job: str, unit: str) -> str | None:
    if event.job != job or event.expected is None:
        return None
    where = counted(event.processors, "worker")
    end = moment(event.expected, unit)
    return f"expected to end at {end} on {where}; {event.left:.3%} of the work left"


def _promised(event: MembersPromised, job: str, unit: str) -> str | None:
    title = f"promises its workers {event.processors}, and goes on"
    return title if event.job == job else None


def _ignored(event: FaultIgnored, job: str, unit: str) -> str | None:
    title = f"a fault on worker {event.worker}, ignored: it is {event.why.value}"
    return title if event.job == job else None


TITLES: Mapping[type[Event], Callable[[Any, str, str], str | None]] = {
    EndExpected: _expected,
    FaultIgnored: _ignored,
    MembersPromised: _promised,
    RedistributionDecided: _decided,
    RedistributionPlanned: _planned,
}
