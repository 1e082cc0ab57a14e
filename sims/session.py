"""Simulations from a program: a scenario file, table or object in, a result out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any

from actors.runtime import Record
from policies.interface import ServiceOrder
from sims.errors import InputError, naming
from sims.given import FaultLaw, with_given
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.report import Report
from sims.result import Result, not_kept
from sims.scenario.idle import warn_of_idle
from sims.scenario.loader import Scenario, files_of, parse, put, read
from sims.world import run as simulate
from sims.writing import refuse_inputs

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
        writer = None if log is None else LogWriter(Path(log))
        if writer is not None:
            own = [file] if file else []
            refuse_inputs(writer.path, "log", *own, *files_of(scenario, where))
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
