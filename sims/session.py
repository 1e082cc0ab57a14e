"""Simulations from a program: a scenario file, table or object in, a result out; or what the
scenario means, without running it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any, Protocol

import attrs
from attrs import field, frozen
from numpy.random import Generator
from pydantic import SkipValidation

from actors.decisions import BadDecision
from actors.hazards import Faults
from actors.runtime import ActorFailed, Record, Sink, System
from policies.interface import BatchPolicy, ServiceOrder
from sims.errors import InputError, naming
from sims.log import LogFile, LogWriter
from sims.report import Report
from sims.result import Result, not_kept
from sims.scenario.build import populate
from sims.scenario.faults import FaultFields, OwnFaults, SeveralFaults
from sims.scenario.idle import idle, warn_of_idle
from sims.scenario.loader import Scenario, files_of, parse, put, read
from sims.scenario.master import MasterSection
from sims.scenario.platform import Platform
from sims.scenario.policies import with_objects
from sims.scenario.strangers import code_of, without_code
from sims.telling import counted
from sims.world import run as simulate
from sims.writing import refuse_inputs

Source = str | Path | Mapping[str, Any] | Scenario
"""A file, its table as Python has it, or the scenario itself."""


class FaultLaw(Protocol):
    """What strikes workers: `[faults]` as an object, such as those of `sims.scenario.faults`."""

    @property
    def downtime(self) -> float:
        """How long a fault keeps a worker DOWN."""

    @property
    def mtbf(self) -> float:
        """Mean time between the faults of one worker, `inf` where nobody knows: what Young's and
        Daly's periods are worked out from."""

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault, in order of time."""


def load(
    source: Source,
    changes: Mapping[str, Any] | None = None,
    seed: int | None = None,
    folder: Path | None = None,
) -> Scenario:
    """The scenario that `source` is or holds; `changes`: dotted key -> value, as `--set` has them;
    a log that it replays is sought in `folder`, by default that of the file.

    Raises InputError, naming file, key, value and what would be accepted.
    """
    if isinstance(source, Scenario):
        if changes:
            problem = "a scenario that is built has no keys"
            raise InputError("call", "changes", problem, "scenario.model_copy(update={...})")
        return source if seed is None else source.model_copy(update={"seed": seed})
    table = deepcopy(dict(source)) if isinstance(source, Mapping) else parse(Path(source))
    for key, value in (changes or {}).items():
        put(table, key, value, "changes")
    if seed is not None:
        table["seed"] = seed
    name = "scenario" if isinstance(source, Mapping) else str(source)
    return read(table, name, folder or folder_of(source))


def run(
    source: Source,
    changes: Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    until: float | None = None,
    log: str | Path | None = None,
    keep: bool = True,
    debug: bool = False,
    folder: str | Path | None = None,
    policy: Any = None,
    order: Any = None,
    allocation: Any = None,
    hazard: FaultLaw | None = None,
    service: ServiceOrder | None = None,
) -> Result:
    """Simulate `source` to its end, or `until` a time in its unit.

    Its events go to `log`, or are kept in memory, or (with `keep=False`) nowhere: then only its
    numbers are known. Files that it names are sought in `folder`: by default that of the file,
    or the current one. `policy`, `order` and `allocation` take the place of what `[policy]` names,
    `hazard` that of `[faults]`, `service` that of `master.order`. Works where an event loop is
    running, too, as in a notebook.

    Raises InputError for what cannot be run, BadDecision for what a policy may not do, and what
    the runtime raises (ActorFailed, Deadlock); TypeError, naming the argument, for another object.
    """
    where = Path(folder) if folder is not None else folder_of(source)
    objects = (policy, order, allocation, hazard, service)
    scenario = with_given(load(source, changes, seed, where), *objects)
    with naming(Path(source)) if isinstance(source, str | Path) else nullcontext():
        warn_of_idle(scenario)
        writer = None if log is None else LogWriter(Path(log))
        if writer is not None:
            own = [Path(source)] if isinstance(source, str | Path) else []
            refuse_inputs(writer.path, "log", *own, *files_of(scenario, where))
        return _run(scenario, where, until, writer, keep, debug)


def with_given(
    scenario: Scenario,
    policy: Any = None,
    order: Any = None,
    allocation: Any = None,
    hazard: FaultLaw | None = None,
    service: ServiceOrder | None = None,
) -> Scenario:
    """The scenario with these objects, where they are not None. Raises TypeError, naming the
    argument."""
    for name, it in {
        "policy": policy,
        "order": order,
        "hazard": hazard,
        "service": service,
    }.items():
        if isinstance(it, type):
            raise TypeError(f"{name}: {it.__name__} is a class; accepted: an object, as it makes")
    scenario = with_policies(scenario, policy, order, allocation)
    if hazard is not None:
        if not all(hasattr(hazard, it) for it in ("faults", "downtime", "mtbf")):
            raise TypeError(f"hazard: {hazard!r} lacks faults(rng, workers), downtime or mtbf")
        if not isinstance(hazard, FaultFields | SeveralFaults):
            hazard = OwnFaults.model_construct(given=hazard, downtime=hazard.downtime)
        scenario = scenario.model_copy(update={"faults": hazard})
    return scenario if service is None else _served(scenario, service)


class _Served(MasterSection):
    """`[master]` whose order of service is a program's own."""

    order_given: SkipValidation[ServiceOrder]

    @property
    def served(self) -> str:
        """See MasterSection."""
        kind = type(self.order_given)
        return f"{kind.__module__}:{kind.__qualname__}"

    def service(self, platform: Platform, cap: float) -> ServiceOrder:
        """See MasterSection."""
        return self.order_given


