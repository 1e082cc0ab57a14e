"""Decisions: what may be decided, and because of what."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from attrs import Factory, define

from actors.events import BoundsDescribed, Outcome, RunStarted, TasksDealt
from actors.runtime import Event
from policies.availability import WorkerState
from sims.audit.facts import Copy, Job, Run
from sims.audit.law import Causes, Phase, allowed, comes, coming, follows
from sims.audit.turns import Script
from sims.audit.workers import UP, Spans, Worker, by_worker, meet, numbers
from sims.audit.world import Handler, World


@define(eq=False)
class Decider:
    """What any decider's lines are held against.

    The cause of a start is the shelf or batch that it starts in; else what its job wants workers
    since, if that is of this instant; else what freed some of them; else what called for the
    decision.
    """

    w: World
    said: dict[str, str]
    """The keys of its policy that are told, and their values."""
    opened: int = -1
    """seq of the shelf or batch that opened last."""
    freeing: list[tuple[int, Spans]] = Factory(list)
    """seq of what freed workers at this instant, and which."""
    news: list[int] = Factory(list)
    """seq of what called for a decision at this instant."""
    decided: list[int] = Factory(list)
    """seq of what has been decided at this instant, where that is told."""
    started: list[int] = Factory(list)
    """seq of the starts of this instant; -1 of jobs that had not waited."""

    def tells(self) -> dict[type[Event], Handler]:
        """What makes the scripts of the lines that only it tells."""
        return {}

    def report(self, copy: Copy, cause: int) -> None:
        """A copy goes on otherwise than before."""

    def checkpointed(self, run: Run, cause: int) -> None:
        """It has taken a checkpoint."""

    def clear(self) -> None:
        """What was of this instant is over."""
        for it in (self.freeing, self.news, self.started, self.decided):
            it.clear()

    def spared(self) -> None:
        """The platform has spares, which start nothing (WORLD.md, P10)."""

    # --- what it hears of ---------------------------------------------------------------------

    def submitted(self, job: Job, since: int) -> None:
        """A job asks for workers."""
        self.wants(job, since)
        self.news.append(since)

    def wants(self, job: Job, seq: int) -> None:
        """It wants workers from now on."""
        job.wanted = seq

    def freed(self, copy: Copy, seq: int) -> None:
        """A copy has given its workers back."""
        self.freeing.append((seq, copy.spans))
        self.news.append(seq)

    def ended(self, copy: Copy, outcome: Outcome, seq: int, gone: bool) -> None:
        """A copy is over."""

    def turned(self, worker: int, state: WorkerState, copy: Copy | None, seq: int) -> None:
        """It is known that a worker has changed its state."""
        if state is UP:
            self.freeing.append((seq, (worker, worker + 1)))
        self.news.append(seq)

    def programmed(self, seq: int) -> None:
        """A worker holds a program now."""

    def paced(self, worker: Worker, seq: int) -> None:
        """A worker has changed its speed."""

    def strikes(self, worker: Worker) -> None:
        """A fault is to take a worker DOWN."""

    def close(self) -> None:
        """An instant is over."""

    # --- what it may decide -------------------------------------------------------------------

    def placing(self, copy: Copy, event: RunStarted) -> None:
        """Raises Broken where these workers are not those that it gets."""

    def why(self, job: Job, copy: Copy) -> Causes:
        """What may be the cause of a start."""
        if self.opened >= self.w.first:
            return self.opened
        if job.wanted >= self.w.first:
            self.started.append(-1)
            return job.wanted
        freed = (cause for cause, spans in self.freeing if meet(spans, copy.spans))
        found = next(freed, None)
        causes = self.otherwise(job, copy) if found is None else found
        self.started.append(self.w.seq)
        return causes

    def otherwise(self, job: Job, copy: Copy) -> Causes:
        """What called for a decision."""
        return self.news or {0, job.wanted}

    def cancels(self, copy: Copy) -> Causes:
        """What may be the cause of a cancellation. Raises Broken where nobody may cancel it."""
        if not self.w.head.cancels:
            self.w.capped = self.w.capped or self.w.seq  # only a cap on the makespan does
            return 0
        return {0, *self.news}

    def deal(self, job: Job, copy: Copy, event: TasksDealt) -> None:
        """Tasks are dealt to the members of a run."""
        whole, rest = divmod(job.tasks.tasks, copy.full)
        copy.units = {n: whole + (k < rest) for k, n in enumerate(copy.members)}
        follows(event.reason is None, "nobody is asked why")


def _wakes(policy: str) -> bool:
    """Whether an enrolment policy of this name may be asked though nothing happens (volatile13,
    section VI); of a user's nothing is known."""
    return "-" in policy or ":" in policy


REASONS = {"lost": "failure", "failed": "error", "cancelled": "proactive", "completed": "start"}
"""How a run ended -> why a policy is asked for the next one (volatile13, section VI)."""


@define(eq=False)
class Enrolment(Decider):
    """Workers are enrolled for each iteration, with tasks (volatile13)."""

    replaced: dict[str, None] = Factory(dict)
    """Jobs of which a run was cancelled at this instant, for another to come."""

    def submitted(self, job: Job, since: int) -> None:
        Decider.submitted(self, job, since)
        self.w.push(job, Phase.MESSAGES, 0, partial(self._bound, job, since))

    def _bound(self, job: Job, since: int) -> Script:
        """What each worker holds of its tasks at most."""
        event = yield from coming(BoundsDescribed, job.name)
        job.bounds = by_worker(self.w.head.processors, event.bounds)
        yield BoundsDescribed(job.name, event.bounds), since

    def programmed(self, seq: int) -> None:
        self.news.append(seq)

    def otherwise(self, job: Job, copy: Copy) -> Causes:
        """Who is asked though nothing happens is asked since his run started, or is wanted."""
        policy = self.w.head.policy
        allowed(self.news or _wakes(policy), "nothing calls for a decision now")
        return self.news or job.wanted

    def cancels(self, copy: Copy) -> Collection[int]:
        self.replaced[copy.job.name] = None
        run = copy.run
        since = run.started if run is not None else copy.job.wanted
        return {*(self.news or {since}), 0}

    def deal(self, job: Job, copy: Copy, event: TasksDealt) -> None:
        members, tasks = tuple(worker for worker, _ in event.tasks), job.tasks.tasks
        allowed(members == copy.members, f"its run is on {copy.text}")
        copy.units = dict(event.tasks)
        allowed(sum(copy.units.values()) == tasks, f"{tasks} are to be dealt")
        for n, units in copy.units.items():
            most = job.bounds.get(n, 0)
            allowed(1 <= units <= most, f"{n} holds at most {most}")
        outcome, ended = job.over
        reason = REASONS[outcome] if ended == self.w.now else "start"
        follows(event.reason == reason, f"reason must be {reason!r}")
        self.replaced.pop(job.name, None)

    def close(self) -> None:
        for name in self.replaced:
            comes(self.w.capped, f"a run of {name} is cancelled, and none comes in its place")
        if self.news and ":" not in self.w.head.policy:
            for job in self.w.jobs.values():
                room = sum(job.bounds.get(n, 0) for n in numbers(self.w.free.spans))
                waits = not job.copies and job.tasks is not None and room >= job.tasks.tasks
                comes(not waits or self.w.capped, f"workers must be enrolled for {job.name}")
