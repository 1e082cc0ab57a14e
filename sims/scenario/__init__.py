"""The scenario file as a whole: each section once, with one meaning for every kind of job, and the
keys that the whole file sets.

Programs import this package as `holdfast.sections`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, PrivateAttr
from pydantic_core import to_jsonable_python

from actors.acts import Act
from actors.decisions import name_of
from actors.events import DeciderKind
from policies.interface.kinds import JobKind
from sims.durations import Date, in_unit
from sims.errors import InputError, naming, unfit
from sims.scenario.agents import AgentSection, GivenAgent, agents_of, given
from sims.scenario.availability import AlwaysUp, Letters, Markov
from sims.scenario.dates import Calendar
from sims.scenario.deciders import DECIDERS
from sims.scenario.faults import (
    AnyFaults,
    CheckedLaw,
    ErrorSection,
    ExponentialFaults,
    ListedFaults,
    NoFaults,
    OwnFaults,
    Weibull,
    together,
)
from sims.scenario.jobs import (
    IterativeEntry,
    IterativeSection,
    JobSection,
    MalleableEntry,
    MalleableSection,
    MoldableJob,
    MoldableSection,
    RigidJob,
    RigidSection,
    speedups,
)
from sims.scenario.jobs import sources as stream
from sims.scenario.jobs.drawn import DrawnApplications, UniformJobs
from sims.scenario.jobs.files import UNTIL, calendar_of, time_until
from sims.scenario.jobs.sources import StreamSection, WorkloadFile
from sims.scenario.live import LiveSection
from sims.scenario.platform import LinkSection, MasterSection, Platform, StorageSection
from sims.scenario.policy import GivenPolicies, PolicySection, decider_kind
from sims.scenario.protection import ProtectionSection
from sims.scenario.repair import RepairSection, RepairStage
from sims.scenario.tables import put_all, refuse_seconds, refuse_unloggable, with_kinds
from sims.scenario.trace_files import FtaFile, SimGridFile, SpotFile
from sims.scenario.workers import PlatformSection, RandomWorkers, Span, WorkerSection
from sims.tables import Section
from sims.tables.fields import Accepts, Amount, Count, Duration, LogName, Name, Time
from sims.tables.refusals import section_of

__all__ = [
    "AgentSection",
    "AlwaysUp",
    "DrawnApplications",
    "ErrorSection",
    "ExponentialFaults",
    "FtaFile",
    "IterativeEntry",
    "IterativeSection",
    "Letters",
    "LinkSection",
    "ListedFaults",
    "MalleableEntry",
    "MalleableSection",
    "Markov",
    "MasterSection",
    "MoldableJob",
    "MoldableSection",
    "NoFaults",
    "PlatformSection",
    "PolicySection",
    "ProtectionSection",
    "RandomWorkers",
    "RepairSection",
    "RepairStage",
    "RigidJob",
    "RigidSection",
    "Scenario",
    "SimGridFile",
    "SpotFile",
    "StorageSection",
    "StreamSection",
    "UniformJobs",
    "Unit",
    "Weibull",
    "WorkerSection",
    "WorkloadFile",
    "speedups",
    "stream",
]

if TYPE_CHECKING:
    from actors.agents.agent import Agent
    from sims.blocks import Blocks

CAP = 1_000_000
"""Slots after which volatile13 counts a run as failed."""
SEEDS = range(2**64)
"""Seeds that a run can have; a log holds no larger numbers."""
HOUR = 3600.0
ORDER, OWN_LAW = "master.order", "faults.name"
OF_OBJECTS = re.compile(rf"policy\.\w+|agents\.\d+\.name|{re.escape(OWN_LAW)}|{re.escape(ORDER)}")
"""Pattern of the dotted keys in whose places a program can give objects."""

Seed = Annotated[
    int, Accepts("a whole number, 0 or above, below 2**64", {"ge": 0, "le": SEEDS[-1]})
]


class Unit(enum.Enum):
    """Units in which a scenario counts its times."""

    S = "s"
    """Seconds, as in SI."""
    SLOT = "slot"
    """Slots, whose length the user chooses."""


class ByState(Section):
    """A rate per processor, by what the processor does."""

    busy: Amount = 0
    """Rate while the processor is UP and a run holds it."""
    idle: Amount = 0
    """Rate while the processor is UP and no run holds it."""
    reclaimed: Amount = 0
    """Rate while the processor is RECLAIMED by its owner."""
    down: Amount = 0
    """Rate while the processor is DOWN."""


class MeasuresSection(Section):
    """`[measures]`: how runs are measured; their logs record it too."""

    bound: Duration = 10.0
    """Least run time for bounded slowdown, which counts shorter jobs as this long, time units;
    default: 10 s."""
    prices: ByState | None = None
    """Price of an hour of a processor in each state; default: nothing has a price, and runs have no
    cost."""
    watts: ByState | None = None
    """Power of a processor in each state, watts; default: unknown, and so is the energy."""
    hour: Duration | None = None
    """Number of time units in an hour; default: 3600 where the unit is s."""
    block: Duration | None = None
    """Length of a block, time units: where a scenario has no randomness, confidence intervals are
    over blocks of its time; default: a week where the unit is s (shorter in short logs whose
    classes of jobs are compared), otherwise there are none."""
    warm_up: Time | None = None
    """Time from the start whose jobs those intervals leave out, because the machine is still
    filling, time units; default: one block."""

    def blocks(self, unit: Unit) -> Blocks | None:
        """Return the blocks of time over which confidence intervals are computed, of the length
        `block` and from `warm_up` on. Without a `block` the length is a week where the `unit` is s;
        where it is a slot there are no blocks, and the result is None."""
        from sims.blocks import WEEK, Blocks

        length = WEEK if self.block is None and unit is Unit.S else self.block
        if length is None:
            return None
        return Blocks(length, length if self.warm_up is None else self.warm_up)

    def hours(self, unit: Unit, needed: object) -> float | None:
        """Return the number of time units in an hour: `hour`, or 3600 where the `unit` is s; None
        where it is not known.

        Raises InputError if it is not known and `needed` is true, as where prices or powers are
        set.
        """
        hour = HOUR if self.hour is None and unit is Unit.S else self.hour
        if hour is None and needed:
            problem = "missing: prices and watts are of hours, and the unit is a slot"
            raise unfit("measures.hour", problem, "slots in an hour")
        return hour

    def known_hour(self, unit: Unit) -> float | None:
        """Return the number of time units in an hour, where the unit of time is `unit`; None where
        it is not known and not needed.

        Raises InputError where prices or watts are set and it is not known.
        """
        return self.hours(unit, self.prices or self.watts)


class Scenario(Section):
    """One whole scenario file; all its times are in one unit."""

    name: Name
    """Name of the run, and by default of its log."""
    seed: Seed = 0
    """Seed of all random draws of the run."""
    log: LogName | None = None
    """Name of the log that `holdfast run` writes, a file in logs/; default: the run's name and
    .jsonl; `none`: no log is written."""
    stalled_after: Count | None = None
    """Number of events without saved or completed work after which a run ends with an error, unless
    a `job.cap`, `--until` or the end of a trace ends it; default: 1,000,000, or 1,000 for each
    worker if that is more."""
    unit: Unit | None = None
    """Unit of every time in the file; default: `slot` where an enrolment policy decides, otherwise
    `s`."""
    platform: PlatformSection | None = None
    workers: tuple[WorkerSection, ...] = ()
    random_workers: RandomWorkers | None = None
    reclaims: tuple[Span, ...] = ()
    """[from, until, worker] of each span during which an owner reclaims a worker, in addition to
    the worker's availability."""
    faults: AnyFaults = Field(default_factory=NoFaults)
    """Whether and when workers fail; default: never."""
    repair: RepairSection | None = None
    """How units that faults strike are repaired; default: a fault has a downtime instead."""
    errors: ErrorSection = Field(default_factory=ErrorSection)
    master: MasterSection | None = None
    storage: StorageSection | None = None
    link: LinkSection = Field(default_factory=LinkSection)
    job: JobSection
    """The jobs, by their kind."""
    protection: ProtectionSection = Field(default_factory=ProtectionSection)
    """Protection of the jobs that have no table of their own."""
    policy: PolicySection = Field(default_factory=PolicySection)
    agents: tuple[AgentSection, ...] = ()
    """Actors of your own that live in the world; default: none."""
    measures: MeasuresSection | None = None
    live: LiveSection = Field(default_factory=LiveSection)

    _folder: Path = PrivateAttr(Path())
    _present: tuple[Agent, ...] = PrivateAttr(())

    @property
    def folder(self) -> Path:
        """Folder in which files and code are looked for that the scenario names by a relative
        path."""
        return self._folder

    def within(self, folder: Path) -> Self:
        """Return the same scenario, whose files are looked for in `folder`."""
        copied = self if folder == self._folder else self.model_copy()
        copied._folder = folder
        return copied

    @property
    def present(self) -> tuple[Agent, ...]:
        """The agents of the run to which the scenario belongs: those that its file names, made, and
        those that a program gave."""
        return self._present

    def for_run(self, folder: Path) -> Self:
        """Return the same scenario for one run, whose files are looked for in `folder`, with its
        agents made. Raises InputError where one cannot be made."""
        there = self.within(folder)
        agents = agents_of(there.agents, there.folder)
        copied = there.model_copy() if agents or there._present else there
        copied._present = agents
        return copied

    def joined_by(self, actors: Sequence[Any]) -> Self:
        """Return the same scenario with these further agents, objects of a program. Raises
        TypeError for an object that is none."""
        return self.model_copy(update={"agents": (*self.agents, *map(given, actors))})

    @property
    def acts(self) -> frozenset[Act]:
        """Kinds of acts that the agents of the run may carry out."""
        return frozenset(act for agent in self._present for act in agent.does)

    def keys_set(self) -> dict[str, Any]:
        """Return, as a table, those keys alone that the scenario's file or an option sets."""
        table = self.model_dump(exclude_none=True, exclude_unset=True, warnings=False)
        if self.agents:
            table["agents"] = list(table["agents"])  # names of objects are put into its elements
        return table

    @property
    def objects(self) -> dict[str, str]:
        """Maps dotted keys to the names of objects that a program gave and no file can name: a
        policy, the law of faults, the order of service, an agent."""
        policy, faults, master = self.policy, self.faults, self.master
        keys = policy.given if isinstance(policy, GivenPolicies) else ()
        found = {f"policy.{key}": getattr(policy, key) for key in keys}
        if isinstance(faults, OwnFaults):
            law = faults.given
            found[OWN_LAW] = law.name if isinstance(law, CheckedLaw) else name_of(law)
        if master is not None and type(master) is not MasterSection:
            found[ORDER] = master.served
        entries = enumerate(self.agents)
        agents = {f"agents.{k}.name": it.name for k, it in entries if isinstance(it, GivenAgent)}
        return found | agents

    @classmethod
    def of_table(cls, table: Mapping[str, Any], source: str) -> Self:
        """Return the scenario of a table that a file called `source` has. Raises InputError where
        the table is no valid scenario."""
        times: list[str] = []
        refuse_unloggable(table)
        scenario = section_of(cls, with_kinds(table), source, times=times)
        if times and scenario.times is Unit.SLOT:
            refuse_seconds(table, times[0])
        return scenario

    def as_table(self) -> dict[str, Any]:
        """Return the scenario as a file's table, with those keys alone that are set."""
        own = self.model_dump(exclude_none=True, exclude_unset=True, warnings=False)
        table: dict[str, Any] = to_jsonable_python(own, inf_nan_mode="constants")
        return table

    def with_(self, changes: Mapping[str, Any]) -> Self:
        """Return the scenario with dotted keys changed to these values, such as `master.channels`
        to 3, and checked as a file is to which `--set` gives them.

        Raises InputError, naming key, value and what would be accepted; also where the scenario has
        an object of a program in place of a policy, law of faults or order of service.
        """
        if self.objects:
            problem = "the scenario has a program's objects"
            raise InputError("call", "changes", problem, "changes of a scenario without them")
        table = self.as_table()
        put_all(table, changes)
        with naming("scenario"):
            changed = self.of_table(table, "scenario").within(self._folder)
        # A law that has read its log stays the one that it is.
        lawful = any(key.partition(".")[0] == "faults" for key in changes)
        return changed if lawful else changed.model_copy(update={"faults": self.faults})

    def __copy__(self) -> Self:
        """Return a copy without cached values, because they depend on sections that the copy may
        change."""
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied

    @property
    def protections(self) -> dict[str, ProtectionSection]:
        """Maps dotted keys to the protections of the file: `protection` to the file's own, and
        `job.jobs.K.protection` to that of listed job K, for each job that has one."""
        own = {f"job.jobs.{k}.protection": it.protection for k, it in enumerate(self.job.jobs)}
        return {"protection": self.protection} | {key: it for key, it in own.items() if it}

    @cached_property
    def full_platform(self) -> Platform:
        """All workers of the scenario by number, with what their owners do to them, nodes, racks
        and windows."""
        return Platform.of(
            (self.platform or PlatformSection()).dated(self.calendar),
            *(self.workers, self.random_workers, self.reclaims),
            self.times is Unit.S,
            self.seed,
            self._folder,
            self.acts,
        )

    @cached_property
    def rents(self) -> dict[int, float]:
        """Maps the workers that have a price of their own to this price, by the hour."""
        pool = () if self.platform is None else ((self.platform.price, self.platform.workers),)
        each = (*pool, *((it.price, it.count) for it in self.workers))
        if all(price is None for price, _ in each):
            return {}
        prices = chain.from_iterable(starmap(repeat, each))
        return {worker: price for worker, price in enumerate(prices) if price is not None}

    def calendar(self, key: str) -> Calendar:
        """Return the calendar by which the date at `key` is a time of the run. Raises InputError
        where the jobs have no dates."""
        return calendar_of(self.job, self._folder, key)

    def time_until(self, until: float | None, option: str = UNTIL) -> float | None:
        """Return the time of `--until`, a date or one that may name its units, in the scenario's
        unit; None for none.

        Raises InputError for a date that the run does not have, and for units where it counts
        slots.
        """
        if isinstance(until, Date):
            return time_until(until, self.calendar(UNTIL))
        return in_unit(until, option, lambda: self.times.value)

    @cached_property
    def mtbf(self) -> float:
        """Mean time between the faults of one unit that fails as one (a worker, node or rack), by
        all laws of faults together, averaged over all units; inf if there are no faults, or their
        rate is not known."""
        count = self.full_platform.count
        return together(law.mean_of(count(law.of)) for law in self.faults.laws)

    @property
    def mean_downtime(self) -> float:
        """Mean time for which a fault keeps a worker DOWN, time units: the downtime of the law of
        faults, or, with a `[repair]`, the mean length of a repair."""
        return self.faults.mean_downtime if self.repair is None else self.repair.mean

    @cached_property
    def bare(self) -> bool:
        """Whether nothing can happen to runs but faults that are known at once: there is no master
        from which workers receive messages, no repair, no owner who takes workers away other than
        for a window, no speed other than 1, and no fault or agent hangs a worker or is detected
        late."""
        detected = not any(law.detection or law.hangs for law in self.faults.laws)
        plain = self.full_platform.only_fails and self.repair is None and Act.HANG not in self.acts
        return detected and plain and self.master is None

    @property
    def begun_by_seed(self) -> bool:
        """Whether the seed may decide something before a run begins, such as where a trace starts:
        owners are given, or users' estimates are drawn."""
        return self.full_platform.owned or self.policy.estimates.value == "noise"

    @property
    def one_sample(self) -> bool:
        """Whether the jobs, or the workers, are one sample of many: a log, what a law has drawn
        once for all runs, or a time that `measures.block` cuts into observations. Where nothing
        else is random all runs are the same, but what they show is not certain of other such
        samples."""
        drawn = getattr(self.job, "synthetic", None) or self.random_workers
        blocks = self.measures is not None and self.measures.block is not None
        return bool(drawn or getattr(self.job, "log", None) or blocks)

    @property
    def can_go_down(self) -> bool:
        """Whether any worker can go DOWN: there are faults, an agent's too, or owners."""
        failing = bool(self.faults.laws) or Act.FAIL in self.acts
        return failing or self.full_platform.owned

    @property
    def can_be_struck(self) -> bool:
        """Whether there are faults or silent errors, which strike some runs and not others."""
        return bool(self.faults.laws or self.errors.given)

    @cached_property
    def decider(self) -> DeciderKind:
        """Kind of decider: which kind of decisions the policy makes (of a queue, enrolment, a pack,
        copies or deadlines).

        `policy.decider` says it if it is set. Otherwise it is the kind that knows the policy's
        name. The jobs decide where the scenario names no policy, or a user's own, and where several
        kinds know the name.
        """
        job = self.job
        streamed = isinstance(job, RigidSection) and job.stream is not None
        due = any(it.deadline is not None for it in job.jobs)
        return decider_kind(self.policy, JobKind(job.kind), streamed, due)

    @property
    def policy_name(self) -> str:
        """Name of the policy as the log has it: that of `[policy]`, or the default of the kind of
        decider."""
        return self.policy.name or DECIDERS[self.decider].default

    @property
    def named_policy(self) -> PolicySection:
        """`[policy]` with its name set, to the default of the kind of decider where the file gives
        none."""
        return self.policy.model_copy(update={"name": self.policy_name})

    @property
    def kinds(self) -> tuple[JobKind, ...]:
        """Kinds of jobs that the scenario has, each once, in the order of JobKind."""
        job = self.job
        own: set[str] = {each.kind for each in job.jobs}
        if any(source for key, source in job.sources.items() if key != "jobs"):
            own.add(job.kind)
        return tuple(kind for kind in JobKind if kind in own)

    @property
    def times(self) -> Unit:
        """Unit of every time in the scenario: `unit`, or by default slots where an enrolment policy
        decides, else seconds."""
        default = Unit.SLOT if DECIDERS[self.decider].slotted else Unit.S
        return self.unit or default

    @property
    def cap(self) -> float:
        """Time at which the run ends even if jobs are unfinished, time units: `job.cap`, or by
        default 1,000,000 where an enrolment policy decides, else inf."""
        default = CAP if DECIDERS[self.decider].slotted else float("inf")
        return default if self.job.cap is None else self.job.cap
