"""Runs a simulation from its scenario, and from objects that a program gives in its place, to its
end; every run passes through `run`."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from attrs import frozen
from pydantic import SkipValidation

from actors.decisions import BadDecision, raised
from actors.events import SCHEMA, End, ScenarioEnded, ScenarioStarted
from actors.limit import TimeLimit
from actors.runtime import Actor, ActorFailed, Sink, System, VirtualTimeLoop, WorkersRetired
from policies.interface import BatchPolicy, ServiceOrder
from sims.errors import COMMAND_LINE, FAILED, InputError
from sims.scenario import SEEDS, Scenario
from sims.scenario.builders import populate
from sims.scenario.builders.progress import limit_events
from sims.scenario.faults import FaultFields, FaultLaw, OwnFaults, SeveralFaults
from sims.scenario.inputs import inputs_of
from sims.scenario.loader import as_set
from sims.scenario.parts import PARTS
from sims.scenario.platform import MasterSection, Platform
from sims.scenario.policy import settings, with_objects
from sims.writing import unlinked

MAIN = threading.main_thread()
"""The thread to which the streams of the process belong."""

VERSION = "0.1.0"
"""Version of Holdfast, which logs name."""

Begins = Callable[[int, Callable[[], float]], None]
"""Function that is called with the number of jobs to come and with a function that returns the
virtual time."""


@runtime_checkable
class ReadsScenario(Protocol):
    """A sink that asks the scenario for what the events do not repeat. One that gets the whole log
    can read it in the first line; others get it before that line."""

    def use_scenario(self, scenario: Scenario) -> None:
        """Keep the scenario of the run that begins."""


class Live(Protocol):
    """Interface of the real processes that carry out a run under the wall clock, as `run` uses
    them."""

    loop: VirtualTimeLoop
    lateness: float | None
    """Largest delay that the log allows to a part which a real process carries out, time units;
    None where parts are measured."""

    def attach(self, system: System) -> None:
        """Connect the processes to `system`, once the log has begun and before there are actors."""


@frozen
class Ending:
    """The end of a run: how and when it ended."""

    end: End
    time: float
    """Virtual time of the end, in the scenario's unit."""
    events: int
    """Number of events in the journal, whether a sink wanted them or not."""
    drew: bool
    """Whether the run drew anything at random; else every seed gives the same run."""


def run(
    scenario: Scenario,
    sinks: Sequence[Sink] = (),
    folder: Path = Path(),
    debug: bool = False,
    until: float | None = None,
    begins: Begins | None = None,
    live: Live | None = None,
    messages: Sink | None = None,
) -> Ending:
    """Simulate `scenario` to its end, or `until` a virtual time in the scenario's unit if that
    comes first.

    `sinks` receive the run's events, with `debug` also those that are written only for debugging.
    The scenario's files are looked for in `folder`. `begins` is called once, when all is set up and
    before virtual time advances. `live` gives real processes that carry out the decisions; without
    it all is simulated. `messages` receives the events with the messages between actors among them,
    numbered as one log.

    Raises InputError where the scenario cannot be run, BadDecision for a policy's invalid answer,
    and what the runtime raises (ActorFailed, Deadlock).
    """
    with _kept():
        return _run(scenario, sinks, folder, debug, until, begins, live, messages)


@contextmanager
def _kept() -> Iterator[None]:
    """Return a context in which the user's code can take neither the process nor its streams.

    A copy of the process that the code has made (`os.fork`) ends with the context: only the process
    that began a run tells of it. Streams that the code has replaced are put back, with a warning.
    """
    began, streams = os.getpid(), (sys.stdout, sys.stderr)
    try:
        yield
    finally:
        if os.getpid() != began:
            os._exit(FAILED)
        if (sys.stdout, sys.stderr) != streams and threading.current_thread() is MAIN:
            sys.stdout, sys.stderr = streams
            warnings.warn("code of the run's replaced sys.stdout or sys.stderr", stacklevel=4)


