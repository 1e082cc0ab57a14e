"""The first decision of a log that the policy which it names would not take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any, Protocol

from attrs import fields_dict

from actors.decisions import BadDecision
from actors.events import DeciderKind, End, RunStarted, ScenarioEnded, ScenarioStarted
from actors.runtime import Record
from sims.audit.law import Law, Violation
from sims.audit.replay.ahead import look_ahead
from sims.audit.replay.copies import CopiesReplay
from sims.audit.replay.enrolment import enrolment
from sims.audit.replay.pack import pack_replay
from sims.audit.replay.queue import QueueReplay
from sims.audit.replay.shadow import Shadow, Unreplayable
from sims.errors import InputError
from sims.scenario.loader import converter
from sims.scenario.policy import PolicySection
from sims.scenario.settings import value_of

UNFIT = (LookupError, ValueError, AssertionError, TypeError, ArithmeticError)


class Replay(Protocol):
    """A decider that hears what a log tells."""

    scheduler: Shadow

    def instant(self, t: float, records: Sequence[Record]) -> str | None:
        """All that is told of `t`; how the policy would have decided otherwise, None: not at all.

        Raises Unreplayable."""

    def due(self) -> float | None:
        """When the decider is to be asked even if nothing is told of that time."""


def replay(records: Iterable[Record]) -> Iterator[Violation]:
    """The first decision that the policy would not take, if there is one; `records` are read twice.

    Raises Unreplayable where what the policy saw cannot be rebuilt, and where the log names none.
    """
    started = next(iter(records)).event
    if not isinstance(started, ScenarioStarted):
        raise Unreplayable("how it started")
    try:
        asked = _replay(started, records)
    except InputError as error:
        raise Unreplayable(f"a policy that there is ({error})") from None
    with closing(asked.scheduler.system.loop):
        for t, told in _instants(asked, records):
            wrong = _asked(asked, t, told)
            if wrong is not None:
                events = tuple(record.seq for record in told)
                yield Violation(Law.POLICY, events, f"at {t!r} {started.policy} {wrong}")
                return


def _instants(asked: Replay, records: Iterable[Record]) -> Iterator[tuple[float, Sequence[Record]]]:
    """Those of the log that are whole, and those of which it has nothing to tell."""
    before: tuple[float, Sequence[Record]] | None = None
    for t, group in groupby(records, key=lambda record: record.t):
        if before is not None:
            yield before
            while (due := asked.due()) is not None and due < t:
                yield due, ()
        before = t, list(group)
    if before is not None:
        last = before[1][-1].event
        if isinstance(last, ScenarioEnded) and last.end is End.COMPLETED:
            yield before


def _asked(asked: Replay, t: float, told: Sequence[Record]) -> str | None:
    try:
        return asked.instant(t, told)
    except BadDecision as bad:
        if isinstance(bad.__cause__, Unreplayable):
            raise bad.__cause__ from None
        return str(bad)
    except UNFIT as misfit:
        return f"cannot be asked, as the log contradicts itself: {misfit!r}"


def _replay(started: ScenarioStarted, records: Iterable[Record]) -> Replay:
    section = _section(started)
    decider = started.decider
    if decider is DeciderKind.ENROLMENT:
        return enrolment(section, started, records)
    if decider is DeciderKind.COPIES:
        if any(isinstance(record.event, RunStarted) for record in records):
            raise Unreplayable("which states are left of copies that have runs of their own")
        return CopiesReplay(section, started)
    if decider is DeciderKind.PACK:
        return pack_replay(section, started, records)
    return QueueReplay(section, started, look_ahead(records))


def _section(started: ScenarioStarted) -> PolicySection:
    """What the scenario's policy section said. Raises Unreplayable."""
    known = fields_dict(PolicySection)
    table: dict[str, Any] = {"name": started.policy}
    parameters: dict[str, Any] = {}
    for setting in started.settings:
        key, value = value_of(setting)
        (table if key in known else parameters)[key] = value
    try:
        return converter().structure(table | {"parameters": parameters}, PolicySection)
    except Exception as error:  # whatever a converter makes of them
        raise Unreplayable(f"settings that can be read ({error})") from None
