"""A part of a scenario is one mechanism: it says which keys its own contradict, which actors and
parts of the world they bring about, and what can be told of it before a run. `ScenarioPart` has the
questions that the builders and `holdfast check` ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from attrs import field, frozen

from actors.acts import Act
from actors.dependencies import Dependence
from actors.parts import Host, Part, SchedulerHost, SchedulerPart
from actors.parts.queue_part import QueuePart
from actors.protection import Rules
from actors.records import Records
from actors.runtime import Actor, Sink, System, VirtualTimeLoop
from actors.worker import WorkerRegistry
from policies.interface.cells import Cells
from policies.interface.queue import Allocation, BatchAllocation, BatchJob, BatchPolicy
from sims.scenario import Scenario
from sims.scenario.job_set import JobSet
from sims.scenario.jobs import AnyJob, JobSection
from sims.scenario.jobs.logs import Replay
from sims.scenario.submissions import LeftOut, Submissions, Workload

if TYPE_CHECKING:
    from sims.scenario.planned import Planned  # only `check` makes them

A = TypeVar("A", bound=Actor)
Refusal = tuple[str, str, str]
"""A dotted key that has no meaning here, why, and what to write instead."""
Advice = tuple[str, str]
"""A dotted key, and what its author should know."""
Timed = tuple[float, str]
"""A time, in the scenario's unit, and the key that sets it."""
Limit = tuple[float, str]
"""Value from which on a larger one changes nothing (0: no value changes anything), and why."""
Rule = Allocation | BatchAllocation
Making = Callable[[SchedulerHost], SchedulerPart]
MakingOfJob = Callable[[Host], Part]


@frozen
class Choice:
    """Choice among workers by the record that is kept of each."""

    records: Records | None = None
    """Records of the workers; None: none are kept."""
    measure: Callable[[int], Any] | None = None
    """Returns how bad a worker's record is; None: the choice does not use records."""
    badness: list[Any] = field(factory=list)
    """How bad each worker's record is, as it is reported to the scheduler."""


@frozen
class Site:
    """A simulation whose actors are being made, as far as a part builds on it."""

    scenario: Scenario
    system: System
    workers: WorkerRegistry
    choice: Choice
    jobs: Workload | None
    """All jobs of the run; None: each is made as it arrives."""
    submits: Mapping[str, str]
    """Maps the name of each job that an actor of the user's submits to that actor's name."""
    refused: Mapping[Act, str]
    """Maps what actors of the user's cannot do here to the reason."""
    ignores: bool
    """Whether a pack decides that ignores some faults."""


@frozen
class Made:
    """The actors that parts have made so far."""

    actors: tuple[Actor, ...] = ()

    def of(self, kind: type[A]) -> A | None:
        """Return the actor of this class; None if there is none."""
        return next((it for it in self.actors if isinstance(it, kind)), None)


@frozen
class Division:
    """How the workers of a platform are divided among the jobs of a queue."""

    cells: Cells | None = None
    """Sets of workers that are alike for a plan of starts; None where all are."""
    sizes: tuple[int, ...] = ()
    """Largest number of processors of a job of each partition; empty: there are none."""
    tiers: tuple[int, ...] = ()
    """Tier of each partition; empty if all have the same."""