def _run(
    scenario: Scenario,
    sinks: Sequence[Sink],
    folder: Path,
    debug: bool,
    until: float | None,
    begins: Begins | None,
    live: Live | None,
    messages: Sink | None,
) -> Ending:
    loop, late = (live.loop, live.lateness) if live is not None else (VirtualTimeLoop(0), None)
    scenario = scenario.for_run(folder)
    sinks = (*sinks, *(it for part in PARTS for it in part.sinks(scenario, loop)))
    system = _system(scenario, sinks, debug, loop, messages)
    platform, unit = scenario.full_platform, scenario.times.value
    _give(scenario, sinks)
    text, inputs = _whole(scenario, folder) if system.journal.whole else ("", ())
    system.begin(
        ScenarioStarted,
        *(SCHEMA, scenario.name, scenario.seed, scenario.kinds, scenario.policy_name),
        *(platform.size, platform.names, unit, settings(scenario.policy)),
        scenario.decider,
        VERSION,
        text,
        inputs,
        until,
        debug,
        late,
    )
    if live is not None:
        live.attach(system)
    jobs = populate(scenario, system, folder).jobs
    if until is not None:
        system.spawn(TimeLimit("--until", time_limit(until, unit)))
    else:
        limit_events(scenario, system)
    if begins is not None:
        begins(jobs, lambda: system.loop.now)
    concerns: Exception | None = None
    try:
        system.run(contained=True)
    except WorkersRetired:
        system.journal.record(system.journal.length - 1, ScenarioEnded, End.DEPLETED)
        raise
    except ActorFailed as failed:
        concerns = _of_user(failed, system)
        if concerns is None:
            raise
    if concerns is not None:
        raise concerns  # not within the handler: its error has this one as its cause
    end = system.result if isinstance(system.result, End) else End.COMPLETED
    system.journal.record(system.last, ScenarioEnded, end)
    return Ending(end, system.loop.now, system.journal.length, system.drew)


def _of_user(failed: ActorFailed, system: System) -> Exception | None:
    """Return the error that concerns the user, who need not know which actor raised it: that of a
    trace's end or a policy, and one that names an actor of the user's own; else None."""
    if isinstance(failed.error, InputError | BadDecision):
        return failed.error
    actor = system.actors.get(failed.actor)
    kind = next((it for part in PARTS if (it := part.kind_of_own(actor))), "")
    if not kind:
        return None
    named = raised(kind, actor, failed.error)
    named.__cause__ = failed.error
    return named


def _system(
    scenario: Scenario,
    sinks: Sequence[Sink],
    debug: bool,
    loop: VirtualTimeLoop,
    messages: Sink | None,
) -> System:
    """Return the system in which the scenario's actors live; see `run`."""
    if messages is None:
        return System(scenario.seed, sinks, debug, start=0, loop=loop)
    from actors.runtime.deliveries import Interleaved  # few runs need it

    both = Interleaved(loop, messages)
    return System(scenario.seed, (*sinks, both), debug, start=0, loop=loop, messages=both)


def _give(scenario: Scenario, sinks: Sequence[Sink]) -> None:
    """Give the scenario to those sinks that ask it for what events do not repeat."""
    for sink in sinks:
        if isinstance(sink, ReadsScenario):
            sink.use_scenario(scenario)


def _whole(scenario: Scenario, folder: Path) -> tuple[str, tuple[tuple[str, int, str], ...]]:
    """Return the scenario as the text of a file, and its inputs as a log has them.

    Both are computed only for sinks that keep whole logs: they take longer than a short run.
    """
    return as_set(scenario), tuple(it.row for it in inputs_of(scenario, folder))


def time_limit(until: float, unit: str, source: str = COMMAND_LINE, key: str = "--until") -> float:
    """Return `until` if a run whose times are in `unit` (`s` or `slot`) can end at that time.

    Raises InputError, naming the source and key of the time, if it is negative or not finite, or
    within a slot.
    """
    if not (isfinite(until) and until >= 0):
        raise InputError(source, key, f"{until!r} is no time", "a number, 0 or above")
    if unit == "slot" and until != int(until):
        raise InputError(source, key, f"{until!r} is within a slot", "a whole number")
    return until


