"""Entry of the audit: derives the course of a log from its inputs and decisions, and compares.

Handlers here check what comes from outside of the simulated system: the log's head, submissions of
jobs, and the end. Changes of workers are in `copies.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from actors import events as e
from actors.events import DeciderKind
from actors.runtime import Event, Record, rare_collections
from policies import deadline, enrolment, pack
from policies.copies import named
from policies.interface.kinds import JobKind
from policies.queue.names import is_strategy
from sims.audit import copies, link, runs, stages
from sims.audit.columns import ColumnChecks
from sims.audit.costs import pack_of
from sims.audit.deciding import DecisionChecks, EnrolmentChecks
from sims.audit.facts import ExpectedJob
from sims.audit.law import (
    Broken,
    Law,
    Violation,
    amounts,
    as_text,
    coming,
    follows,
    framed,
    must,
    possible,
    same,
)
from sims.audit.messages import OfWorld
from sims.audit.pack import PackChecks
from sims.audit.parts.order import ORDER
from sims.audit.queue import QueueChecks
from sims.audit.scenario import given
from sims.audit.turns import Script
from sims.audit.workers import Service, by_worker
from sims.audit.world import Handler, PartRules, World
from sims.errors import AuditFailed
from sims.log import Misfit


def _of_copies(name: str) -> bool:
    """Return whether `name` is that of a published policy that schedules redundant copies."""
    with suppress(ValueError):
        return bool(named(name))
    return False


DECIDERS: dict[DeciderKind, tuple[type[DecisionChecks], Callable[[str], bool], JobKind | None]] = {
    DeciderKind.QUEUE: (QueueChecks, is_strategy, None),
    DeciderKind.ENROLMENT: (
        EnrolmentChecks,
        {*enrolment.CATALOGUE, "FIXED"}.__contains__,
        JobKind.ITERATIVE,
    ),
    DeciderKind.PACK: (PackChecks, pack.CATALOGUE.__contains__, JobKind.MALLEABLE),
    DeciderKind.COPIES: (ColumnChecks, _of_copies, JobKind.RIGID),
    DeciderKind.DEADLINE: (DecisionChecks, deadline.NAMED.__contains__, JobKind.RIGID),
}
"""Maps a kind of decider to its checks, to a test whether a name is a policy of that kind, and to
the only kind of job that it schedules (None for a queue: all kinds)."""


def audit(records: Iterable[Record]) -> Iterator[Violation]:
    """Read the records of a log in order, and yield a Violation for the first line that breaks a
    law, if there is one; a log of this simulator yields nothing.

    Later lines are not checked, as the state is unknown after a violation. Raises AuditFailed where
    the audit itself fails.
    """
    w, log = world(), OfWorld(records)

    def seq() -> int:
        return log.line(w.line.seq) if w.line is not None else -1

    # The log's objects live long: frequent garbage collection would only look at them again.
    with rare_collections():
        try:
            for record in log:
                _read(w, record)
            ended = w.seq < 0 or w.turns.ended
            must(Law.END, ended, "the log does not end with ScenarioEnded")
        except Broken as broken:
            line = as_text(w.line.event) if w.line is not None else "the log"
            yield Violation(broken.law, (seq(),), f"{line}: {broken.why}")
        except Misfit as misfit:
            why = f"{misfit.key}: {misfit.problem}; accepted: {misfit.accepted}"
            yield Violation(Law.SCHEMA, (seq() + 1,), why)


def _read(w: World, record: Record) -> None:
    """Check the next line of the log, `record`, against the state `w`, and bring that up to date.

    Raises Broken if the line breaks a law, and AuditFailed for any other error: a fault of the
    audit is no law that the log breaks.
    """
    try:
        take(w, record)
    except Broken:
        raise
    except Exception as error:
        line = f"#{record.seq}, {type(record.event).__name__}"
        why = f"{type(error).__name__}: {error}"
        text = (
            f"the audit itself failed at {line} ({why}): whether the log breaks a law is not known"
        )
        raise AuditFailed(text) from error


def take(w: World, record: Record) -> None:
    """Check a line of the log, and bring the state up to date. Raises Broken where the line breaks
    a law."""
    seq, t, event, cause = record.seq, record.t, record.event, record.cause
    turns = w.turns
    w.line = record
    if w.seq < 0:
        framed(isinstance(event, e.ScenarioStarted), "the first event is not ScenarioStarted")
    elif turns.ended:
        raise Broken(Law.FRAME, "it comes after the end")
    elif cause is None or not 0 <= cause < seq:
        raise Broken(Law.ORDER, f"its cause is {cause}")
    if seq != w.seq + 1 or t < turns.now:
        raise Broken(Law.ORDER, f"it follows #{w.seq} at {turns.now}")
    if t != turns.now:
        turns.pass_to(t)
        w.first = seq
        framed(w.closed is None, "something happens after the workload's end")
    w.seq = seq
    turns.meet(event, cause, seq)
    for part in w.hearers:
        part.hear(event, seq)


# --- the head -------------------------------------------------------------------------------------


def begin(w: World, event: e.ScenarioStarted) -> Script:
    """Check the log's first line, and prepare the state `w` for its policy: the kind of decider,
    the policy's settings, and all workers free."""
    framed(w.seq == 0, "the scenario starts a second time")
    sound = event.processors >= 1 and event.kinds and event.unit in ("s", "slot")
    framed(sound and w.now == 0 and event.schema == e.SCHEMA)
    decider, knows, kind = DECIDERS[event.decider]
    known = ":" in event.policy or knows(event.policy)
    framed(known, f"{event.policy} is no policy of its decider")
    framed(not kind or event.kinds == (kind,), "its decider has other jobs")
    each = not event.workers or len(event.workers) == event.processors
    framed(each, "each worker has a name, or none")
    w.keep(given(event))
    framed(w.given.unit == event.unit, f"its scenario's times are in {w.given.unit}")
    w.head, w.turns.lateness = event, event.late or 0
    w.holdings.begin(event.processors)
    settings = dict(setting.partition("=")[::2] for setting in event.settings)
    w.reuses = decider is EnrolmentChecks and settings.get("reuse") != "False"
    # Deadlines are the only kind without checks of their own: their decider is the base class.
    w.changeover = float(settings.get("changeover", 0)) if decider is DecisionChecks else 0
    w.decider = decider(w, settings)
    w.handlers.update(w.decider.line_handlers())
    _equip(w)
    for part in w.parts[PartRules.prepare]:
        part.prepare()
    # The order matters: channels are assigned last in an instant, the decider judges the state
    # after that, and it forgets the instant's causes only when all parts have used them.
    parts = (it.close for it in w.parts[PartRules.close])
    w.turns.after = [lambda: link.close(w), w.decider.close, *parts, w.decider.clear]
    yield event, (None,)


