"""Reads a long log for one question: a job's life and its waits, or the causes of one event."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from string import ascii_letters
from typing import Any

from attrs import frozen

from actors.events import DeciderKind
from actors.runtime import Record, rare_collections
from sims.durations import FORMS, Date
from sims.errors import InputError, visible
from sims.history.lines import Lines, skim, tells_of_holding
from sims.history.reader import History, Run
from sims.log import LogFile, first_of, is_own
from sims.readers.sacct import zone
from sims.telling import Clock, counted
from sims.trace import Span
from sims.trace.account import FlowAccount
from sims.trace.dependencies import unending
from sims.trace.ranking import Ranking
from sims.trace.story import JobStory
from sims.trace.wait import Wait
from sims.trace.watch import Waits

# --- lives, and chains of causes -----------------------------------------------------------------

LETTERS = ascii_letters + "_-"
"""Characters that may precede the number in a job's name, as in `J12`."""
NAME = re.compile(rb'"job":("(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*")')
CAUSE = re.compile(rb'"cause": ?(\d{1,18})\b')
SHOWN = 20
"""How many jobs an error message names if the one asked for does not exist."""


@frozen
class Trace:
    """The life of one job with its flowtime and its waits; printing it shows the text."""

    job: str
    clock: Clock
    root: Span
    """Span of the job's life, with reasons below each of its waits."""
    account: FlowAccount
    """Parts of the job's flowtime."""
    waits: list[Wait]

    @property
    def data(self) -> Mapping[str, Any]:
        """The trace as plain data, made on demand: a long life has 10^5 lines."""
        about: dict[str, Any] = {"job": self.job, "account": self.account.as_json()}
        if self.clock.begins is not None:
            about["begins"] = self.clock.begins
        return self.root.as_json() | about | {"waits": [it.as_json() for it in self.waits]}

    @property
    def text(self) -> str:
        """The trace as text, made on demand."""
        account = self.account.lines(self.clock.unit)
        lines = chain(self.root.lines(self.clock), ("",), account)
        return "\n".join(map(visible, lines))

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def find_life(log: LogFile, job: str) -> Trace:
    """Return the life of `job`, given by its name or, where names are J1, J2, ..., by its number.

    Raises InputError, which names other jobs, where the log has no such job, and all that
    `read_trace` raises.
    """
    names = [] if job[:1] in LETTERS else list(_submitted(log))
    numbered = [name for name in names if name.lstrip(LETTERS) == job]
    trace = read_trace(log, numbered[0] if len(numbered) == 1 and job not in names else job)
    if trace is None:
        problem, known = f"there is no job {job!r} in this log", names or list(_submitted(log))
        more = [f"{len(known) - SHOWN:,} more"] if len(known) > SHOWN else []
        raise InputError(str(log.path), "JOB", problem, ", ".join([*known[:SHOWN], *more]))
    return trace


def _submitted(log: LogFile) -> Iterator[str]:
    """Yield the names of all jobs from lines that are neither decoded nor checked, which is
    faster."""
    for line in log.lines():
        found = NAME.search(line) if b'"JobSubmitted"' in line else None
        if found is not None:
            yield json.loads(found[1].decode(errors="replace"), strict=False)


def read_trace(log: LogFile, job: str) -> Trace | None:
    """Return the life of `job`, or None where the log does not mention the job.

    Decodes only lines that can concern the job and, while it waits, lines that say which runs hold
    which workers: a million events take a few seconds. Raises InputError as LogFile does and for a
    job that follows others whose ends do not come, and ValueError or LookupError where an event
    contradicts earlier ones.
    """
    story, waits = JobStory(job), Waits(job)
    lines, after = Lines(log, waits.history, waits), 0.0
    with log.skimmed(), rare_collections():
        for number, line in skim(log):
            if not waits.over:
                mine = story.named in line and tells_of_holding(line)
                # While the job does not wait, lines of other jobs are only kept: most of them
                # cancel out before the next wait begins.
                (lines.put if waits.idle and not mine else lines.tell)(number, line)
            if number == 1 or story.concerns(line):
                record = log.decoded(number, line, after)
                if record is not None:
                    story(record)
                    after = record.t
    last = log.last
    assert last is not None
    story.stop(last.t)
    waits.close()
    explain(story, waits)
    if story.root is None:
        if story.follows is not None:
            raise InputError(str(log.path), "JOB", unending(story.follows), "a job that is")
        return None
    return Trace(job, story.clock, story.root, story.account, waits.done)


