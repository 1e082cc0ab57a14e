"""Puts into words what agents do, to the workers of a job's runs, and in an agent's own life."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson
from attrs import define, frozen

from actors.events import (
    AgentCancelledJob,
    AgentDescribed,
    AgentFailedWorker,
    AgentHungWorker,
    AgentReturnedWorker,
    AgentSetSpeed,
    AgentSubmittedJob,
    AgentTookWorker,
    LogReplayed,
    ScenarioStarted,
)
from actors.runtime import Event, Record
from sims.errors import visible
from sims.history.lines import skim
from sims.log import LogFile
from sims.telling import Clock, amount_of, counted, in_units, worker_of
from sims.trace import Span
from sims.trace.parts.table import ACTS_OF_MECHANISMS

OnWorker = (
    AgentTookWorker | AgentReturnedWorker | AgentFailedWorker | AgentHungWorker | AgentSetSpeed
)
SUBMITTED, REPLAYED = b'"JobSubmitted"', b'"LogReplayed"'


def submission(agent: str) -> str:
    """Return the words that say that an agent has submitted a job."""
    return f"submitted by the agent {agent}"


def cancellation(agent: str) -> str:
    """Return the words that say that an agent has cancelled a job."""
    return f"cancelled by the agent {agent}"


def act(event: Event, started: ScenarioStarted) -> str:
    """Return the words that say what an agent does, such as `takes worker 3 DOWN`."""
    match event:
        case AgentSubmittedJob(job=job):
            return f"submits {job}"
        case AgentCancelledJob(job=job):
            return f"cancels {job}"
    words = ACTS_OF_MECHANISMS.get(type(event))
    if words is not None:
        return words(event, started)
    return _act_on_worker(event, started)


def _act_on_worker(event: Event, started: ScenarioStarted) -> str:
    match event:
        case AgentTookWorker(worker=worker, state=state):
            return f"takes {worker_of(started, worker)} {state.name}"
        case AgentReturnedWorker(worker=worker):
            return f"gives {worker_of(started, worker)} back"
        case AgentFailedWorker(worker=worker, downtime=downtime):
            lasts = in_units(downtime, started.unit)
            return f"makes {worker_of(started, worker)} fail for {lasts}"
        case AgentHungWorker(worker=worker):
            return f"makes the run hang on {worker_of(started, worker)}"
        case AgentSetSpeed(worker=worker, speed=speed):
            return f"sets the speed of {worker_of(started, worker)} to {amount_of(speed)}"
    raise ValueError(f"{event!r} is no act of an agent")


@frozen
class AgentLife:
    """The life of an agent, that is, what it did and because of which event; printing it shows the
    text."""

    agent: str
    clock: Clock
    root: Span
    """Span of its life, with a child for each thing that it did."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The life as plain data."""
        return self.root.as_json() | {"agent": self.agent}

    def __str__(self) -> str:
        return "\n".join(map(visible, self.root.lines(self.clock)))

    __repr__ = __str__


@define
class _Story:
    """The life of the agent called `name`, built by calling it with the records about it."""

    name: str
    started: ScenarioStarted | None = None
    begins: float | None = None
    root: Span | None = None

    def __call__(self, record: Record) -> None:
        match record.event:
            case ScenarioStarted() as started:
                self.started = started
            case LogReplayed(begins=begins):
                self.begins = begins
            case AgentDescribed(kind=kind, jobs=jobs, hears=hears):
                heard = ", ".join(hears) or "nothing"
                about = f"{kind}; submits {counted(len(jobs), 'job')}; hears of {heard}"
                self.root = Span.of(f"{self.name}: {about}", record)
            case event if self.root is not None and self.started is not None:
                self.root.happened(act(event, self.started), record)


def find_agent(log: LogFile, name: str) -> AgentLife | None:
    """Return the life of the agent of this name; None where the log has no such agent, which its
    head shows.

    Raises InputError as LogFile does.
    """
    own, story = re.compile(rb'"agent": ?' + re.escape(orjson.dumps(name))), _Story(name)
    with log.skimmed():
        for number, line in skim(log):
            if story.root is None and SUBMITTED in line:
                return None
            record = None
            if number == 1 or own.search(line) or REPLAYED in line:
                record = log.decoded(number, line)
            if record is not None:
                story(record)
    if story.root is None or story.started is None or log.last is None:
        return None
    story.root.close(log.last.t)
    return AgentLife(name, Clock(story.started.unit, story.begins), story.root)