def describe(w: World, event: Event) -> Script:
    """Check a line of the log's head: the lines that describe the scenario, before those of jobs.
    They come in a fixed order, and some of them only once."""
    early = not w.now and not w.jobs and type(event) not in w.heads
    place = DESCRIBED.index(type(event))
    begun = place <= LINKED and any(it.seq or it.sped == 0 for it in w.workers.values())
    framed(early and place >= w.place and not begun, "it comes too late")
    w.place = place
    amounts(event)
    part = next((it for it in w.parts.each if it.head and it.head.kind is type(event)), None)
    if part is None:
        _know(w, event)
    else:
        part.describe(event)
    if isinstance(event, ONCE):
        w.heads.add(type(event))
    yield event, 0


def _know(w: World, event: Event) -> None:
    """Check the contents of a line of the log's head that is no mechanism's, and keep the facts
    that later checks need in `w`."""
    match event:
        case e.ProcessesDescribed(scale=scale):
            possible(scale > 0)
            w.turns.measured = True
        case e.ChainsBelieved(chains=chains):
            rows = [row for it in by_worker(w.head.processors, chains).values() for row in it]
            possible(all(min(row) >= 0 and same(sum(row), 1) for row in rows), "no probabilities")
        case e.JobsLeftOut() | e.JobsChanged():
            possible(event not in w.told, "it is told twice")
            w.told.append(event)
        case e.WorkerPriced(worker=worker):
            # One line for each worker, in the order of their numbers.
            last, w.priced = w.priced, worker
            possible(last < worker < w.head.processors, "worker {}, after {}", worker, last)
            possible(_rising(event), "prices of no times")
        case e.PackDescribed():
            framed(isinstance(w.decider, PackChecks), "no pack decides")
            w.pack = pack_of(event, w.given)


