"""Measures what the work of a scenario costs on real processes, and writes that as a scenario.

A live run counts its work in steps, and each of its parts takes what it takes. The calibrated
scenario has the same jobs, faults and owners, and the measured length of everything that processes
do, so that a simulation of it predicts the live run.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from math import ceil, exp, inf, log1p, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeVar

from attrs import define, field

from actors.events import Stage, TransferKind
from actors.runtime import stream
from sims.errors import unfit
from sims.history.measured import MeasuredRow
from sims.history.reader import History
from sims.live.live import downtime_of, live, playable, refuse
from sims.live.processes import Processes
from sims.live.trial import tried
from sims.log_writer import LogWriter
from sims.packing import dumps
from sims.scenario import Scenario
from sims.scenario.faults import ListedFaults, NoFaults
from sims.scenario.jobs import AnyJob, IterativeEntry, IterativeSection, RigidJob
from sims.scenario.protection import ProtectionSection
from sims.tables import Section
from sims.world import run

S = TypeVar("S", bound=Section)

REHEARSAL = 15.0
"""Seconds that a rehearsal takes, if nothing fails; a shorter scenario stays as it is."""
FAILURES = 4
"""Number of failures of a rehearsal, which show what recoveries cost."""
TRIED = 1_000
"""Largest number of steps over which the time of one is averaged."""
BYTES = 4_000_000
"""Size of the messages by which the bandwidth is measured, bytes."""
CALLS = 100
"""Number of calls over which the latency is averaged."""
KEYS = {
    Stage.CHECKPOINTING: "cost",
    Stage.RECOVERING: "recovery",
    Stage.VERIFYING: "verification",
    TransferKind.PROGRAM: "program",
    TransferKind.DATA: "data",
    TransferKind.IMAGE: "image",
    TransferKind.SAVE: "image",
}
"""Maps parts of runs, and messages, to the keys of `[protection]` and `[master]` with their
lengths."""
SPECIAL = {Stage.CHECKPOINTING: "image_cost", Stage.RECOVERING: "delay"}
"""Maps parts to such keys where a checkpoint is on its second level, and where a run is a clone."""
SIZES = "program", "data", "image"
"""Keys of `[master]`, in the order of `live.rates`."""


# --- processes alone --------------------------------------------------------------------------


async def survey(processes: Processes) -> tuple[float, list[str]]:
    """Measure what processes cost while no run is under way.

    Returns the seconds of a step with all processes at work, and lines of text with the latency of
    a call, the time of a step, the bandwidth, and how fast a death is noticed and a process
    replaced.
    """
    call, clock, size = processes.call, time.monotonic, len(processes.seats)
    begun = clock()
    for _ in range(CALLS):
        await call(0, "pid")
    lines = [f"  latency     {(clock() - begun) / CALLS:.4g} s a call"]
    state, step = (0, dumps(sha256().digest())), 0.0
    # The first steps of a process take longer: they load what the function needs.

    def trials(count: int) -> Any:
        return asyncio.gather(*(tried(processes, it, "trial", state, TRIED) for it in range(count)))

    await trials(size)
    for count in range(1, size + 1):
        found = await trials(count)
        steps, costs = [it[1] for it in found], [it[2] for it in found]
        step = fmean(steps)
        begun = clock()
        await asyncio.gather(*(call(it, "receive", bytes(BYTES)) for it in range(count)))
        bandwidth = count * BYTES / 1e6 / (clock() - begun)
        about = f"step {step:.4g} s ({min(steps):.4g} to {max(steps):.4g}), "
        about += f"state saved in {fmean(costs):.2g} s, {bandwidth:,.0f} MB/s"
        lines.append(f"  {count} at once   {about}")
    detection = await processes.detect(0)
    begun = clock()
    await call(0, "pid")
    lines.append(f"  death       missed after {detection:.2g} s")
    lines.append(f"  process     starts in {detection + clock() - begun:.2g} s")
    return step, lines


# --- a rehearsal ------------------------------------------------------------------------------


def predictable(scenario: Scenario, own: bool) -> Scenario:
    """Return the scenario if its live runs can be predicted by measured costs.

    `own` says whether all processes are on this machine. Raises InputError where a cost is not
    measured: with a fixed time for each step (`live.pace`), for other jobs than listed rigid ones
    and iterative ones, for workers or messages that differ, for periods by formula, and where
    processes share a processor; and for what `playable` refuses.
    """
    jobs, rules = scenario.job.jobs, scenario.protections.values()
    iterative = isinstance(scenario.job, IterativeSection)
    listed = bool(jobs) and all(isinstance(it, RigidJob) for it in jobs)
    speeds = {it.task_time for it in scenario.full_platform.sections}
    refuse(
        scenario.live.pace != "free",
        "live.pace",
        "a run with a pace keeps simulated times",
        "free",
    )
    refuse(
        not (iterative or listed),
        "job.kind",
        "the costs of such jobs are not measured",
        "rigid jobs, listed, and iterative ones",
    )
    refuse(
        len(speeds) > 1 or any(getattr(it, "task_times", ()) for it in jobs),
        "workers.task_time",
        "real processes are not slower than each other",
        "the same for all",
    )
    refuse(
        any((it.program, it.data, it.image) != (None,) * 3 for it in jobs),
        "job.jobs.program, data and image",
        "the messages of all jobs are measured together",
        "those of [master] for all jobs",
    )
    refuse(
        any(isinstance(it.period, str) for it in rules),
        "protection.period",
        "real checkpoints take time, and a formula counts with costs that are measured later",
        "a number of steps",
    )
    cores, busy = len(os.sched_getaffinity(0)), scenario.full_platform.able
    if iterative:
        busy = min(busy, sum(getattr(it, "tasks", 0) for it in scenario.job.listed))
    problem = f"{busy} workers compute on {cores} processors, and "
    problem += "change each other's speed as they die"
    accepted = "at most one worker for each processor, spares aside, or --scheduler"
    refuse(own and busy > cores, "platform.workers", problem, accepted)
    return playable(scenario)


def rehearsed(
    scenario: Scenario, step: float, start: float = 0.0, folder: Path = Path()
) -> Scenario:
    """Return a short form of the scenario, in which each kind of part occurs: its jobs are shorter,
    and its only faults are some listed ones, of one worker after the other.

    `step`: seconds of a step; `start`: seconds until a killed process is replaced; `folder`: where
    the scenario's files are.
    """
    scale, size = scenario.live.scale, scenario.full_platform.size
    known, free = {"step": step / scale}, dict.fromkeys((*KEYS.values(), *SPECIAL.values()), 0.0)
    simple = calibrated(scenario.model_copy(update={"faults": NoFaults()}), known | free)
    foreseen = run(simple, folder=folder).time
    part = min(1.0, REHEARSAL / (foreseen * scale))
    shorter = (_shorter(it, part, scenario.protection) for it in scenario.job.jobs)
    job: dict[str, Any] = {"jobs": tuple(shorter)}
    if isinstance(scenario.job, IterativeSection):
        job["iterations"] = ceil(part * (scenario.job.iterations or 1))
    times = [(k + 1) * part * foreseen / (FAILURES + 1) for k in range(FAILURES)]
    strikes = tuple((time, k % size) for k, time in enumerate(times))
    # A worker that is UP before its process is there would have its first message last longer.
    faults = ListedFaults(strikes=strikes, downtime=downtime_of(scenario, start))
    changed = {"job": scenario.job.model_copy(update=job), "faults": faults}
    return calibrated(scenario.model_copy(update=changed), known)


def _shorter(job: AnyJob, part: float, section: ProtectionSection) -> AnyJob:
    """Return the job with the fraction `part` of its iterations or steps.

    A rigid job keeps so many periods that a checkpoint on each of its levels is complete before its
    end; `section` is the protection of jobs without one of their own.
    """
    if isinstance(job, IterativeEntry):
        return job.model_copy(update={"iterations": ceil(part * job.iterations)})
    assert isinstance(job, RigidJob)
    own = job.protection or section
    periods = (own.images_every or 1) + (0.5 if own.blocking else 1.5)
    least = periods * float(own.period) if own.period != inf else 1.0
    return job.model_copy(update={"time": float(min(job.time, ceil(max(least, job.time * part))))})


@define(eq=False)
class Lengths:
    """Notes how long the parts and messages of a live run really took."""

    parts: defaultdict[str, list[tuple[float, float]]] = field(
        factory=lambda: defaultdict(list, step=[])
    )
    """Maps keys of a scenario to the parts and messages that they set: the length of each, time
    units, and 1; `step` to those in which runs computed, with their numbers of steps."""
    step: float = 1.0
    """Work that a step is, time units."""

    def take(self, row: MeasuredRow) -> None:
        """Note the real length of a part or message."""
        if row.stage is Stage.COMPUTING:
            # Of a run that began from the state of one under way only an estimate of its steps is
            # known.
            if row.work and row.work > 0 and not row.clone:
                self.parts["step"].append((row.length, row.work / self.step))
            return
        special = row.clone if row.stage is Stage.RECOVERING else row.second_level
        keys: Mapping[Any, str] = KEYS | SPECIAL if special else KEYS
        key = keys.get(row.kind or row.stage)
        if key is not None:
            self.parts[key].append((row.length, 1.0))


def rehearse(
    scenario: Scenario, step: float, processes: Processes, folder: Path, log: Path
) -> Lengths:
    """Carry out a short form of the scenario with real processes, to measure the lengths of its
    parts and messages; return these lengths.

    `step` is the seconds of a computing step, `folder` that of the scenario's files, and `log` the
    file for the log of this run.
    """
    short = rehearsed(scenario, step, max(processes.starts), folder)
    history = History()
    lengths = Lengths(step=step / scenario.live.scale)
    history.take(MeasuredRow, lengths.take)
    with LogWriter(log) as writer:
        live(short, processes, folder, [history.apply, writer])
    return lengths


# --- the calibrated scenario ------------------------------------------------------------------


Costs = Mapping[str, tuple[float, float]]
"""Maps `step`, and keys of a scenario for the other parts and messages, to what one costs in time
units: (mean, standard error)."""


def costs_of(lengths: Lengths) -> Costs:
    """Return the mean cost of each part and message that `rehearse` has measured, with its standard
    error, in time units.

    Raises InputError where no run computed to the end of a part, so that the time of a step is not
    known.
    """
    if not lengths.parts["step"]:
        problem = "no run of the rehearsal computed to the end of a part"
        raise unfit("live.scale", problem, "more seconds for each time unit")
    return {key: _cost(parts) for key, parts in lengths.parts.items()}


def _cost(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    lengths, numbers = zip(*parts, strict=True)
    each = [length / number for length, number in parts]
    error = stdev(each) / sqrt(len(each)) if len(each) > 1 else 0.0
    return sum(lengths) / sum(numbers), error


def drawn(costs: Costs, number: int) -> dict[str, float]:
    """Return each cost, drawn at random about its mean by its standard error; `number` is that of
    the draw; 0: the means themselves.

    Draws are lognormal: a cost is above 0, however few and different the measured parts are.
    """
    rng, found = stream(number, "costs"), {}
    for key, (mean, error) in costs.items():
        spread = sqrt(log1p((error / mean) ** 2)) if number and mean else 0.0
        found[key] = mean * exp(rng.normal(-(spread**2) / 2, spread))
    return found


def lines(costs: Costs, scale: float) -> Iterator[str]:
    """Yield a line for each cost, in seconds; `scale` is the seconds of a time unit."""
    for key, (mean, error) in costs.items():
        yield f"  {key:<11} {mean * scale:.4g} s (standard error {error * scale:.2g})"


def calibrated(scenario: Scenario, costs: Mapping[str, float]) -> Scenario:
    """Return the scenario whose times and periods are counted in time units, as a simulation needs
    them, in place of steps.

    `costs` maps `step` to the time units of a step, and keys of the scenario such as `cost` and
    `data` to what they cost. Carried out live, the scenario has the same steps and messages as
    before, and its policies see the costs.
    """
    step, known = costs["step"], dict(costs)

    def protected(section: ProtectionSection) -> ProtectionSection:
        # What a checkpoint costs the work beside it is in the length of a step.
        return _with(section, known | {"period": float(section.period) * step, "slowdown": 0.0})

    live = scenario.live.model_copy(update={"step": step * scenario.live.scale})
    changed: dict[str, Any] = {"protection": protected(scenario.protection), "live": live}
    if (master := scenario.master) is not None:
        # A message that has been measured has the same bytes, in another time.
        rates = tuple(
            live.bandwidth * (getattr(master, key) / known[key] if known.get(key) else 1.0)
            for key in SIZES
        )
        changed["master"] = _with(master, known)
        changed["live"] = live.model_copy(update={"rates": rates})
    job: dict[str, Any] = {}
    if isinstance(scenario.job, IterativeSection):
        changed["workers"] = tuple(
            _with(it, {"task_time": it.task_time * step}) for it in scenario.workers
        )
        own = scenario.platform
        changed["platform"] = own and _with(own, {"task_time": own.task_time * step})
    else:
        jobs = []
        for it in scenario.job.jobs:
            assert isinstance(it, RigidJob)
            protection = it.protection and protected(it.protection)
            jobs.append(it.model_copy(update={"time": it.time * step, "protection": protection}))
        job["jobs"] = tuple(jobs)
    changed["job"] = _with(scenario.job, known | job)
    return scenario.model_copy(update=changed)


def _with(section: S, values: Mapping[str, Any]) -> S:
    """Return the section with those of these values that are values of its own keys; others are
    left out."""
    known = type(section).model_fields
    return section.model_copy(update={key: values[key] for key in values if key in known})
