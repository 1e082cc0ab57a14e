"""`holdfast trace`, `queue`, `why` and `audit`: what a log tells; and how all commands read one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated

import attrs

from actors.events import ScenarioStarted
from actors.runtime import Record
from sims.durations import in_unit
from sims.errors import InputError, note, show
from sims.log import LogFile
from sims.options import AsJson, Log, argument, flag, moment, option, whole
from sims.telling import counted, told
from sims.telling import moment as told_at

SHOWN = 20
"""Violations printed unless all are asked for."""
PROMPT, FOLD = 1, 1
"""Lines of a screen that stay for the shell's prompt, and for what is left out."""
UNFIT = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, AssertionError)
"""What a fold raises where an event contradicts those before, or does not fit together."""


@contextmanager
def reading(path: Path, ordered: bool = True) -> Iterator[LogFile]:
    """The log at `path`, to be folded inside; says on stderr afterwards if it ends early.

    `ordered` as in LogFile. Raises InputError, naming the line, where the fold cannot go on.
    """
    log = LogFile(path, ordered)
    try:
        yield log
    except UNFIT as error:
        problem = f"contradicts the lines before it, or itself ({_why(error)})"
        accepted = f"a log of `holdfast run`; `holdfast audit {path}` tells which laws it breaks"
        raise InputError(str(path), f"line {log.read}", problem, accepted) from error
    note_if_early(log)


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"there is no {error} at that time"
    return f"{type(error).__name__}: {error}"


def note_if_early(log: LogFile) -> None:
    """Say on stderr that the log ends before its run did, where it does."""
    if log.cut or not log.ended:
        how = "the last line is cut" if log.cut else "the log stops early"
        note(f"{log.path}: {how}; read up to event {log.read - 1}")


def unit_of(log: Path) -> str:
    """Unit of the times in this log."""
    started = next(iter(LogFile(log))).event
    assert isinstance(started, ScenarioStarted)
    return started.unit


# --- lives and instants -----------------------------------------------------------------------


def trace(
    log: Log,
    job: Annotated[str | None, argument(str, "JOB", "the job's name")] = None,
    named: Annotated[str | None, option(str, "NAME", "the same", "--job")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the history of one job, from a log."""
    from sims.trace.read import find_life

    name = job or named
    if name is None:
        raise InputError(str(log), "JOB", "missing", "the name of one of its jobs")
    with reading(log) as file:
        life = find_life(file, name)
    print(json.dumps(life.data) if as_json else life)


def queue(
    log: Log,
    at: Annotated[
        float,
        option(
            moment, "T", "the instant, in the log's unit, or as `trace` prints it ('68 d 10:46:40')"
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Print the queue and the machine at an instant, from a log."""
    from sims.trace.instant import read_instant

    at = in_unit(at, "--at", lambda: unit_of(log))
    with reading(log) as file:
        instant = read_instant(file, at)
    show(*([json.dumps(instant.as_json())] if as_json else instant.lines()))


# --- causes -----------------------------------------------------------------------------------


def why(
    log: Log,
    seq: Annotated[int, argument(whole, "SEQ", "number of the event to explain")],
    everything: Annotated[bool, flag("--all", "the whole chain, however long")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the chain of causes that led to an event of a log."""
    from sims.trace.read import causes

    with reading(log) as file:
        chain = causes(file, seq)
    if as_json:
        print(json.dumps([_record_as_json(record) for record in chain]))
        return
    begun = chain[-1].event
    unit = begun.unit if isinstance(begun, ScenarioStarted) else ""
    lines = [_line(record, unit) for record in chain]
    show(*(lines if everything else folded(lines)))


def folded(lines: Sequence[str]) -> Iterator[str]:
    """As many lines of a chain as fit a screen: the first ones, which explain most, and the last.

    At least one of each, however small the screen, and all but them told as a number.
    """
    width, height = get_terminal_size()
    rows = [max(1, -(-len(line) // width)) for line in lines]
    if sum(rows) <= height - PROMPT:
        yield from lines
        return
    room = height - PROMPT - FOLD - rows[-1]
    shown = max(1, sum(taken <= room for taken in accumulate(rows[:-1])))
    yield from lines[:shown]
    hidden = len(lines) - shown - 1
    if hidden:
        yield f"... {counted(hidden, 'cause')} in between: --all tells them"
    yield lines[-1]


def _record_as_json(record: Record) -> dict[str, object]:
    fields = attrs.asdict(record.event, value_serializer=_plain)
    about = {"seq": record.seq, "t": record.t, "event": type(record.event).__name__}
    return about | ({} if record.cause is None else {"cause": record.cause}) | fields


def _plain(_: object, __: object, value: object) -> object:
    return getattr(value, "value", value)


def _line(record: Record, unit: str) -> str:
    because = "" if record.cause is None else f"  because of #{record.cause}"
    return f"#{record.seq:<8} {told_at(record.t, unit):<14} {told(record.event)}{because}"


# --- laws -------------------------------------------------------------------------------------


def audit(
    log: Log,
    as_json: Annotated[bool, flag("--json", "print all violations as JSON")] = False,
) -> int:
    """Check a log against the rules, without the simulator."""
    from sims.audit.audit import audit as audited
    from sims.audit.law import Law

    file = LogFile(log, ordered=False)
    violations = list(audited(file))
    if all(violation.law is Law.FRAME for violation in violations):
        note_if_early(file)  # else it was not read to its end
    if as_json:
        found = [{"law": v.law.name, "events": v.events, "why": v.why} for v in violations]
        print(json.dumps(found))
    elif violations:
        show(*islice(violations, SHOWN))
        show(f"{counted(len(violations), 'violation')} in {counted(file.read, 'event')}")
    else:
        show(f"{counted(file.read, 'event')}: every law holds")
    return 1 if violations else 0