def explain(story: JobStory, waits: Waits) -> None:
    """Add to the life of a job that `story` has built the reasons for each of its waits, and why
    its runs were cancelled."""
    since = {wait.since: wait for wait in waits.done}
    for span in story.waits:
        if span.start in since:
            span.children += since[span.start].spans()
    for record, span in story.cancelled:
        span.title += _cancelled(story, record, waits.preempted.get(record.seq))


FROM_POLICIES = {
    DeciderKind.COPIES: ": the policy places the copies anew",
    DeciderKind.DEADLINE: ": the policy gives its workers back",
}
"""Why policies cancel runs of jobs that go on, by kind of decider."""


def _cancelled(story: JobStory, record: Record, other: Run | None) -> str:
    """Return words that say why the run was cancelled that `record` ends.

    Another copy of the job completed at that time, or the run `other` of another job preempted it,
    or the policy gave it up; the text is empty where the log does not say.
    """
    started, run = story.started, story.completions.get(record.t)
    if run is not None:
        return f": run {run}, another copy, completed"
    if other is None:
        return FROM_POLICIES.get(started.decider, "")
    why = f"the order {Ranking.of(started).name} puts it first"
    size = counted(other.asked, "processor")
    return f", preempted by {other.job.name}, which starts on {size}: {why}"


def causes(log: LogFile, seq: int) -> list[Record]:
    """Return the chain of causes behind event `seq`: the event itself, its cause, that event's
    cause, and so on to the first.

    Raises InputError where there is no such event. The log is read twice, once for the causes of
    all events and once for the chain, and only the chain and the last event are decoded. An event's
    number is the number of its line; a log in which it is not is refused.
    """
    with log.skimmed():
        found = (CAUSE.search(line) for _, line in skim(log))
        caused_by = array("q", [int(it[1]) if it else -1 for it in found])
        if not 0 <= seq < log.read:
            early = "" if log.ended else ", where the log stops early"
            problem = f"{seq} is not in the log"
            raise InputError(str(log.path), "SEQ", problem, f"0 to {log.read - 1}{early}")
        chain = [seq]
        while 0 <= caused_by[chain[-1]] < chain[-1]:
            chain.append(caused_by[chain[-1]])
        wanted = frozenset(chain)
        decoded_lines = {n: log.decoded(n, line) for n, line in skim(log) if n - 1 in wanted}
    return [record for number in chain if (record := decoded_lines[number + 1]) is not None]


# --- dates ---------------------------------------------------------------------------------------


def clock_of(log: Path) -> Clock:
    """Return the clock that formats this log's times; dates, if any, come before the first job."""
    history = History()
    for record in () if is_own(first_of(log)) else LogFile(log):
        history.apply(record)
        if history.begins is not None or history.jobs:
            break
    unit = "" if history.header is None else history.header.unit
    return Clock(unit, history.begins, history.zone)


def time_at(log: Path, date: Date) -> float:
    """Return the log's time at a date; one that names no zone is in that of the jobs' log.

    Raises InputError where the log has no dates or begins later.
    """
    clock = clock_of(log)
    if clock.begins is None:
        raise InputError(str(log), "--at", "a date, and this log has none", FORMS)
    try:
        time = date.within(zone(clock.zone)) - clock.begins
    except ValueError as error:
        raise InputError(str(log), "zone", str(error), "an IANA name") from None
    if time < 0:
        problem = f"{clock(time)} is before the log's first instant"
        raise InputError(str(log), "--at", problem, f"{clock(0)} (UTC) or later")
    return time
