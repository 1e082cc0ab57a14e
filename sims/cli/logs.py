"""Implements `holdfast summary`, `trace`, `queue`, `why` and `audit`, which read a log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import attrs

from actors.runtime import Record
from sims.durations import Date, in_unit
from sims.errors import ENDLESS, FAILED, InputError, note, show, visible
from sims.history.rows import Use
from sims.journals.file import OwnLog, opened
from sims.journals.lives import Counts, find_actor
from sims.journals.words import record_text
from sims.ledger import Account
from sims.log import LogFile
from sims.metrics.jobs import STATISTICS, By, Spreads, spreads_of
from sims.metrics.report import Report, amounts
from sims.options import AsJson, Log, argument, chosen, flag, instant, option, whole
from sims.telling import Clock, amount_of, counted, units

SHOWN = 20
"""Number of violations that are printed; --json prints all of them."""
PROMPT, FOLD = 1, 1
"""Lines of a screen that are kept free: for the shell's prompt, and for the note on hidden
causes."""
UNFIT = (LookupError, ValueError, AttributeError, ArithmeticError, AssertionError)
"""Exceptions that a fold raises where an event contradicts earlier ones, or itself."""


@contextmanager
def reading(path: Path, own: bool = False) -> Iterator[LogFile]:
    """Open the log at `path` for reading within a `with` block; afterwards, say on stderr if the
    log ends before its run did. Under `own` it may be a log of a user's own actors, an OwnLog.

    Raises InputError, naming the line, where an event contradicts earlier ones, so that the block
    cannot go on.
    """
    log = opened(path) if own else LogFile(path)
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
    """Say on stderr if the log ends before its run did, and which event is its last."""
    if log.cut or not log.ended:
        how = "the last line is cut" if log.cut else "the log stops early"
        note(f"{log.path}: {how}; read up to event {log.read - 1}")


def unit_of(log: Path) -> str:
    """Return the unit of the times in the log at this path, such as `s` or `slot`."""
    from sims.trace.read import clock_of

    return clock_of(log).unit


# --- lives and instants -----------------------------------------------------------------------


def trace(
    log: Log,
    job: Annotated[
        str | None, argument(str, "NAME", "the job, the agent, or another actor")
    ] = None,
    named: Annotated[str | None, option(str, "NAME", "the same", "--job")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the history of one job, of an agent, or of an actor, from a log.

    Other actors of the world are in a log of `run --messages`."""
    from sims.trace.agents import find_agent

    name = job or named
    if name is None:
        raise InputError(str(log), "NAME", "missing", "the name of one of its jobs, or actors")
    with reading(log, own=True) as file:
        if isinstance(file, OwnLog):
            life: Any = find_actor(file, name)
        else:
            life = find_agent(file, name) or _life(file, name)
    print(json.dumps(life.data) if as_json else life)


def _life(log: LogFile, name: str) -> Any:
    """Return the life of the job of this name or, in a log with messages, that of another actor of
    the world. Raises InputError, naming jobs, where there is neither."""
    from sims.repeat import has_messages
    from sims.trace.read import find_life

    try:
        return find_life(log, name)
    except InputError:
        counts = Counts.of(log) if has_messages(log.path) else Counts()
        if name not in counts.actors:
            raise
        return find_actor(log, name)


