"""Derives the state that a new copy of a job starts from: the furthest that there is, be it that of
a run under way or a kept one (rules.md, P5; redundancy17).

Fractions of the work are compared, not amounts: copies on other numbers of members have other work.
"""

from __future__ import annotations

from collections.abc import Sequence

from sims.audit.facts import ExpectedJob, ExpectedState
from sims.audit.world import World


def preempted(w: World, job: ExpectedJob) -> ExpectedState | None:
    """Return the state that a new copy starts from where the decider schedules copies, and states
    of cancelled runs are kept; None for the beginning.

    With cloning it is the furthest of the kept states and of the runs under way. Without, it is the
    furthest kept state, which no later copy can take then.
    """
    if not job.rules.cloning:
        return job.kept.pop(0) if job.kept else None
    states = [it for it in (furthest(w, job), *job.kept[:1]) if it is not None]
    return best(sorted(states, key=lambda state: state.run))


def furthest(w: World, job: ExpectedJob) -> ExpectedState | None:
    """Return the state of the job's run under way that has done most work; of equals, that of the
    run on the lowest worker; None if no run is under way. Runs that hang, or wait for a fault that
    is not detected yet, do not count."""
    runs = [(it.spans, it.run) for it in job.copies if it.run is not None and not it.blind]
    runs.sort(key=lambda it: it[0])
    return best([run.state(w.now) for _, run in runs if run.hung is None])


def best(states: Sequence[ExpectedState]) -> ExpectedState | None:
    """Return the state with the largest fraction of the work done, the first of equals; None if
    there is none."""
    found: ExpectedState | None = None
    for state in states:
        if state.beyond(found):
            found = state
    return found


def keep(job: ExpectedJob, state: ExpectedState) -> None:
    """Keep the state of a cancelled run with its job: a later copy may start from it
    (redundancy17). With cloning only the furthest state is kept."""
    if not job.rules.cloning:
        job.kept.append(state)
        job.kept.sort(key=lambda it: (-it.fraction, it.run))
    elif not job.kept or not job.kept[0].beyond(state):
        job.kept = [state]
