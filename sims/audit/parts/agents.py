"""Checks what agents do, and derives what follows from it at the same instant (rules.md, A1 to
A3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from attrs import Factory, define

from actors.events import (
    AgentCalledReserve,
    AgentCancelledJob,
    AgentDescribed,
    AgentFailedWorker,
    AgentHungWorker,
    AgentReturnedWorker,
    AgentSetSpeed,
    AgentSubmittedJob,
    AgentTookWorker,
    FaultIgnored,
    PartitionAssigned,
    RunHung,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.runtime import Event
from policies.availability import WorkerState
from sims.audit import stages
from sims.audit.facts import ExpectedRun, HeadLine
from sims.audit.law import LinePhase, comes, follows, framed, possible, same
from sims.audit.turns import Script
from sims.audit.workers import DOWN, RECLAIMED, UP, meet
from sims.audit.world import Handler, PartRules, World

OnWorker = (
    AgentTookWorker | AgentReturnedWorker | AgentFailedWorker | AgentHungWorker | AgentSetSpeed
)
ON_WORKERS = (
    *(AgentTookWorker, AgentReturnedWorker, AgentFailedWorker),
    *(AgentHungWorker, AgentSetSpeed),
)


@define(eq=False)
class AgentRules(PartRules):
    """The rules of agents: the workers that they have, and what they have done at this instant."""

    head: ClassVar = HeadLine(AgentDescribed, after=PartitionAssigned, once=False)
    not_of_jobs: ClassVar = AgentSubmittedJob, AgentCancelledJob
    agents: dict[str, AgentDescribed] = Factory(dict)
    """Maps an agent's name to the head's line that describes it."""
    submits: dict[str, str] = Factory(dict)
    """Maps the name of each job that is left to an agent and not submitted to the agent's name."""
    own: dict[str, str] = Factory(dict)
    """Maps the name of each job that an agent has submitted to the agent's name."""
    heard: dict[str, dict[int, float]] = Factory(dict)
    """Maps the kinds of events of which agents hear to the numbers and times of those so far."""
    taken: dict[int, AgentTookWorker] = Factory(dict)
    """Maps the workers that agents have to the lines by which they took them."""
    left: dict[int, WorkerState] = Factory(dict)
    """Maps the workers that agents have given back at this instant to the states in which they had
    them."""
    acts: dict[int, tuple[OnWorker, int]] = Factory(dict)
    """Maps workers to what an agent has done to them at this instant, and the number of that
    line."""
    done: set[int] = Factory(set)
    """Numbers of those lines of which the effect has come."""
    holds: dict[int, ExpectedRun | None] = Factory(dict)
    """Maps workers that agents have hung at this instant to the run that held them then, if that
    must hang."""
    sent: dict[str, int] = Factory(dict)
    """Maps the jobs that agents have submitted at this instant, and that are still to come, to the
    numbers of those lines."""

    # --- the head -----------------------------------------------------------------------------

    def describe(self, event: Any) -> None:
        """Check the head's line on an agent, and keep it."""
        if not self.agents:
            self.w.hearers.append(self)
        framed(event.agent not in self.agents, "{} is described twice", event.agent)
        self.agents[event.agent] = event
        for job in event.jobs:
            possible(job not in self.submits, "two agents submit {}", job)
            self.submits[job] = event.agent
        for kind in event.hears:
            self.heard.setdefault(kind, {})

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {
            AgentSubmittedJob: self.submit,
            AgentCancelledJob: self.cancel,
            AgentCalledReserve: self.call,
            **dict.fromkeys(ON_WORKERS, self.act),
        }

    def hear(self, event: Event, seq: int) -> None:
        """Keep the number of a line of which an agent hears."""
        known = self.heard.get(type(event).__name__)
        if known is not None:
            known[seq] = self.w.now

    def causes(self, agent: str) -> int:
        """Return the line that leads an agent to act now: that which the log names, if the agent
        has heard of it before this instant; else the first one."""
        it: AgentDescribed = possible(self.agents.get(agent), "there is no agent {}", agent)
        cause = (self.w.line.cause if self.w.line is not None else None) or 0
        now, known = self.w.now, (self.heard[kind].get(cause) for kind in it.hears)
        heard = any(time is not None and time < now for time in known)
        return cause if heard else 0

    # --- jobs ---------------------------------------------------------------------------------

    def submit(self, _: World, event: AgentSubmittedJob) -> Script:
        """Check that an agent submits a job that is left to it."""
        whose = self.submits.pop(event.job, None)
        possible(whose == event.agent, "{} is none of its jobs, or is submitted", event.job)
        self.sent[event.job] = yield event, self.causes(event.agent)
        self.own[event.job] = event.agent

    def cancel(self, w: World, event: AgentCancelledJob) -> Script:
        """Check that an agent cancels a job that it has submitted, and expect the end of the job,
        once all that ends or changes at this instant has done so, and before runs resume."""
        whose = self.own.get(event.job)
        possible(whose == event.agent, "{} has not submitted {}", event.agent, event.job)
        seq = yield event, self.causes(event.agent)
        job = w.jobs.get(event.job)
        if job is not None:
            w.turns.push(job, LinePhase.RESUME, -1, partial(stages.cancelled, w, job, seq))

    def sends(self, job: str) -> int:
        """Return the number of the line that must cause the submission of a job: the line by which
        an agent submits it, or 0 if the job is left to no agent."""
        follows(job not in self.submits, "{} is left to {}", job, self.submits.get(job))
        return self.sent.pop(job, 0)

    def reorders(self) -> bool:
        return bool(self.agents)

    def finished(self) -> None:
        framed(not self.submits, "jobs of agents were not submitted")

    # --- workers ------------------------------------------------------------------------------

    def act(self, _: World, event: OnWorker) -> Script:
        """Check what an agent does to a worker, and keep it: its effect must come at this
        instant."""
        number = event.worker
        self.w.worker(number)
        possible(number not in self.acts, "an agent has acted on worker {} already", number)
        match event:
            case AgentTookWorker(state=state):
                possible(number not in self.taken and state is not UP, "it cannot be taken")
                self.taken[number] = event
            case AgentReturnedWorker(agent=agent):
                took = self.taken.pop(number, None)
                mine = took is not None and took.agent == agent
                self.left[number] = possible(mine and took, "{} has not taken it", agent).state
            case AgentFailedWorker(downtime=downtime):
                possible(downtime > 0 and self.w.repairs is None)
            case AgentHungWorker(detection=detection):
                possible(detection >= 0 and self.w.repairs is None)
                self.holds[number] = self._hangs(number)
            case AgentSetSpeed(speed=speed):
                possible(speed >= 0)
        seq = yield event, self.causes(event.agent)
        self.acts[number] = event, seq

    def _hangs(self, number: int) -> ExpectedRun | None:
        """Return the run that a hang of this worker stops, if it is sure that it does."""
        copy = self.w.holdings.holder(number)
        run = copy.run if copy is not None else None
        if (
            copy is None
            or run is None
            or not copy.concerns(number)
            or not self.w.holdings.is_up(number)
        ):
            return None
        return run if run.hung is None and number in copy.members else None

    def brings(self, event: Event) -> int:
        if not self.agents:
            return 0
        match event:
            case WorkerChanged():
                return self._changes(event)
            case WorkerSpeedChanged():
                return self._speeds(event)
            case RunHung():
                return self._hangs_now(event)
            case FaultIgnored():
                return self._ignored(event.worker)
        return 0

    def _changes(self, event: WorkerChanged) -> int:
        """Return the line of an agent that makes a worker change its state now, unless a fault, a
        repair or a call does; 0 if no agent does. Raises Broken where an agent keeps the worker in
        another state."""
        took = self.taken.get(event.worker)
        kept = took is None or event.state is DOWN or event.state is took.state
        possible(kept, "{} keeps it", took and took.agent)
        act, seq = self.acts.get(event.worker, (None, 0))
        match act:
            case AgentTookWorker(state=state):
                return seq if event.state is state else 0
            case AgentReturnedWorker():
                return seq if event.state is not DOWN and self._frees(event.worker) else 0
            case AgentFailedWorker(downtime=downtime):
                struck = event.state is DOWN and event.until is not None
                longer = self.w.now + downtime
                lasts = not struck or (event.until or 0) >= longer or same(event.until, longer)
                possible(lasts, "it is DOWN until {!r} at least", longer)
                return seq if struck else 0
        return 0

    def _frees(self, number: int) -> bool:
        """Return whether a worker that an agent gives back now may leave its state because of that:
        the agent had it so, or its owner or a window, which do not say so, may end that state
        now."""
        w, one = self.w, (number, number + 1)
        ended = any(same(end, w.now) and meet(them, one) for _, end, them in w.windows)
        had = self.left[number] is w.worker(number).state
        return had or ended or w.platform.has_owner(number)

    def keeps(self, worker: int, state: WorkerState) -> bool:
        took = self.taken.get(worker)
        return took is not None and took.state is state

    def takes(self, worker: int) -> bool:
        return worker in self.taken

    def strikes(self, worker: int) -> bool:
        return isinstance(self.acts.get(worker, (None, 0))[0], AgentFailedWorker)

    def _ignored(self, worker: int) -> int:
        """Return the line of an agent whose fault of this worker is ignored now; 0 if none is."""
        act, seq = self.acts.get(worker, (None, 0))
        if not isinstance(act, AgentFailedWorker) or seq in self.done:
            return 0
        self.done.add(seq)
        return seq

    def _hangs_now(self, event: RunHung) -> int:
        """Return the line of an agent by which a run hangs now; 0 if none hangs it."""
        act, seq = self.acts.get(event.worker, (None, 0))
        if not isinstance(act, AgentHungWorker):
            return 0
        possible(same(act.detection, event.detection), "its detection takes {!r}", act.detection)
        self.done.add(seq)
        return seq

    def _speeds(self, event: WorkerSpeedChanged) -> int:
        """Return the line of an agent by which a worker changes its speed now; 0 if none does."""
        act, seq = self.acts.get(event.worker, (None, 0))
        if not isinstance(act, AgentSetSpeed):
            return 0
        possible(same(act.speed, event.speed), "its speed is {!r}", act.speed)
        self.done.add(seq)
        return seq

    def call(self, w: World, event: AgentCalledReserve) -> Script:
        """Check that an agent calls the next worker that there is to call."""
        seq = yield event, self.causes(event.agent)
        for part in w.parts[PartRules.called_for_agent]:
            part.called_for_agent(event.worker, seq)

    # --- the end of an instant ----------------------------------------------------------------

    def close(self) -> None:
        """Check, at the end of an instant, that what agents did had its effect."""
        w = self.w
        comes(not self.sent, "{} is submitted at {!r}", next(iter(self.sent), ""), w.now)
        for number, (act, seq) in self.acts.items():
            self._check_effect(number, act, seq)
        self.acts.clear()
        self.left.clear()
        self.done.clear()
        self.holds.clear()

    def _check_effect(self, number: int, act: OnWorker, seq: int) -> None:
        worker = self.w.worker(number)
        match act:
            case AgentTookWorker(state=state):
                there = worker.state is DOWN or worker.state is state
                comes(there, "worker {} is {}", number, state.name)
            case AgentReturnedWorker():
                free = worker.state is not RECLAIMED or self.w.platform.has_owner(number)
                comes(free or self.w.kept(number, RECLAIMED), "worker {} is UP", number)
            case AgentFailedWorker():
                ignored = seq in self.done
                comes(ignored or worker.state is DOWN, "worker {} is DOWN", number)
            case AgentSetSpeed():
                comes(seq in self.done, "worker {} changes its speed", number)
            case AgentHungWorker():
                run = self.holds.get(number)
                free = run is None or run.over or worker.state is not UP or run.hung is not None
                comes(free or seq in self.done, "its run hangs")
