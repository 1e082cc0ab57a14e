"""Simulations from a Python program: a scenario as a file, table or object is run and gives a
result, or is only checked, without running any code that it names."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
from attrs import field, frozen

from actors.events import DeciderKind
from actors.runtime import Record, System
from policies.interface import ServiceOrder
from sims.errors import InputError, naming
from sims.history.summary import Summary
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.metrics.report import Report
from sims.result import Result, not_kept
from sims.scenario import Scenario
from sims.scenario.advice import idle, warn_of_idle, warnings_of
from sims.scenario.builders import Populated, populate
from sims.scenario.deciders import DECIDERS
from sims.scenario.expectations import area_of, fault_lines
from sims.scenario.faults import ExponentialFaults, FaultLaw, NamedFaults, SeveralFaults
from sims.scenario.loader import as_toml, files_of, parse, read
from sims.scenario.outlook import outlook
from sims.scenario.own_code import located
from sims.scenario.parts import PARTS
from sims.scenario.submissions import work_end
from sims.scenario.tables import put_all
from sims.scenario.workers import ConstantLaw, OwnLaw, WorkerFields
from sims.telling import counted
from sims.world import run as simulate
from sims.world import with_given
from sims.writing import refuse_inputs

if TYPE_CHECKING:
    from actors.agents.agent import Agent

CODE_KEYS = ("name", "order", "allocation", "placement")
"""Keys of `[policy]` that may name code."""

Workers = TypeVar("Workers", bound=WorkerFields)

Source = str | Path | Mapping[str, Any] | Scenario
"""A scenario: its file, its table as Python has it, or the object itself."""


def load(
    source: Source,
    changes: Mapping[str, Any] | None = None,
    seed: int | None = None,
    folder: Path | None = None,
) -> Scenario:
    """Return the scenario that `source` is (a built one), holds (a table) or names (the path of its
    file).

    `changes` maps dotted keys to the values that they get, as `--set` does, and `seed` replaces the
    scenario's. A log that the scenario replays is looked for in `folder`, by default that of the
    file.

    Raises InputError, naming file, key, value and what would be accepted; also for changes of a
    scenario that has a program's objects.
    """
    if isinstance(source, Scenario):
        scenario = source.with_(changes) if changes else source
        return scenario if seed is None else scenario.model_copy(update={"seed": seed})
    table = deepcopy(dict(source)) if isinstance(source, Mapping) else parse(Path(source))
    put_all(table, changes or {})
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
    messages: bool = False,
    folder: str | Path | None = None,
    policy: Any = None,
    order: Any = None,
    allocation: Any = None,
    hazard: FaultLaw | None = None,
    service: ServiceOrder | None = None,
    actors: Sequence[Agent] = (),
) -> Result:
    """Simulate `source` to its end, or `until` a time in its unit, and return the result.

    `changes` maps dotted keys to the values that they get, and `seed` replaces the scenario's. The
    run's events, with `debug` also those for debugging, go to `log`, or are kept in memory, or
    (with `keep=False`) are not kept, so that only the run's numbers are known. `messages` adds the
    messages between actors to what is kept. Files that the scenario names are looked for in
    `folder`: by default that of the file, or the current one. `policy`, `order` and `allocation`
    replace what `[policy]` names, `hazard` replaces `[faults]`, and `service` replaces
    `master.order`. `actors` are agents that live in the world, beside those that the scenario
    names; each object in one run only. The function also works where an event loop is running, as
    in a notebook.

    Raises InputError where the scenario cannot be run, BadDecision for a policy's invalid answer,
    and what the runtime raises (ActorFailed, Deadlock); TypeError, naming the argument, for an
    object that cannot be used.
    """
    file = Path(source) if isinstance(source, str | Path) else None
    where = Path(folder) if folder is not None else folder_of(source)
    objects = (policy, order, allocation, hazard, service, actors)
    scenario = with_given(load(source, changes, seed, where), *objects)
    report, records = Report(), list[Record]()
    with naming(file) if file else nullcontext():
        warn_of_idle(scenario)
        if log is not None:
            own = [file] if file else []
            refuse_inputs(Path(log), "log", *own, *files_of(scenario, where))
        writer = None if log is None else LogWriter(Path(log))
        with writer or nullcontext():
            sink = writer or (records.append if keep else report)
            kept = messages and (writer is not None or keep)
            sinks, both = ([], sink) if kept else ([sink], None)
            simulate(scenario, sinks, where, debug, until, messages=both)
    if writer is not None:
        if writer.note is not None:
            warnings.warn(writer.note, stacklevel=2)
        return Result(lambda: LogFile(writer.path), writer.path, scenario)
    if keep:
        return Result(lambda: records, None, scenario)
    report.close()
    return Result(not_kept, None, scenario, report)


def folder_of(source: Source) -> Path:
    """Return the folder in which a source's files are looked for: that of its file, or the current
    one where the source is no path."""
    return Path(source).parent if isinstance(source, str | Path) else Path()


# --- checking -----------------------------------------------------------------------------------


@frozen
class Checked:
    """A scenario that has been checked and can be run, with what the check found."""

    scenario: Scenario
    jobs: int
    code: Mapping[str, str] = field(factory=dict)
    """User's code that the scenario names: maps a key to `package.module:Name`."""
    loaded: bool = False
    """Whether that code was loaded."""
    left_out: Mapping[str, int] = field(factory=dict)
    """Number of jobs of a workload left out for each reason."""
    changed: Mapping[str, int] = field(factory=dict)
    """Number of jobs of a workload changed before the run, for each kind of change."""
    outlook: tuple[str, ...] = ()
    """Lines on the numbers of faults, checkpoints and messages to expect."""
    doubts: tuple[str, ...] = ()
    """Signs that the log of jobs, or what is said of its machine, is not what it seems."""

    @property
    def understood(self) -> str:
        """Text of a file that sets every key of the scenario."""
        return as_toml(self.scenario)

    def lines(self) -> list[str]:
        """Return the result of the check as lines for people."""
        it = self.scenario
        platform = f"{counted(it.full_platform.size, 'worker')}, {' and '.join(it.kinds)} jobs"
        decided = f"{it.policy_name} decides ({it.decider.value})"
        lines = [f"{it.name}: {platform}; {decided}", f"  jobs        {self.jobs:,}"]
        how = "loaded" if self.loaded else "not loaded: it is where it is sought"
        lines += [f"  code        {key} = {name} ({how})" for key, name in self.code.items()]
        lines += [f"  left out    {jobs:,}: {why}" for why, jobs in self.left_out.items()]
        lines += [f"  changed     {jobs:,}: {how}" for how, jobs in self.changed.items()]
        lines += [f"  doubtful    {doubt}" for doubt in self.doubts]
        lines += self.outlook
        lines += [f"No effect: {key}: {why}." for key, why in idle(it)]
        lines += [f"Warning: {key}: {what}." for key, what in warnings_of(it)]
        return [*lines, "", *self.understood.splitlines()]

    def as_json(self) -> dict[str, object]:
        """Return the numbers of jobs as data, as `--json` prints them.

        `left_out`, `changed` and `doubtful` are keys only where there is something.
        """
        parts: dict[str, object] = {
            "left_out": dict(self.left_out),
            "changed": dict(self.changed),
            "doubtful": list(self.doubts),
        }
        return {"jobs": self.jobs, **{key: counts for key, counts in parts.items() if counts}}

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


