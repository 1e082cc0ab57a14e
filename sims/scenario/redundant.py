"""Scenarios of redundant copies with checkpoint cloning (004)."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from pathlib import Path

from attrs import field, frozen

from actors.redundant.assembly import ClusterPlan, server_name, spawn
from actors.redundant.costs import Costs
from actors.redundant.placement import PlacementRule
from actors.redundant.server import Failures
from actors.runtime import System
from policies.maths.gains import Gain
from policies.maths.speeds import Change, SpeedProcess
from policies.redundancy import named
from sims.errors import InputError
from sims.scenario.fields import not_negative, positive, probability
from sims.scenario.header import Head, Header
from sims.scenario.policies import PolicySection, load_policy
from sims.scenario.redundant_speeds import (
    ConstantSection,
    GainSection,
    ProcessGain,
    SpeedSection,
)
from sims.scenario.redundant_workload import RedundantSection, workload


class Semantics(enum.Enum):
    """What a copy's progress is."""

    SAMPLE_PATH = "sample-path"
    """What its server really delivers."""
    MEAN = "mean"
    """x g(r, t), the mean of the furthest of r copies (004, Assumption 2)."""


@frozen(kw_only=True)
class FailureSection:
    """`[servers.failures]`: servers fail, which 004 leaves out."""

    mtbf: float = field(validator=positive)
    """Mean time from the end of a downtime to the next failure, time units; exponential."""
    downtime: float = field(default=0.0, validator=not_negative)
    """Time units."""
    lost: float = field(default=0.0, validator=probability)
    """Part of what the server did since the last checkpoint that its failure undoes."""


@frozen(kw_only=True)
class ServerSection:
    """`[servers]`: the cluster (004, III)."""

    count: int = field(validator=positive)
    """M."""
    speed: SpeedSection = field(factory=ConstantSection)
    """The law of every server: `constant`, `two-point`, `two-point-slots`, `on-off`, `uniform`,
    `trace` or `own`."""
    multitasking: bool = True
    """Whether a server may run several copies at once (LAPS+R needs it)."""
    placement: PlacementRule = PlacementRule.UNIFORM
    """`uniform`: a fresh permutation at each checkpoint; `lowest`: the s-th copy on server s."""
    augmentation: float = field(default=1.0, validator=positive)
    """Multiplies all service (004, III.C)."""
    semantics: Semantics = Semantics.SAMPLE_PATH
    """`sample-path` or `mean`."""
    gain: GainSection = field(factory=ProcessGain)
    """g(r, t) under `mean`: `process`, `linear` or `frozen-two-point`."""
    failures: FailureSection | None = None
    """Whether servers fail, which 004 leaves out; default: they do not."""


@frozen(kw_only=True)
class CheckpointSection:
    """`[checkpoint]`: what a checkpoint costs; nothing in 004."""

    cost: float = field(default=0.0, validator=not_negative)
    """Time before each copy of a job with progress computes again, time units."""
    clone: float = field(default=0.0, validator=not_negative)
    """Further time where the server did not hold the job's furthest state."""


@frozen(kw_only=True)
class RedundantScenario(Head):
    """A whole scenario file with `[job] kind = "redundant"`; sizes and times in one unit."""

    servers: ServerSection
    checkpoint: CheckpointSection = field(factory=CheckpointSection)
    job: RedundantSection
    policy: PolicySection

    def header(self) -> Header:
        """What the log's first record says."""
        count = self.servers.count
        return Header(count, tuple(server_name(index) for index in range(count)), "s")


SCENARIO = RedundantScenario


def populate(scenario: RedundantScenario, system: System, folder: Path) -> None:
    """Spawn the scenario's actors in `system`; files are looked for from `folder`.

    Raises InputError for what cannot be run.
    """
    servers = scenario.servers
    mean = servers.semantics is Semantics.MEAN
    jobs = workload(scenario.job, servers.count, system, folder)
    processes = _processes(scenario, folder)
    gain = servers.gain.gain(processes[0], system.stream("gain")) if mean else None
    paths = [] if mean else _paths(processes, system)
    spawn(system, _plan(scenario, gain, folder), jobs.arrivals, jobs.count, paths)


def _plan(scenario: RedundantScenario, gain: Gain | None, folder: Path) -> ClusterPlan:
    servers, checkpoint, failures = scenario.servers, scenario.checkpoint, scenario.servers.failures
    if gain is not None:
        _refuse_with_mean(scenario)
    return ClusterPlan(
        policy=load_policy(scenario.policy, named, folder),
        servers=servers.count,
        placement=servers.placement,
        speed=servers.augmentation,
        multitasking=servers.multitasking,
        gain=gain,
        costs=Costs(checkpoint.cost, checkpoint.clone, failures.lost if failures else 0.0),
        failures=Failures(failures.mtbf, failures.downtime) if failures else None,
    )


def _refuse_with_mean(scenario: RedundantScenario) -> None:
    if scenario.servers.failures is not None:
        problem = "under mean semantics no server has a life of its own that could fail"
        raise InputError("scenario", "servers.failures", problem, "semantics = sample-path")
    if scenario.policy.name == "SRPT+R-noclone":
        problem = "g(r, t) is the furthest of copies that start from one state, by cloning"
        raise InputError("scenario", "policy.name", problem, "semantics = sample-path")


def _processes(scenario: RedundantScenario, folder: Path) -> list[SpeedProcess]:
    section, count = scenario.servers.speed, scenario.servers.count
    try:
        return [section.process(server, folder) for server in range(count)]
    except (ValueError, TypeError) as error:
        accepted = "parameters that its class takes"
        raise InputError("scenario", "servers.speed", str(error), accepted) from None


def _paths(processes: list[SpeedProcess], system: System) -> list[Iterator[Change]]:
    """One stream per server, so that all policies meet the same speeds."""
    return [
        process.path(system.stream(f"{server_name(index)}.speed"))
        for index, process in enumerate(processes)
    ]