class ScenarioPart:
    """Base class of the mechanisms of a scenario, such as repair. Code that reads, builds or checks
    a scenario asks all of them, in the order of `PARTS`, and knows none by name. A part answers
    those questions that its mechanism is about; the answers here are those of a mechanism that a
    scenario does not have."""

    unplayable: ClassVar[str] = ""
    """Name of the mechanism in the message of `holdfast live` that lists what it does not carry
    out; empty: the message does not name it."""

    # --- what has no meaning --------------------------------------------------------------------

    def check(self, scenario: Scenario) -> None:
        """Raise InputError where the mechanism's keys contradict others."""

    def of_queues(self, scenario: Scenario) -> Iterator[Refusal]:
        """Yield each key that is set and has a meaning only where a queue decides."""
        yield from ()

    def check_queue(self, scenario: Scenario, jobs: Workload, policy: BatchPolicy) -> None:
        """Raise InputError where the mechanism cannot stand beside this policy of a queue, or these
        jobs."""

    def simulated(self, scenario: Scenario) -> Iterator[str]:
        """Yield each key that the scenario sets and that real processes do not carry out."""
        yield from ()

    def check_ignored(self, scenario: Scenario) -> None:
        """Raise InputError where the mechanism cannot stand beside a pack that ignores faults."""

    def disturbs(self, scenario: Scenario) -> Iterator[str]:
        """Yield the keys by which the mechanism can disturb runs, other than by changes of speed,
        as far as the scenario's builders do not know them."""
        yield from ()

    def acts_refused(self, scenario: Scenario, ignored: bool) -> Mapping[Act, str]:
        """Map what actors of the user's cannot do here, because of the mechanism, to the reason.
        `ignored`: a pack ignores some faults."""
        return {}

    def of_queue(self, scenario: Scenario, policy: BatchPolicy) -> Iterator[QueuePart]:
        """Yield the parts of the queue that follow from the scenario."""
        yield from ()

    def allotting(self, scenario: Scenario, rule: Rule, all_ask: bool) -> Rule:
        """Return the rule by which jobs get their numbers of processors, as the mechanism has it.
        `all_ask`: each job requests a number.

        Raises InputError where the rule cannot be had.
        """
        return rule

    # --- code that a file names -----------------------------------------------------------------

    def code(self, scenario: Scenario) -> Mapping[str, str]:
        """Map each dotted key of the mechanism that names code, perhaps of a user's, to its
        value."""
        return {}

    def without_code(self, scenario: Scenario) -> Mapping[str, Any]:
        """Map each key of the scenario under which the mechanism may name code of a user's to a
        value without such code."""
        return {}

    # --- jobs -----------------------------------------------------------------------------------

    def asked(self, job: BatchJob, section: JobSection, own: AnyJob | None) -> BatchJob:
        """Return the job with what its section, or its entry `own`, asks of the mechanism."""
        return job

    def held_ready(self, own: AnyJob) -> int:
        """Return the number of workers that each copy of a listed job may hold besides its
        members."""
        return 0

    def named(self, scenario: Scenario, log: Replay) -> Mapping[str, str]:
        """Map the names of a log's jobs to what it says of them for this mechanism; empty where
        that does not matter."""
        return {}

    def fitting(
        self,
        scenario: Scenario,
        jobs: JobSet,
        names: Mapping[str, str],
        listed: Mapping[int, AnyJob],
    ) -> tuple[JobSet, LeftOut]:
        """Return the jobs that the mechanism lets take part, and the counts of the others. `names`
        maps jobs of a log to what it says of them (`named`); `listed` has the scenario's own
        entries, by index.

        Raises InputError where a listed job cannot take part.
        """
        return jobs, ()

    def waits(
        self, fitting: Submissions, names: Sequence[str], log: Replay
    ) -> tuple[Mapping[int, Dependence], LeftOut]:
        """Return what jobs wait for, by index, for those of the jobs `fitting` that have no time of
        submission; and the counts of the jobs that do not wait for all that they name. `names` are
        those of all jobs, and `log` is the log that they come from.

        Raises InputError where a listed job would wait for ever.
        """
        return {}, ()

    def tell(self, jobs: Workload, system: System) -> None:
        """Describe in the log what the mechanism makes of the jobs."""

    def submits(self, scenario: Scenario, jobs: Workload | None) -> dict[str, str]:
        """Map the name of each job that an actor of the user's submits to that actor's name. `jobs`
        is None where each job is made as it arrives.

        Raises InputError where a job cannot be left to it.
        """
        return {}

    # --- the log's head -------------------------------------------------------------------------

    def introduce(self, scenario: Scenario, system: System, submits: Mapping[str, str]) -> None:
        """Describe in the log who takes part besides the scheduler and its workers."""

    def describe(self, scenario: Scenario, system: System) -> None:
        """Describe in the log what the mechanism makes of the platform."""

    def divides(self, scenario: Scenario) -> Division | None:
        """Return how the mechanism divides the workers among the jobs of a queue; None: it does
        not."""
        return None

    def numbers(self, scenario: Scenario) -> bool:
        """Return whether starts depend on which workers are free, not only on how many."""
        return False

    def sinks(self, scenario: Scenario, loop: VirtualTimeLoop) -> Iterator[Sink]:
        """Yield the sinks of the mechanism, which get the events of a run, on its loop, as they are
        recorded."""
        yield from ()

    # --- actors, and parts of actors ------------------------------------------------------------

    def records(self, scenario: Scenario) -> Records | None:
        """Return the records that the mechanism keeps of workers, for a simulation that begins;
        None if it keeps none."""
        return None

    def before(self, site: Site) -> Iterator[Actor]:
        """Make the mechanism's actors that the scheduler, or a hazard, addresses."""
        yield from ()

    def hears_faults(self, scenario: Scenario, made: Made) -> Actor | None:
        """Return the actor that decides what becomes of the units which faults strike; None: they
        have a downtime."""
        return None

    def hears_computing(self, scenario: Scenario, made: Made) -> Actor | None:
        """Return the mechanism's actor that is told when runs compute; None: there is none."""
        return None

    def of_scheduler(self, site: Site, made: Made) -> Iterator[Making]:
        """Yield makers of the scheduler's parts that follow from the scenario."""
        yield from ()

    def after(self, site: Site) -> Iterator[Actor]:
        """Make the mechanism's other actors, before those of the jobs."""
        yield from ()

    def submitters(self, site: Site, made: Made) -> Mapping[int, Actor]:
        """Map the index of each job that does not come at a time of its own to the actor that
        submits it."""
        return {}

    def awaiting(self, site: Site, made: Made) -> Mapping[int, Actor]:
        """Map the index of each job for whose end an actor waits to that actor."""
        return {}

    def of_job(self, scenario: Scenario, rules: Rules, made: Made) -> Iterator[MakingOfJob]:
        """Yield makers of the parts, which follow from the scenario, of a job whose protection has
        these rules."""
        yield from ()

    def kind_of_own(self, actor: Actor | None) -> str:
        """Return what an actor of the user's own is, such as an agent, if it is one of the
        mechanism's; else an empty text. Its errors concern the user."""
        return ""

    def last(self, scenario: Scenario, system: System) -> None:
        """Make the actors that come after all others."""

    # --- what `check` tells ---------------------------------------------------------------------

    def lengths(self, scenario: Scenario) -> Iterator[Timed]:
        """Yield each duration of parts of runs, and of workers' absences, that the mechanism's keys
        set."""
        yield from ()

    def each_run(self, section: JobSection, own: AnyJob | None) -> Iterator[Timed]:
        """Yield the time that every run of a job spends, whatever it continues from, with the key
        that sets it for all jobs. `own` is the job's entry if it is listed."""
        yield from ()

    def conditions(self, scenario: Scenario) -> Iterator[str]:
        """Yield the assumptions of the scenario that a comparison of its runs has to state."""
        yield from ()

    def lines(self, scenario: Scenario, submissions: Submissions) -> Iterator[str]:
        """Yield lines on the mechanism, where no pack decides."""
        yield from ()

    def assumed(self, job: BatchJob) -> Iterator[str]:
        """Yield the assumptions of the formulas for periods that do not hold for a job with the
        mechanism."""
        yield from ()

    def load_lines(
        self, scenario: Scenario, submissions: Submissions, planned: Iterable[Planned]
    ) -> Iterator[str]:
        """Yield lines on how busy the checkpoints of `planned` jobs keep the mechanism."""
        yield from ()

    def idle(self, scenario: Scenario) -> Iterator[Advice]:
        """Yield each setting that has no effect, though its author may think that it has one."""
        yield from ()

    def warnings(self, scenario: Scenario) -> Iterator[Advice]:
        """Yield each setting whose effect may differ from what its author thinks."""
        yield from ()

    def saturation(self, scenario: Scenario, key: str, held: int | None) -> Limit | None:
        """Return from which value of a dotted key on a larger one changes nothing in the scenario,
        and why; None where the scenario does not show it. `held` is the number of workers that all
        jobs hold at once at most; None: it is not known."""
        return None
