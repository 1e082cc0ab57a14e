"""Simulations from a program: a scenario file, table or object in, a result out; or only checked,
without running any code that it names."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

import attrs
from attrs import field, frozen

from actors.events import DeciderKind
from actors.runtime import Record, System
from policies.interface import ServiceOrder
from sims.errors import InputError, naming
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.report import Report
from sims.result import Result, not_kept
from sims.scenario import Scenario
from sims.scenario.advice import idle, warn_of_idle, warnings_of
from sims.scenario.builders import Populated, populate
from sims.scenario.expectations import fault_lines, work_end
from sims.scenario.faults import ExponentialFaults, FaultLaw, NamedFaults
from sims.scenario.loader import files_of, parse, put, read, sections, toml
from sims.scenario.own_code import located
from sims.scenario.workers import ConstantLaw, OwnLaw, WorkerFields
from sims.summary import Summary
from sims.telling import counted
from sims.world import run as simulate
from sims.world import with_given
from sims.writing import refuse_inputs

STAND_INS: Mapping[DeciderKind, str] = {
    DeciderKind.QUEUE: "R-LIST-0",
    DeciderKind.ENROLMENT: "IE",
    DeciderKind.PACK: "none",
    DeciderKind.COPIES: "SRPT+R",
}
PARTS = ("name", "order", "allocation")
"""Keys of [policy] that may name code."""

Workers = TypeVar("Workers", bound=WorkerFields)

Source = str | Path | Mapping[str, Any] | Scenario
"""A file, its table as Python has it, or the scenario itself."""


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
    file = Path(source) if isinstance(source, str | Path) else None
    where = Path(folder) if folder is not None else folder_of(source)
    objects = (policy, order, allocation, hazard, service)
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
            simulate(scenario, [sink], where, debug, until)
    if writer is not None:
        if writer.note is not None:
            warnings.warn(writer.note, stacklevel=2)
        return Result(lambda: LogFile(writer.path), writer.path, scenario)
    if keep:
        return Result(lambda: records, None, scenario)
    report.close()
    return Result(not_kept, None, scenario, report)


def folder_of(source: Source) -> Path:
    """Where a source's files are sought."""
    return Path(source).parent if isinstance(source, str | Path) else Path()


# --- checking -----------------------------------------------------------------------------------


@frozen
class Checked:
    """A scenario that can be run."""

    scenario: Scenario
    jobs: int
    code: Mapping[str, str] = field(factory=dict)
    """What it names of its user's: key -> `package.module:Name`."""
    loaded: bool = False
    """Whether that was loaded."""
    left_out: Mapping[str, int] = field(factory=dict)
    """Why jobs of a workload do not take part -> how many."""
    changed: Mapping[str, int] = field(factory=dict)
    """How jobs of a workload are changed before the run -> how many."""
    faults: tuple[str, ...] = ()
    """How many are expected, and what is to be known of their laws, in lines."""

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
        told += [f"  left out    {jobs:,}: {why}" for why, jobs in self.left_out.items()]
        told += [f"  changed     {jobs:,}: {how}" for how, jobs in self.changed.items()]
        told += self.faults
        told += [f"No effect: {key}: {why}." for key, why in idle(it)]
        told += [f"Warning: {key}: {what}." for key, what in warnings_of(it)]
        return [*told, "", *self.understood.splitlines()]

    def as_json(self) -> dict[str, object]:
        """Return the numbers of jobs as data, as `--json` prints them; those that are left out or
        changed have a key only where there are any."""
        parts = {"left_out": dict(self.left_out), "changed": dict(self.changed)}
        return {"jobs": self.jobs, **{key: told for key, told in parts.items() if told}}

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
        summary = Summary()
        system = System(scenario.seed, [summary], start=0)
        found = populate(bare, system, folder, lives=False)
        faults = tuple(_faults(bare.within(folder), found))
        about = code, load_code, summary.left_out, summary.changed, faults
        return Checked(scenario, found.jobs, *about)
    except InputError as error:
        named = isinstance(source, str | Path) and error.source == "scenario"
        raise (attrs.evolve(error, source=str(source)) if named else error) from None


def _faults(scenario: Scenario, found: Populated) -> Iterator[str]:
    """Yield what there is to say of faults; of a stream of jobs nothing, as its end is unknown."""
    if scenario.faults.laws and found.workload is not None:
        yield from fault_lines(scenario, work_end(scenario, found.workload.submissions))


# --- code that it names ---------------------------------------------------------------------------


def code_of(scenario: Scenario) -> dict[str, str]:
    """Key -> `package.module:Name`, of all that a run would load."""
    section, pool = scenario.policy, scenario.platform
    names = {f"policy.{it}": getattr(section, it) for it in PARTS if section.object_at(it) is None}
    workers = {f"workers.{k}": it for k, it in enumerate(scenario.workers)}
    for place, one in {**({"platform": pool} if pool else {}), **workers}.items():
        if isinstance(one.speed, OwnLaw):
            names[f"{place}.speed.name"] = one.speed.name
    if isinstance(scenario.faults, NamedFaults):
        names["faults.name"] = scenario.faults.name
    return {key: name for key, name in names.items() if name and ":" in name}


def without_code(scenario: Scenario, folder: Path) -> Scenario:
    """With policies and laws of ours in its place. Raises InputError for code that is not where a
    run would load it from."""
    named = code_of(scenario)
    for key, name in named.items():
        located(name, folder, key)
    ours: dict[str, Any] = {it: None for it in PARTS if f"policy.{it}" in named}
    if "name" in ours:
        ours |= {"name": STAND_INS[scenario.decider], "parameters": {}}
    pool = scenario.platform
    return scenario.model_copy(
        update={
            "policy": scenario.policy.model_copy(update=ours | {"decider": scenario.decider}),
            "platform": pool and _steady(pool),
            "workers": tuple(map(_steady, scenario.workers)),
            "faults": _drawn(scenario.faults),
        }
    )


def _drawn(faults: Any) -> Any:
    """A law of ours in place of one that a file names."""
    return ExponentialFaults(of=faults.of) if isinstance(faults, NamedFaults) else faults


def _steady(section: Workers) -> Workers:
    law = isinstance(section.speed, OwnLaw)
    return section.model_copy(update={"speed": ConstantLaw()}) if law else section


# --- as TOML --------------------------------------------------------------------------------------


def as_toml(scenario: Scenario) -> str:
    """All that it says, defaults included; keys that are unset are left out."""
    table = scenario.model_dump(mode="json", exclude_none=True, warnings=False)
    lines, last = [], ""
    for _, heading, own in sections(table):
        if heading:
            lines += [heading] if heading == last else ["", heading]
        lines += [f"{key} = {toml(it)}" for key, it in own.items()]
        last = heading
    return "\n".join(lines) + "\n"