def _served(scenario: Scenario, order: ServiceOrder) -> Scenario:
    if scenario.master is None:
        problem = "there is no master to serve anybody"
        raise InputError("call", "service", problem, "a scenario with a [master]")
    served = _Served(**dict(scenario.master), order_given=order)
    return scenario.model_copy(update={"master": served})


def folder_of(source: Source) -> Path:
    """Where a source's files are sought."""
    return Path(source).parent if isinstance(source, str | Path) else Path()


def with_policies(scenario: Scenario, policy: Any, order: Any, allocation: Any) -> Scenario:
    """The scenario with these objects in its `[policy]`, where they are not None."""
    if policy is not None and not (callable(policy) or isinstance(policy, BatchPolicy)):
        raise TypeError(
            f"policy: {policy!r} is none; accepted: a function, or an object of a policy"
        )
    given = {"name": policy, "order": order, "allocation": allocation}
    if isinstance(policy, BatchPolicy):
        given = {"name": policy.strategy, "order": policy.order, "allocation": policy.allocation}
    objects = {key: it for key, it in given.items() if it is not None}
    if not objects:
        return scenario
    return scenario.model_copy(update={"policy": with_objects(scenario.policy, objects)})


def _run(
    scenario: Scenario,
    folder: Path,
    until: float | None,
    log: LogWriter | None,
    keep: bool,
    debug: bool,
) -> Result:
    records: list[Record] = []
    report = Report()
    sink: Sink = log or (records.append if keep else report)
    with log or nullcontext():
        try:
            simulate(scenario, [sink], folder, debug, until)
        except ActorFailed as failed:
            if not isinstance(failed.error, BadDecision):
                raise
            # One line that names the policy, and not how an actor came to ask it.
            raise failed.error from None
    if log is not None:
        return _logged(scenario, log)
    if keep:
        return Result(lambda: records, None, scenario)
    report.close()
    return Result(not_kept, None, scenario, report)


def _logged(scenario: Scenario, log: LogWriter) -> Result:
    if log.note is not None:
        warnings.warn(log.note, stacklevel=4)
    return Result(lambda: LogFile(log.path), log.path, scenario)


# --- looked at without running it ---------------------------------------------------------------


@frozen
class Checked:
    """A scenario that can be run."""

    scenario: Scenario
    jobs: int
    code: Mapping[str, str] = field(factory=dict)
    """What it names of its user's: key -> `package.module:Name`."""
    loaded: bool = False
    """Whether that was loaded."""

    @property
    def understood(self) -> str:
        """The same scenario as a file that leaves nothing out."""
        return as_toml(self.scenario)

    def lines(self) -> list[str]:
        """For people."""
        it = self.scenario
        who = f"{counted(it.full_platform.size, 'worker')}, {' and '.join(it.kinds)} jobs"
        decided = f"{it.policy_name} decides ({it.decider.value})"
        told = [f"{it.name}: {who}; {decided}", f"  jobs        {self.jobs:,}"]
        how = "loaded" if self.loaded else "not loaded: it is where it is sought"
        told += [f"  code        {key} = {name} ({how})" for key, name in self.code.items()]
        told += [f"No effect: {key}: {why}." for key, why in idle(it)]
        return [*told, "", *self.understood.splitlines()]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


def check(
    source: Source, changes: dict[str, Any] | None = None, *, load_code: bool = False
) -> Checked:
    """Look at all of a scenario but its running: files that it names included. Code that it names
    has to be there; `load_code`: to be what it is used as, too.

    Raises InputError as a run would, before its first event.
    """
    scenario, folder = load(source, changes), folder_of(source)
    try:
        code = code_of(scenario)
        bare = scenario if load_code else without_code(scenario, folder)
        jobs = populate(bare, System(scenario.seed, start=0), folder)
        return Checked(scenario, jobs, code, load_code)
    except InputError as error:
        named = isinstance(source, str | Path) and error.source == "scenario"
        raise (attrs.evolve(error, source=str(source)) if named else error) from None


# --- as TOML --------------------------------------------------------------------------------------


def as_toml(scenario: Scenario) -> str:
    """All that it says, defaults included; keys that are unset are left out."""
    table = scenario.model_dump(mode="json", exclude_none=True, warnings=False)
    heads = [f"{key} = {_inline(it)}" for key, it in table.items() if not _is_section(it)]
    sections = ("\n".join(_section(key, it)) for key, it in table.items() if _is_section(it))
    return "\n\n".join(["\n".join(heads), *sections]) + "\n"


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) or _is_list_of_tables(value)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(it, dict) for it in value)


def _section(key: str, value: Any) -> Iterator[str]:
    for table in value if isinstance(value, list) else [value]:
        yield f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
        within = {name: it for name, it in table.items() if _is_list_of_tables(it)}
        yield from (f"{name} = {_inline(it)}" for name, it in table.items() if name not in within)
        for name, tables in within.items():
            yield from ("", *_section(f"{key}.{name}", tables))


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_bare(key)} = {_inline(it)}' for key, it in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)


def _bare(key: str) -> str:
    """A key as TOML wants it."""
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)