def queue(
    log: Log,
    at: Annotated[
        float,
        option(
            instant,
            "T",
            "the instant, in the log's unit, or as `trace` prints it ('68 d 10:46:40', or a date)",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Print the queue and the machine at an instant, from a log."""
    from sims.trace.instant import read_instant
    from sims.trace.read import time_at

    time = time_at(log, at) if isinstance(at, Date) else at
    time = in_unit(time, "--at", lambda: unit_of(log))
    with reading(log) as file:
        found = read_instant(file, time)
    show(*([json.dumps(found.as_json())] if as_json else found.lines()))


# --- causes -----------------------------------------------------------------------------------


def why(
    log: Log,
    seq: Annotated[int, argument(whole, "SEQ", "number of the event to explain")],
    everything: Annotated[bool, flag("--all", "the whole chain, however long")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the chain of causes that led to an event of a log."""
    from sims.trace.read import causes, clock_of

    with reading(log, own=True) as file:
        clock = clock_of(log)  # it may refuse the log's head, and so comes before any note
        chain = causes(file, seq)
    if as_json:
        print(json.dumps([_record_as_json(record) for record in chain]))
        return
    lines = [_line(record, clock) for record in chain]
    show(*(lines if everything else folded(lines)))


def folded(lines: Sequence[str]) -> Iterator[str]:
    """Yield as many lines of a chain as fit a screen: the first ones, which explain most, and the
    last.

    At least one of each is shown, however small the screen; the others are counted.
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
    about |= {} if record.actor is None else {"actor": record.actor}
    return about | ({} if record.cause is None else {"cause": record.cause}) | fields


def _plain(_: object, __: object, value: object) -> object:
    return getattr(value, "value", value)


def _line(record: Record, clock: Clock) -> str:
    because = "" if record.cause is None else f"  because of #{record.cause}"
    return f"#{record.seq:<8} {clock(record.t):<14} {record_text(record, clock)}{because}"


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
    endless = bool(violations) and all(violation.law is Law.END for violation in violations)
    if endless or not violations:
        note_if_early(file)  # else it was not read to its end
    if as_json:
        found = [{"law": v.law.name, "events": v.events, "why": v.why} for v in violations]
        print(json.dumps(found))
    elif endless:
        held = f"{counted(file.read, 'event')}: every law holds so far"
        show(f"{held}; the log has no end: its run was interrupted, or goes on")
    elif violations:
        show(*islice(violations, SHOWN))
        show(f"{counted(len(violations), 'violation')} in {counted(file.read, 'event')}")
    else:
        show(f"{counted(file.read, 'event')}: every law holds")
    return ENDLESS if endless else FAILED if violations else 0


# --- numbers ------------------------------------------------------------------------------------


JOB, WORKER = "job", "worker"
Classes = Mapping[str, tuple[int, Spreads]]
"""Maps the name of each class to its number of jobs and their statistics."""


def summary(
    log: Log,
    as_json: AsJson = False,
    by: Annotated[
        str | None,
        chosen(
            (JOB, WORKER, *(by.value for by in By)),
            "a ledger for each job or worker, or the figures of each class of jobs",
        ),
    ] = None,
) -> None:
    """Summarise a log: makespan, flowtimes, and where the processor time went.

    Of a log of your own actors, events and messages are counted.
    """
    with reading(log, own=True) as file:
        if isinstance(file, OwnLog):
            show(*_counted(file, by, as_json))
            return
        report = Report.of(file, workers=by == WORKER, jobs=by == JOB)
        lines = list(_summary_lines(report, by, as_json))
    show(*lines)


def _counted(log: OwnLog, by: str | None, as_json: bool) -> Iterator[str]:
    if by is not None:
        problem = f"{by!r}: a log of your own actors counts by actor"
        raise InputError(str(log.path), "--by", problem, "none")
    counts = Counts.of(log)
    yield from [json.dumps(counts.as_json())] if as_json else counts.lines()


def _summary_lines(report: Report, by: str | None, as_json: bool) -> Iterator[str]:
    accounts, classes = _accounts(report, by), _classes(report, by)
    if as_json:
        each: dict[str, object] = {name: amounts(it) for name, it in accounts.items()}
        each |= {name: {"jobs": jobs, **it} for name, (jobs, it) in classes.items()}
        yield json.dumps(report.as_json() | ({"by": each} if each else {}), sort_keys=True)
        return
    yield from report.lines()
    unit = units(report.summary.unit or "time")
    if accounts:
        yield from account_table(accounts, unit)
    if classes:
        yield from _class_table(classes, unit)


def _accounts(report: Report, by: str | None) -> dict[str, Account]:
    started, ledger = report.summary.started, report.ledger
    if by == JOB:
        jobs = report.summary.submitted
        return {job: ledger.by_job[job] for job in jobs if job in ledger.by_job}
    if by != WORKER or started is None:
        return {}
    names = started.workers or tuple(map(str, range(started.processors)))
    return {name: ledger.by_worker[k] for k, name in enumerate(names)}


def _classes(report: Report, by: str | None) -> Classes:
    if by in (None, JOB, WORKER):
        return {}
    values = report.jobs.quantities()
    return {
        name: (int(which.sum()), spreads_of({it: all_of[which] for it, all_of in values.items()}))
        for name, which in report.jobs.classes(By(by))
    }


def account_table(accounts: Mapping[str, Account], unit: str) -> Iterator[str]:
    """Yield the lines of a table: a head, and for each account, by its name, the processor-time of
    each use, in processors x `unit`. Uses that no account has are left out."""
    uses = [use for use in Use if any(account[use] for account in accounts.values())]
    heads = [f"processors x {unit}", *(use.value for use in uses)]
    rows = (
        [name, *(amount_of(float(account[use]), 8) for use in uses)]
        for name, account in accounts.items()
    )
    return _aligned([heads, *rows], [16] * len(uses))


def _class_table(classes: Classes, unit: str) -> Iterator[str]:
    """Yield the lines of a table: two heads, and for each class of jobs their number and the
    statistics of their waits, in `unit`, and of their bounded slowdowns."""
    measures, blank = ("wait", "bounded_slowdown"), [""] * (len(STATISTICS) - 1)
    above = ["", "", f"{f'wait, {unit}':<12}", *blank, "bounded slowdown", *blank]
    heads = ["", "jobs", *STATISTICS, *STATISTICS]
    rows = []
    for name, (jobs, spreads) in classes.items():
        numbers = ((spreads[it] or {}).get(each) for it in measures for each in STATISTICS)
        cells = ("-" if number is None else f"{number:,.6g}" for number in numbers)
        rows.append([name, f"{jobs:,}", *cells])
    return _aligned([above, heads, *rows], [9] + [12] * len(measures) * len(STATISTICS))


def _aligned(rows: Iterable[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    """Yield each row as a line: its first text, a name, on the left, and its other cells
    right-aligned in columns of these widths."""
    shown = [(visible(name), cells) for name, *cells in rows]
    width = max(16, *(len(name) for name, _ in shown))
    for name, cells in shown:
        columns = zip(cells, widths, strict=True)
        yield f"{name:<{width}}{''.join(f'{cell:>{w}}' for cell, w in columns)}".rstrip()