def check(
    source: Source, changes: dict[str, Any] | None = None, *, load_code: bool = False
) -> Checked:
    """Check all of a scenario but its running, with the files that it names.

    Code that the scenario names must be where it is looked for; under `load_code` it is also loaded
    and must be of the right kind. Raises InputError as a run would before its first event.
    """
    scenario, folder = load(source, changes), folder_of(source)
    try:
        code = code_of(scenario)
        bare = scenario if load_code else without_code(scenario, folder)
        summary = Summary()
        system = System(scenario.seed, [summary], start=0)
        found = populate(bare, system, folder, simulated=False)
        loaded = scenario.faults.loaded(folder) if load_code else scenario.faults
        # A law that is not loaded has another in its place, which says nothing of it.
        told = bare.model_copy(update={"faults": loaded})
        expected = tuple(_outlook(told.within(folder), found))
        details = code, load_code, summary.left_out, summary.changed, expected
        return Checked(scenario, found.jobs, *details, tuple(summary.doubts))
    except InputError as error:
        named = isinstance(source, str | Path) and error.source == "scenario"
        raise (attrs.evolve(error, source=str(source)) if named else error) from None


def _outlook(scenario: Scenario, found: Populated) -> Iterator[str]:
    """Yield lines on what a run of the scenario is expected to bring: faults, checkpoints and busy
    channels.

    `found` is what was built from the scenario. Where a policy of copies decides, which runs each
    job as often as it likes, only the lines on faults come.
    """
    if found.workload is not None:
        submissions = found.workload.submissions
        copies = scenario.decider is DeciderKind.COPIES
        if scenario.faults.laws:
            until, area = work_end(scenario, submissions), area_of(scenario, submissions)
            yield from fault_lines(scenario, until, None if copies else area)
        if not copies:
            yield from outlook(scenario, submissions)


