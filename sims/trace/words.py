"""Puts into words what a job is and what happens to it besides the stages of its runs."""

from __future__ import annotations

from actors.events import (
    CheckpointLost,
    CheckpointStarted,
    CheckpointStored,
    CheckpointTaken,
    DeciderKind,
    EndExpected,
    FaultIgnored,
    JobDescribed,
    MembersChanged,
    MembersJoined,
    MembersPromised,
    ProtectionDescribed,
    ProtectionKind,
    RedistributionDecided,
    RedistributionPlanned,
    RestartedFromScratch,
    ScenarioStarted,
    Stage,
    TasksDescribed,
)
from sims.history.reader import Run
from sims.telling import amount_of, counted, in_units, worker_of
from sims.trace.parts.about import About, Words
from sims.trace.parts.table import OF_MECHANISMS

Described = JobDescribed | TasksDescribed | ProtectionDescribed


def described(event: Described, unit: str) -> str:
    """Return the clause that an event on what a job is (its kind, tasks or protection) adds to the
    title of its life; times are in `unit`."""
    match event:
        case JobDescribed(kind=kind, limit=limit):
            killed = None if limit is None else f"; killed after {in_units(limit, unit)}"
            return f": {kind}{killed or ''}"
        case TasksDescribed(iterations=many, tasks=tasks):
            return f"; {counted(many, 'iteration')} of {counted(tasks, 'task')}"
        case ProtectionDescribed():
            return _protection(event, unit)


def _protection(event: ProtectionDescribed, unit: str) -> str:
    """Return a clause such as `; buddies, a checkpoint every 3 s`; empty for re-execution from
    scratch."""
    clauses = [event.kind.value] if event.kind is not ProtectionKind.NONE else []
    if event.period == 0 and clauses:
        clauses.append("whose state is always saved")
    elif event.period is not None and clauses:
        checked = "a verified" if event.verified else "a"
        clauses.append(f"{checked} checkpoint every {in_units(event.period, unit)} of work")
    if event.copies > 1:
        cloned = ", cloned from the furthest" if event.cloning else ""
        clauses.append(f"up to {counted(event.copies, 'copy', 'copies')}{cloned}")
    return f"; {', '.join(clauses)}" if clauses else ""


# --- remarks --------------------------------------------------------------------------------------


def _saved(event: CheckpointTaken, about: About) -> str:
    assert about.run is not None
    work = amount_of(about.run.event.work)
    return f"checkpoint complete: {amount_of(event.done)} of {work} done"


def _lost(event: CheckpointLost, about: About) -> str:
    workers = [worker_of(about.started, worker) for worker in event.workers]
    return f"checkpoint lost with {', '.join(workers)}"


def _decided(event: RedistributionDecided, about: About) -> str | None:
    why = "workers came back" if event.job is None else f"{event.job}'s {event.why.value}"
    for name, before, after in event.moves:
        if name == about.job:
            return f"goes from {before} to {counted(after, 'worker')}: {why}"
    return None


def _planned(event: RedistributionPlanned, about: About) -> str:
    where = f"from {event.before} to {counted(event.after, 'worker')}"
    return f"moves its data {where} in {counted(event.rounds, 'round')}"


def _expected(event: EndExpected, about: About) -> str | None:
    if event.expected is None:
        return None
    where = counted(event.processors, "worker")
    end = about.clock(event.expected)
    return f"expected to end at {end} on {where}; {event.left:.3%} of the work left"


TITLES: Words = {
    **OF_MECHANISMS,
    CheckpointTaken: _saved,
    CheckpointStarted: lambda it, _: f"saves {amount_of(it.done)} done, and goes on",
    CheckpointStored: lambda it, _: f"{amount_of(it.done)} done is on shared storage too",
    CheckpointLost: _lost,
    RestartedFromScratch: lambda it, _: (
        f"starts from scratch: {amount_of(it.lost)} that was saved is lost"
    ),
    MembersJoined: lambda it, _: f"workers {it.processors} join",
    MembersChanged: lambda it, _: f"keeps workers {it.processors} from now on",
    MembersPromised: lambda it, _: f"promises its workers {it.processors}, and goes on",
    FaultIgnored: lambda it, _: f"a fault on worker {it.worker}, ignored: it is {it.why.value}",
    EndExpected: _expected,
    RedistributionDecided: _decided,
    RedistributionPlanned: _planned,
}
"""Words for all events of a job besides the stages of its runs."""


# --- stages ---------------------------------------------------------------------------------------

WORDS = {
    Stage.STARTING_UP: "starts up",
    Stage.STAGING_IN: "stages in",
    Stage.SAVING: "sends its images",
    Stage.COMPUTING: "computes",
    Stage.VERIFYING: "verifies",
    Stage.CHECKPOINTING: "takes a checkpoint",
    Stage.RECOVERING: "recovers",
    Stage.REDISTRIBUTING: "redistributes its data",
}


def stage_words(run: Run, started: ScenarioStarted) -> str:
    """Return the words for what a run does in its present stage, such as `computes`.

    Under a deadline's policy, a job that moves to other workers changes over before it recovers:
    both are one stage.
    """
    stage, event = run.stage or Stage.COMPUTING, run.event
    moved = started.decider is DeciderKind.DEADLINE and event.keeps is None
    changes = moved and any(it.startswith("changeover=") for it in started.settings)
    if stage is not Stage.RECOVERING or not changes or run.bandwidth:
        return WORDS[stage]
    alone = event.source is None or run.job.stored is not None  # loading is a part of its own
    return "changes over" if alone else "changes over and recovers"