def _equip(w: World) -> None:
    """Keep what the scenario says of the platform; its spares leave the free workers. Raises Broken
    if no platform is like that."""
    platform, size = w.given.platform, w.head.processors
    possible(platform.size == size, "its scenario has {} workers", platform.size)
    possible(platform.spares < size, "{} of {} workers are spares", platform.spares, size)
    w.platform = platform
    if platform.spares:
        w.holdings.set_aside(platform.spares)
        w.decider.spares_described()
    link = w.given.link
    w.service = None if link is None else Service(*link)


def _rising(event: e.WorkerPriced) -> bool:
    """Return whether the prices' times rise from 0 on and, if the prices repeat, end before the
    period."""
    times = (*event.times, *(() if event.period is None else (event.period,)))
    rising = all(one < other for one, other in pairwise(times))
    return len(event.times) == len(event.prices) and times[:1] == (0,) and rising


# --- jobs -----------------------------------------------------------------------------------------


def submit(w: World, event: e.JobSubmitted) -> Script:
    """Check the submission of a job and the lines that describe the job, which follow at once; then
    add the job to the state `w`."""
    name = event.job
    known = name in w.jobs or name in w.gone
    possible(not known and w.closed is None, "{} is submitted again, or after the end", name)
    possible((event.recorded_wait or 0) >= 0)
    due = w.head.decider is not DeciderKind.DEADLINE or "deadline" in w.given.own.get(name, {})
    possible(due, "{} has no deadline, by which it is decided", name)
    whose = event
    seq = yield event, sum(part.sends(name) for part in w.parts[PartRules.sends])
    it = yield from coming(e.JobDescribed, name)
    asked = w.asked(name)
    job, since = ExpectedJob(name, seq, it, whose, w.now, asked, wanted=seq), seq
    possible(not (job.plain and job.asks), "a plain job asks for no mechanism")
    for part in w.parts[PartRules.described] if job.asks else ():
        part.described(job)
    sound = it.kind in w.head.kinds and (it.kind is not JobKind.ITERATIVE or it.work == 0)
    if it.limit is not None:
        sound = sound and it.estimate is not None and same(it.limit, it.estimate + job.overhead)
    possible(sound, "{}; there are {}", it, w.head.kinds)
    _check_listed(w, it)
    yield _of(it, name), seq
    w.kinds.add(it.kind)
    # A plain job, of which the log gives the number of failures, has no protection to describe.
    if it.failures is None:
        job.messages = w.given.messages(name) if w.service is not None else None
        yield from _more(w, job, seq)
        if it.kind is JobKind.ITERATIVE:
            since = yield e.IterationStarted(name, 0), seq
            job.iteration = 0
    w.jobs[name] = job
    for part in w.parts[PartRules.admit]:
        part.admit(job)
    w.decider.submitted(job, since)


def _check_listed(w: World, event: e.JobDescribed) -> None:
    """Check that a job that the scenario lists is described as it is there."""
    if event.job in w.given.own:
        verification, estimate = w.given.verification(event.job), w.given.estimate(event.job)
        possible(same(event.verification, verification), "its verification takes {}", verification)
        possible(same(event.estimate, estimate), "its estimate is {}", estimate)


def _more(w: World, job: ExpectedJob, seq: int) -> Script:
    """Check the further lines that describe a job, in the order in which they come: its protection,
    tasks and application. `seq` is the number of its submission, the lines' cause."""
    kinds: dict[type[Event], bool] = {
        e.ProtectionDescribed: True,
        e.TasksDescribed: job.described.kind is JobKind.ITERATIVE,
        e.ApplicationDescribed: w.pack is not None,
    }
    for kind in [kind for kind, there in kinds.items() if there]:
        event = yield from coming(kind, job.name)
        _learn(w, job, event)
        yield _of(event, job.name), seq


def _of(event: Any, name: str) -> Any:
    """Return `event` unchanged if it describes the job called `name`, and none of its numbers is
    negative; else raise Broken."""
    amounts(event)
    possible(event.job == name, "it describes no {}", name)
    return event


def _learn(w: World, job: ExpectedJob, event: Event) -> None:
    """Check one line that describes a job, and keep it with the job."""
    match event:
        case e.ProtectionDescribed(copies=most):
            possible(most >= 1)
            job.rules = event
        case e.TasksDescribed(times=times):
            possible(event.tasks >= 1 and event.iterations >= 1)
            job.tasks, job.times = event, by_worker(w.head.processors, times)
            possible(all(it >= 0 for it in job.times.values()))
        case e.ApplicationDescribed():
            job.application, job.speedup = event, w.given.speedup(job.name)
            w.decider.describe(job)


