"""Compare checkpoints, copies and restarts on machines that their owners reclaim.

Rigid and iterative jobs are sent to spot instances behind a master with n_com channels, and survive
in six ways: by re-execution, by images at the master (Young's period, or a fixed one), by buddy
checkpoints among themselves (each takes as long as one image on a channel, and passes no master),
and by copies, cloned or not, on idle workers. The mean flowtime of each is compared with that of
re-execution on the same availability, by the size of an image and the length of a job.

--input is a folder or tar archive of spot-instance JSON: each folder in it is a platform, each seed
a random start in its traces. Without it workers follow Markov chains, fitted to three zones of real
instances, each by itself: the simultaneous losses of a zone are missing there.
"""

from __future__ import annotations

from typing import Any

from sims.campaign.results import Results
from sims.errors import InputError
from sims.papers.inputs import SpotPlatform, base, platforms
from sims.papers.study import against
from sims.papers.values import Place, Value, estimated, known, runs, without

REFERENCE, COPIES = "re-execution", "2 copies"
MEMBERS = 2
"""Number of workers of a job."""
WORKERS_PER_JOB = 6
"""Number of workers on the platform for each job."""
ITERATION, PROGRAM, DATA, FIXED = 15.0, 1.0, 0.25, 30.0
"""Minutes: of an iteration, of a program and of a unit of data on a channel, and of work between
two images where it is fixed."""
CAP = 10 * 24 * 60.0
"""Minutes after which a run is cut off."""


def given(traces: str) -> dict[str, Any]:
    """Return the changes that traces make to the campaign, as keys and values: its platforms and
    its end.

    Raises InputError where the traces cannot be read, or their ticks differ.
    """
    found = platforms(traces)
    ticks = {it.tick for it in found.values()}
    if len(ticks) > 1:
        raise InputError(traces, "", f"ticks of {sorted(ticks)} minutes", "traces of one tick")
    return {"axes": {"platform": list(found)}, "until": CAP / ticks.pop()}


def protection(way: str, mtbf: float, image: float, tick: float) -> dict[str, Any]:
    """Return the settings of `[protection]` for one way to survive the loss of instances, such as
    `images, Young`: images are checkpoints at the master.

    `mtbf`, of an instance, and `image`, the time of an image on a channel, are in ticks; a tick has
    `tick` minutes.
    """
    young = {"period": "young", "mtbf": mtbf}
    ways: dict[str, dict[str, Any]] = {
        REFERENCE: {},
        COPIES: {"copies": 2},
        "2 copies, cloned": {"copies": 2, "cloning": True},
        "images, Young": {"kind": "images", **young},
        "images, each 30 min": {"kind": "images", "period": FIXED / tick},
        "buddies, Young": {"kind": "buddies", "cost": image, "recovery": image, **young},
    }
    return ways[way]


def spot(
    seed: int,
    platform: str,
    kind: str,
    hours: float,
    image: float,
    way: str,
    traces: str = "",
    channels: int = 4,
) -> dict[str, Any]:
    """Return the scenario of start number `seed` on a platform, whose tick is the unit of time.

    `kind` is `rigid` or `iterative`, `hours` the work of a job (rounded to whole iterations for
    iterative ones), and `way` a way to survive, as in `protection`. `image` is the minutes of an
    image on a channel, and of a checkpoint in buddies' memory; re-execution and copies that are not
    cloned do not use it. `traces` is the path of the traces (empty: fitted chains), and `channels`
    n_com.
    """
    spots = platforms(traces)[platform]
    tick, cost = spots.tick, 0.0 if way in (REFERENCE, COPIES) else image
    count, jobs = jobs_on(spots), {"rigid": {"processors": MEMBERS, "time": 60 * hours / tick}}
    iterations = max(1, round(60 * hours / ITERATION))
    jobs["iterative"] = {"tasks": MEMBERS, "iterations": iterations, "processors": MEMBERS}
    availabilities = spots.lives(seed, MEMBERS * count, int(CAP / tick) + 1)
    settings = {
        "seed": seed,
        "workers": [
            {"task_time": ITERATION / tick, "availability": life} for life in availabilities
        ],
        "master.channels": channels,
        "master.program": PROGRAM / tick,
        "master.data": DATA / tick,
        "master.image": cost / tick,
        "job.kind": kind,
        "job.jobs": [jobs[kind]] * count,
        "protection": protection(way, spots.mtbf, cost / tick, tick),
    }
    return base("study/survive-base", settings)


def jobs_on(platform: SpotPlatform) -> int:
    """Return the number of jobs that are sent to a platform at once.

    It is one job for each 6 instances, but at least one, and on small platforms one for each 4, up
    to 2.
    """
    few = min(2, platform.size // (2 * MEMBERS))
    return max(1, few, platform.size // WORKERS_PER_JOB)


# --- the view ---------------------------------------------------------------------------------


def view(results: Results) -> list[Value]:
    """Return the mean flowtimes over those of re-execution, and the mean flowtime of re-execution
    in hours, for each platform and kind of job."""
    found, hours = (
        platforms(str(results.question.subject.changes.get("traces", ""))),
        dict[Place, Value](),
    )
    for place, made in runs(results, cut_off=True).items():
        tick, at = found[dict(place)["platform"]].tick, without(place, "image")
        estimate = estimated([it * tick / 60 for it in known(made[REFERENCE])])
        hours[at] = Value(at, REFERENCE, "mean flowtime, h", estimate)
    return [*against(results, REFERENCE, COPIES), *hours.values()]
