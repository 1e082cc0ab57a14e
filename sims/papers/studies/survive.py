"""Checkpoint, replicate or restart, on machines that their owners take away?

Rigid and iterative jobs are sent to spot instances behind a master with n_com channels, and survive
in six ways: by re-execution, by images at the master (Young's period, or a fixed one), by buddy
checkpoints among themselves (each takes as long as one image on a channel, and passes no master),
and by copies, cloned or not, on workers that nobody else waits for. The mean flowtime of each is
set against re-execution's on the same availability, by the size of an image and the length of a
job.

--input is a folder or tar archive of spot-instance JSON: each folder in it is a platform, each
seed a random start in its traces. Without it workers follow Markov chains, fitted to three zones of
real instances, each by itself: what a zone loses at once is missing there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from actors.protection import ProtectionKind
from sims.campaign.intervals import LEVEL, mean_of
from sims.campaign.results import Results
from sims.errors import InputError
from sims.papers.studies import against, whole
from sims.papers.values import Place, Value, without
from sims.scenario.jobs.entries import IterativeEntry, RigidJob
from sims.scenario.jobs.section import IterativeSection, JobSection, RigidSection
from sims.scenario.master import MasterSection
from sims.scenario.platform import WorkerSection
from sims.scenario.policy import PolicySection
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario
from sims.spot_platforms import SpotPlatform, fitted, real

REFERENCE = "re-execution"
MEMBERS = 2
"""Workers of a job."""
WORKERS_PER_JOB = 6
ITERATION, PROGRAM, DATA, FIXED = 15.0, 1.0, 0.25, 30.0
"""Minutes: of an iteration, of a program and of a unit of data on a channel, of work between two
images where that is fixed."""
CAP = 10 * 24 * 60.0
"""Minutes after which a run is cut off."""


@cache
def _platforms(traces: str) -> Mapping[str, SpotPlatform]:
    found = real(Path(traces)) if traces else [fitted()]
    return {it.name: it for it in found}


def given(path: Path) -> dict[str, Any]:
    """The traces' platforms, for the campaign. Raises InputError, also where their ticks differ."""
    traces = str(path.absolute())
    platforms = _platforms(traces)
    ticks = {it.tick for it in platforms.values()}
    if len(ticks) > 1:
        raise InputError(str(path), "", f"ticks of {sorted(ticks)} minutes", "traces of one tick")
    axes, until = {"platform": list(platforms)}, CAP / ticks.pop()
    return {"set": {"traces": traces}, "axes": axes, "until": until}


def protection(way: str, mtbf: float, image: float, tick: float) -> ProtectionSection:
    """A way to survive; `mtbf` and `image` in ticks."""
    images, buddies = ProtectionKind.IMAGES, ProtectionKind.BUDDIES
    match way:
        case "images, Young":
            return ProtectionSection(kind=images, period="young", mtbf=mtbf)
        case "images, each 30 min":
            return ProtectionSection(kind=images, period=FIXED / tick)
        case "buddies, Young":
            return ProtectionSection(
                kind=buddies, period="young", mtbf=mtbf, cost=image, recovery=image
            )
        case "2 copies, cloned":
            return ProtectionSection(copies=2, cloning=True)
    return ProtectionSection(copies=2) if way == "2 copies" else ProtectionSection()


def spot(
    seed: int,
    platform: str,
    kind: str,
    hours: float,
    image: float,
    way: str,
    traces: str = "",
    channels: int = 4,
) -> Scenario:
    """One start on a platform, whose tick is the unit of time; `hours` of work in a job, `image`
    minutes on a channel, to those ways that it matters to."""
    spots = _platforms(traces)[platform]
    tick, cost = spots.tick, 0.0 if way in (REFERENCE, "2 copies") else image
    count = jobs_on(spots)
    workers = tuple(
        WorkerSection(task_time=ITERATION / tick, availability=life)
        for life in spots.lives(seed, MEMBERS * count, int(CAP / tick) + 1)
    )
    return Scenario(
        name="survive",
        seed=seed,
        workers=workers,
        master=MasterSection(
            channels=channels, program=PROGRAM / tick, data=DATA / tick, image=cost / tick
        ),
        job=_jobs(kind, count, 60 * hours, tick),
        protection=protection(way, spots.mtbf, cost / tick, tick),
        policy=PolicySection(name="R-LIST-0", order="FCFS"),
    )


def jobs_on(platform: SpotPlatform) -> int:
    """How many jobs are sent to it at once."""
    few = min(2, platform.size // (2 * MEMBERS))
    return max(1, few, platform.size // WORKERS_PER_JOB)


def _jobs(kind: str, count: int, minutes: float, tick: float) -> JobSection:
    if kind == "rigid":
        rigid = RigidJob(processors=MEMBERS, time=minutes / tick)
        return RigidSection(kind="rigid", jobs=(rigid,) * count)
    iterations = max(1, round(minutes / ITERATION))
    job = IterativeEntry(tasks=MEMBERS, iterations=iterations, processors=MEMBERS)
    return IterativeSection(kind="iterative", jobs=(job,) * count)


# --- the view ---------------------------------------------------------------------------------


def view(results: Results) -> list[Value]:
    """Ratios to re-execution; and its own mean flowtime."""
    platforms = _platforms(str(results.campaign.set.get("traces", "")))
    own = {
        without(place, "image"): mean_of(
            [it * platforms[dict(place)["platform"]].tick / 60 for it in made[REFERENCE]], LEVEL
        )
        for place, made in whole(results).items()
    }
    hours = [Value(place, REFERENCE, "mean flowtime, h", it) for place, it in own.items()]
    return [*against(results, REFERENCE, _place), *hours]


def _place(place: Place, who: str) -> Place:
    return without(place, "image") if who == "2 copies" else place