# --- the end --------------------------------------------------------------------------------------


def end_workload(w: World, event: e.WorkloadEnded) -> Script:
    """Check the line that says that every job has completed or been killed."""
    follows(not w.jobs, f"{len(w.jobs)} jobs are not over")
    framed(w.closed is None, "the workload ends twice")
    w.closed = yield e.WorkloadEnded(*w.counts), w.last_end


def end(w: World, event: e.ScenarioEnded) -> Script:
    """Check the last line, which says how the scenario ended: with all jobs over, at a cap on its
    time, because the policy made no progress, or as too few workers were left."""
    completed, capped = event.end is e.End.COMPLETED, event.end is e.End.CAPPED
    framed(completed is (w.closed is not None), "the workload says else")
    framed(w.capped is None or capped, "runs were cut")
    if completed:
        pack = isinstance(w.decider, PackChecks) and w.pack is None
        enrols = isinstance(w.decider, EnrolmentChecks) is (e.ChainsBelieved in w.heads)
        whole = enrols and not pack and w.kinds == set(w.head.kinds)
        framed(whole, "not all that the head names has been logged")
        left_out = sum(it.jobs for it in w.told if isinstance(it, e.JobsLeftOut))
        listed = len(w.given.own)
        all_came = not listed or len(w.gone) + left_out == listed
        framed(all_came, "{} of {} jobs were submitted", len(w.gone), listed)
        yield event, w.closed
    else:
        yield event, 0 if capped else range(w.seq)
    for part in w.parts[PartRules.ended]:
        part.ended(event.end)
    # From now on nothing is due: an instant that is cut short lacks no line.
    w.turns.ended = True


def no_effect(w: World, event: Event) -> Script:
    """Accept a line that has no effect on the simulated system, with whatever contents, caused by
    any earlier line."""
    yield event, range(w.seq)


def _in_head(general: Sequence[type[Event]]) -> tuple[type[Event], ...]:
    """Return these classes of lines of the log's head, which are no part's, with the lines of the
    parts in their places."""
    found = list(general)
    for part in ORDER:
        if part.head is not None:
            found.insert(found.index(part.head.after) + 1, part.head.kind)
    return tuple(found)


ONCE = (
    *(e.ChainsBelieved, e.PackDescribed),
    e.ProcessesDescribed,
    *(it.head.kind for it in ORDER if it.head is not None and it.head.once),
)
DESCRIBED = _in_head(
    (
        *(e.ProcessesDescribed, e.JobsLeftOut, e.JobsChanged, e.LogDoubted),
        *(e.LogReplayed, e.ChainsBelieved, e.PackDescribed, e.WorkerPriced),
        *(e.FaultsFitted, e.FaultsExpected, e.FaultsReplayed),
    )
)
"""Event classes of the log's head, in the order in which they come."""
LINKED = DESCRIBED.index(e.PackDescribed)
"""Place of the last of these lines that comes before all states and speeds of workers."""
HANDLERS: dict[type[Event], Handler] = {
    e.ScenarioStarted: begin,
    **dict.fromkeys(DESCRIBED, describe),
    **dict.fromkeys((e.CheckpointTaken, e.StageStarted, e.VerificationEnded), runs.learn),
    **dict.fromkeys((e.RunEnded, e.MembersReleased), copies.cancel),
    **dict.fromkeys((e.TransferStarted, e.TransferSuspended), link.pass_channels),
    e.TransferDropped: link.forgotten,
    e.CheckpointStarted: runs.learn,
    e.PartMeasured: stages.measured,
    e.JobSubmitted: submit,
    e.WorkerChanged: copies.change,
    e.WorkerSpeedChanged: copies.speed,
    e.RunStarted: copies.start,
    e.WorkloadEnded: end_workload,
    e.ScenarioEnded: end,
}
"""Maps event classes to the functions that make their scripts, for lines that only outside or a
decision can bring about; each decider adds its own."""


def world() -> World:
    """Return the state of a simulated system of which no line has been read: the audit reads a log
    into it, from the first line on."""
    return World(
        HANDLERS,
        ORDER,
        course=runs.course,
    )