def checked_seed(seed: int, source: str, key: str) -> int:
    """Return `seed` if a run can draw with it.

    Raises InputError, naming the source and key of the seed, if not.
    """
    if seed not in SEEDS:
        raise InputError(source, key, f"{seed} is no seed", "seeds of 0 or above, below 2**64")
    return seed


def log_path(scenario: Scenario, given: str | None) -> Path | None:
    """Return the path of a run's log: the path `given` on the command line, or else, in logs/, the
    scenario's `log` or NAME.jsonl.

    The result is None where the name is `none`, which asks for no log. Raises InputError where a
    link leads away from logs/.
    """
    asked = given or scenario.log or f"{scenario.name}.jsonl"
    if asked == "none":
        return None
    return Path(asked) if given else unlinked(Path("logs") / asked, "--log")


# --- objects that a program gives ---------------------------------------------------------------


def with_given(
    scenario: Scenario,
    policy: Any = None,
    order: Any = None,
    allocation: Any = None,
    hazard: FaultLaw | None = None,
    service: ServiceOrder | None = None,
    actors: Sequence[Actor] = (),
) -> Scenario:
    """Return the scenario with objects of a Python program in place of what its file names; None
    leaves the scenario's own.

    `policy`, `order` and `allocation` replace what the keys of `[policy]` name, `hazard` the law of
    `[faults]` and `service` the order in which the master serves workers; `actors` live in the
    world beside those that its file names. A `BatchPolicy` brings all three of `[policy]`. Raises
    TypeError, naming the argument, for an object that cannot be used, and InputError for `service`
    without a master.
    """
    arguments = {"policy": policy, "order": order, "hazard": hazard, "service": service}
    for name, it in arguments.items():
        if isinstance(it, type):
            raise TypeError(f"{name}: {it.__name__} is a class; accepted: an object, as it makes")
    changed: dict[str, Any] = {}
    if objects := _policies(policy, order, allocation):
        changed["policy"] = with_objects(scenario.policy, objects)
    if hazard is not None:
        changed["faults"] = _faults(hazard)
    if service is not None:
        changed["master"] = _with_order(scenario, service)
    found = scenario.model_copy(update=changed) if changed else scenario
    return found.joined_by(actors) if actors else found


def _policies(policy: Any, order: Any, allocation: Any) -> dict[str, Any]:
    """Return the given objects by the key of `[policy]` that each replaces: `policy` by `name`, the
    others by their own; None is left out.

    A `BatchPolicy` is divided into its three parts. Raises TypeError for any other policy that
    cannot be called.
    """
    if isinstance(policy, BatchPolicy):
        policy, order, allocation = policy.strategy, policy.order, policy.allocation
    elif policy is not None and not callable(policy):
        problem = "is none; accepted: a function, or an object of a policy"
        raise TypeError(f"policy: {policy!r} {problem}")
    given = {"name": policy, "order": order, "allocation": allocation}
    return {key: it for key, it in given.items() if it is not None}


def _faults(hazard: FaultLaw) -> Any:
    if not all(hasattr(hazard, it) for it in ("faults", "downtime", "mtbf")):
        raise TypeError(f"hazard: {hazard!r} lacks faults(rng, workers), downtime or mtbf")
    if isinstance(hazard, FaultFields | SeveralFaults):
        return hazard
    # No key is set, as by a scenario file: every law has a downtime, also beside [repair].
    return OwnFaults.model_construct(set(), given=hazard, downtime=hazard.downtime)


class _MasterWithOrder(MasterSection):
    """`[master]` with an order of service that a program gives as an object."""

    order_given: SkipValidation[ServiceOrder]

    @property
    def served(self) -> str:
        """Name of the object's class, which the log has as the order of service."""
        kind = type(self.order_given)
        return f"{kind.__module__}:{kind.__qualname__}"

    def service(self, platform: Platform, cap: float) -> ServiceOrder:
        """Return the order in which the master serves workers: the program's own object."""
        return self.order_given


def _with_order(scenario: Scenario, order: ServiceOrder) -> MasterSection:
    if scenario.master is None:
        problem = "there is no master to serve anybody"
        raise InputError("call", "service", problem, "a scenario with a [master]")
    return _MasterWithOrder(**dict(scenario.master), order_given=order)
