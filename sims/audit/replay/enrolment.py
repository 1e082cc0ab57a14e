"""Whom an enrolment policy would have enrolled, and whose run it would have withdrawn (002)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from attrs import define, field

from actors.deciders.enrolment import EnrolmentDecider
from actors.deciders.enrolment.window import FREE
from actors.events import (
    BoundsDescribed,
    ChainsBelieved,
    JobCompleted,
    JobDescribed,
    JobKilled,
    LinkDescribed,
    MembersReleased,
    MessagesDescribed,
    Outcome,
    RateChanged,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    StageStarted,
    TasksDealt,
    TasksDescribed,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
)
from actors.intervals import numbers_in, spread
from actors.messages import CopyOver, StartCopy, Submit, WorkerMoved
from actors.pool import Pool
from actors.runtime import Event, Record
from actors.worker import Worker
from actors.worker_messages import Needs
from policies.availability import WorkerState
from policies.interface import Enrolment
from policies.maths.markov import Belief, MarkovChain
from sims.audit.replay.enrolled import ToldApplication, ToldCopy, ToldMembers, ToldRun
from sims.audit.replay.shadow import NUMBERED, Shadow, Unreplayable, as_job, place_of, shadow
from sims.scenario.deciders.enrolment import enrolment_policy
from sims.scenario.policy import PolicySection

EARLY = (Outcome.LOST, Outcome.FAILED)
Choice = tuple[str, tuple[tuple[int, int], ...], str | None]
"""A job, (worker, tasks), and why the policy was asked."""


@define(eq=False)
class EnrolmentReplay:
    """An enrolment's decider, told what the log tells, an instant at a time."""

    section: PolicySection
    started: ScenarioStarted
    belief: Belief
    tasks: int
    """m of the first job."""
    channels: int = 1
    """n_com."""
    jobs: dict[str, ToldApplication] = field(factory=dict)
    """Those that are submitted and not gone."""
    copies: dict[tuple[str, int], ToldCopy] = field(factory=dict)
    """(job, its last run) -> the copy."""
    enrolments: dict[int, Enrolment] = field(factory=dict)
    members: ToldMembers = field(init=False)
    described: dict[str, TasksDescribed] = field(factory=dict)
    needs: dict[str, Needs] = field(factory=dict)
    submitted: dict[int, float] = field(factory=dict)
    """Index -> when."""
    scheduler: Shadow = field(init=False)

    def __attrs_post_init__(self) -> None:
        size = self.started.processors
        names = self.started.workers or [f"P{k + 1}" for k in range(size)]
        policy = enrolment_policy(self.section, Path(), names, self.tasks)
        self.members = ToldMembers(size, self.section.reuse)
        known = cast(Mapping[int, Worker], self.members.workers)
        decider = EnrolmentDecider(policy, self.enrolments, known)
        self.scheduler = shadow(self.started.seed, Pool(size, True, True, named=True), decider)

    @property
    def decider(self) -> EnrolmentDecider:
        """What is asked."""
        return cast(EnrolmentDecider, self.scheduler.decider)

    def due(self) -> float | None:
        """When the policy wants to be asked though nothing happens."""
        return self.decider.tick

    def instant(self, t: float, records: Sequence[Record]) -> str | None:
        """All that is told of `t`; what the policy would have decided instead."""
        self.scheduler.system.loop.now = t
        events = [record.event for record in records]
        gone = {it.job for it in events if isinstance(it, JobCompleted | JobKilled)}
        before = self._before(events, t, gone)
        told = events[before:]
        wrong = self._decided(told, gone)
        if wrong is None:
            for event in told:
                self._hear(event, t, gone)
            self.members.leave_for_good()
        return wrong

    # --- what was decided ---------------------------------------------------------------------

    def _before(self, events: Sequence[Event], t: float, gone: set[str]) -> int:
        """Hear what was so when the policy was asked; how many events that are."""
        for at, event in enumerate(events):
            match event:
                case RunStarted(keeps=None) | TransferStarted():
                    return at
                case RunEnded(outcome=Outcome.WITHDRAWN, job=job) if job not in gone:
                    return at
                case TransferDropped(worker=worker) if self._stays(worker):
                    return at
            self._hear(event, t, gone)
        return len(events)

    def _stays(self, worker: int) -> bool:
        """Whether it keeps part of a message until it is known who is enrolled."""
        return worker in self.members.former and worker not in self.scheduler.pool.away

    def _decided(self, told: Sequence[Event], gone: set[str]) -> str | None:
        """Let the policy decide, as often as it is asked at this instant."""
        ended = [it for it in told if isinstance(it, RunEnded) and it.job not in gone]
        withdrawn = [it.job for it in ended if it.outcome is Outcome.WITHDRAWN]
        begun = [it for it in told if isinstance(it, RunStarted) and it.keeps is None]
        dealt = [it for it in told if isinstance(it, TasksDealt)]
        chosen = [(it.job, it.tasks, it.reason) for it in dealt][: len(begun)]
        given_up: list[str] = []
        choices: list[Choice] = []
        shadow = self.scheduler
        while shadow.decides():
            for number in shadow.withdrawn:
                given_up.append(self._withdraw(number))
            for start in shadow.starts:
                choices.append(self._choice(start))
                run = next((it for it in begun if it.job == choices[-1][0]), None)
                if run is not None:
                    begun.remove(run)
                    self._start(start, run)
        if (given_up, choices) == (withdrawn, chosen):
            return None
        ours, theirs = _told(given_up, choices), _told(withdrawn, chosen)
        return f"would {ours}; the log tells: {theirs}"

    def _choice(self, start: StartCopy) -> Choice:
        members = numbers_in(start.text)
        name = self._job_of(start.copy).name
        return name, tuple(zip(members, start.tasks, strict=True)), start.reason

    def _job_of(self, copy: int) -> ToldApplication:
        index = self.scheduler.held[copy][0]
        return cast(ToldApplication, self.scheduler.actors[index])

    def _withdraw(self, number: int) -> str:
        job = self._job_of(number)
        self.members.quit(job, job.copies.pop(number), early=True)
        self.scheduler.take_back(CopyOver(job.index, number, Outcome.WITHDRAWN, True))
        return job.name

    def _start(self, start: StartCopy, event: RunStarted) -> None:
        job = self._job_of(start.copy)
        copy = ToldCopy(start.copy, numbers_in(start.text), ToldRun(event.work, event.begun))
        job.copies[start.copy] = self.copies[event.job, event.run] = copy
        self.members.feed(job, copy)

    # --- what the log tells -------------------------------------------------------------------

    def _hear(self, event: Event, t: float, gone: set[str]) -> None:
        match event:
            case WorkerChanged(worker=worker, state=state):
                if state is WorkerState.DOWN:
                    self.members.workers[worker].memory.forget()
                self.scheduler.worker_moved(WorkerMoved(worker, state, event.until))
            case RunStarted(keeps=int(kept)):
                self._resume(event, kept)
            case StageStarted() | RateChanged():
                self._go_on(event, t)
            case RunEnded() | MembersReleased():
                self._end(event, event.job in gone)
            case TransferStarted() | TransferSuspended() | TransferEnded() | TransferDropped():
                received = self.members.pass_message(event, t)
                if received is not None:
                    self.scheduler.program_received(received)
            case _:
                self._describe(event, t)

    def _resume(self, event: RunStarted, kept: int) -> None:
        copy = self._known(event.job, kept)
        self.copies[event.job, event.run] = copy
        copy.run = ToldRun(event.work, event.begun)
        self.members.feed(self.jobs[event.job], copy)

    def _go_on(self, event: StageStarted | RateChanged, t: float) -> None:
        copy = self.copies.get((event.job, event.run))
        if copy is not None and copy.run is not None:
            copy.run.go_on(event, t)

    def _end(self, event: RunEnded | MembersReleased, gone: bool) -> None:
        if isinstance(event, MembersReleased):
            self._over(event.job, event.run, Outcome.WITHDRAWN, gone)
        elif event.kept:
            copy = self.copies[event.job, event.run]
            copy.run = None
            self.members.stay_for_next(copy)
        elif gone or event.outcome is not Outcome.WITHDRAWN:
            self._over(event.job, event.run, event.outcome, gone)
        else:
            del self.copies[event.job, event.run]  # withdrawn by the policy, which knows

    def _over(self, name: str, run: int, outcome: Outcome, gone: bool) -> None:
        job, copy = self.jobs[name], self._known(name, run)
        del job.copies[copy.number]
        if gone:
            del self.jobs[name]
        self.members.quit(job, copy, early=not gone and outcome in EARLY)
        self.scheduler.take_back(CopyOver(job.index, copy.number, outcome, not gone, gone))

    def _known(self, job: str, run: int) -> ToldCopy:
        copy = self.copies.pop((job, run), None)
        if copy is None:
            raise Unreplayable(f"the beginning of run {run} of {job}")
        return copy

    def _describe(self, event: Event, t: float) -> None:
        match event:
            case LinkDescribed(channels=channels):
                self.channels = channels
            case MessagesDescribed(job=job):
                self.needs[job] = Needs(event.label, event.program, event.data, event.image)
            case JobDescribed(job=job):
                self._submit(job, t)
            case TasksDescribed(job=job):
                self.described[job] = event
            case BoundsDescribed(job=job):
                known = self.jobs[job]
                known.needs = self.needs.pop(job, None)
                self.enrolments[known.index] = self._enrolment(job, event, known.needs or FREE)
                self.scheduler.hear_of(Submit(as_job(known)))

    def _submit(self, job: str, t: float) -> None:
        index = place_of(job, len(self.submitted))
        self.submitted[index] = t
        if not NUMBERED.fullmatch(job) and len(set(self.submitted.values())) > 1:
            raise Unreplayable(f"whether {job} is asked for before others")
        self.jobs[job] = ToldApplication(index, job, self.scheduler.system.loop)

    def _enrolment(self, job: str, bounds: BoundsDescribed, needs: Needs) -> Enrolment:
        described, size = self.described.pop(job), self.started.processors
        return Enrolment(
            tuple(_whole(it) for it in spread(described.times, size)),
            spread(bounds.bounds, size),
            *(described.tasks, self.channels, _whole(needs.program), _whole(needs.data)),
            self.belief,
        )


def enrolment(
    section: PolicySection, started: ScenarioStarted, records: Iterable[Record]
) -> EnrolmentReplay:
    """Raises Unreplayable where the log does not tell what is believed."""
    chains: ChainsBelieved | None = None
    for record in records:
        if isinstance(record.event, ChainsBelieved):
            chains = record.event
        elif isinstance(record.event, TasksDescribed) and chains is not None:
            rows = spread(chains.chains, started.processors)
            belief = Belief(map(MarkovChain, rows), section.expectation)
            return EnrolmentReplay(section, started, belief, record.event.tasks)
    raise Unreplayable("what is believed of workers' availability (the chain P_q)")


def _whole(time: float) -> int:
    """In slots, where policies count in them; whatever it is otherwise."""
    return int(time) if time == int(time) else time  # type: ignore[return-value]


def _told(withdrawn: Sequence[str], choices: Sequence[Choice]) -> str:
    ends = [f"withdraw {name}" for name in withdrawn]
    starts = [
        f"enrol {name} ({reason}) on {' '.join(f'{q}:{tasks}' for q, tasks in members)}"
        for name, members, reason in choices
    ]
    return ", ".join((*ends, *starts)) or "do nothing"