# --- code that a scenario names -------------------------------------------------------------------


def code_of(scenario: Scenario) -> dict[str, str]:
    """Map each dotted key that names code of a user's, which a run would load, to its value
    `package.module:Name`."""
    section, pool = scenario.policy, scenario.platform
    names = {
        f"policy.{it}": getattr(section, it) for it in CODE_KEYS if section.object_at(it) is None
    }
    workers = {f"workers.{k}": it for k, it in enumerate(scenario.workers)}
    for place, one in {**({"platform": pool} if pool else {}), **workers}.items():
        if isinstance(one.speed, OwnLaw):
            names[f"{place}.speed.name"] = one.speed.name
    several = isinstance(scenario.faults, SeveralFaults)
    for k, law in enumerate(scenario.faults.laws):
        if isinstance(law, NamedFaults):
            names[f"faults.laws.{k}.name" if several else "faults.name"] = law.name
    for part in PARTS:
        names |= part.code(scenario)
    return {key: name for key, name in names.items() if name and ":" in name}


def without_code(scenario: Scenario, folder: Path) -> Scenario:
    """Return the scenario with policies and laws of Holdfast's own in place of a user's code.

    Raises InputError for code that is not where a run would load it from.
    """
    named = code_of(scenario)
    for key, name in named.items():
        located(name, folder, key)
    ours: dict[str, Any] = {it: None for it in CODE_KEYS if f"policy.{it}" in named}
    if "name" in ours:
        ours |= {"name": DECIDERS[scenario.decider].default, "parameters": {}}
    pool = scenario.platform
    return scenario.model_copy(
        update={
            "policy": scenario.policy.model_copy(update=ours | {"decider": scenario.decider}),
            "platform": pool and _steady(pool),
            "workers": tuple(map(_steady, scenario.workers)),
            "faults": _drawn(scenario.faults),
            **{key: it for part in PARTS for key, it in part.without_code(scenario).items()},
        }
    )


def _drawn(faults: Any) -> Any:
    """Return the faults with an exponential law in place of each one that a file names."""
    if isinstance(faults, SeveralFaults):
        return faults.model_copy(update={"laws": tuple(map(_drawn, faults.laws))})
    return ExponentialFaults(of=faults.of) if isinstance(faults, NamedFaults) else faults


def _steady(section: Workers) -> Workers:
    law = isinstance(section.speed, OwnLaw)
    return section.model_copy(update={"speed": ConstantLaw()}) if law else section
