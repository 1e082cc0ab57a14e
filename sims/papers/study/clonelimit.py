"""Study how far a master's bandwidth lets cloning and checkpointing pay.

Rigid jobs are sent to volatile workers behind a master with n_com channels. A job is protected by
images kept at the master, by copies on idle workers, which may be cloned from the furthest one, or
by both. Images and clones pass the same channels: the protection of one job delays another. For
every n_com and size of image the mean flowtime is compared with that without protection, on the
same arrivals and availability.

Young's formula takes the cost of a checkpoint to its own job into account, but not that others wait
for the channel; `link-aware` lets it use the time that the images of all busy workers take
together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from actors.runtime import stream
from policies.maths.checkpoint import young_work
from sims.campaign.results import Results
from sims.intervals import Estimate
from sims.papers.inputs import base
from sims.papers.study import against
from sims.papers.values import Place, Value, exactly, without

REFERENCE, COPIES = "none", "2 copies, not cloned"
WORKERS, JOBS, PROCESSORS = 40, 60, 4
"""Number of workers, of jobs, and of processors that each job needs."""
TIMES = (20.0, 180.0)
"""Range in seconds from which each t_j is drawn uniformly."""
LOAD = 0.5
"""Offered load as a share of all workers, if they were always UP and no work were lost."""
STAY, BACK = 0.996, 0.05
"""Probability to stay UP from one second to the next (half of the rest goes DOWN), and probability
that DOWN or RECLAIMED ends in a second."""


def period(channels: int, image: float, aware: bool) -> float:
    """Return Young's period, the work between two images of a job (checkpoints at the master), in
    seconds, where an image takes `image` seconds on one of `channels` channels.

    The cost of a checkpoint is that of one image, or, under `aware`, the time in which the channels
    carry the images of all busy workers.
    """
    mtbf = 2 / (1 - STAY)  # from one time DOWN to the next, while UP
    busy = max(1, LOAD * WORKERS / channels) if aware else 1
    return young_work(mtbf / PROCESSORS, image * busy)


def volatile(
    seed: int,
    channels: int,
    image: float,
    images: str = "none",
    copies: int = 1,
    cloning: bool = False,
) -> dict[str, Any]:
    """Return the scenario of one realisation of jobs and availability, number `seed`, behind a
    master of n_com = `channels`.

    `images` says how a job is protected by images at the master: `none`, `young` (Young's period),
    or `aware` (that of a checkpoint that waits for the channel, as in `period`). `copies` is the
    largest number of its copies, which are cloned from the furthest one under `cloning`. An image
    takes `image` seconds on a channel; this matters only to jobs with images or clones.
    """
    leave, rest = (1 - STAY) / 2, 1 - BACK
    settings = {
        "seed": seed,
        "platform.workers": WORKERS,
        "platform.availability.rows": [[STAY, leave, leave], [BACK, rest, 0.0], [BACK, 0.0, rest]],
        "master.channels": channels,
        "master.image": image if cloning or images != "none" else 0.0,
        "job.jobs": list(_jobs(seed)),
        "protection.copies": copies,
        "protection.cloning": cloning,
    }
    if images != "none":
        settings["protection.kind"] = "images"
        settings["protection.period"] = period(channels, image, images == "aware")
    return base("study/clonelimit-base", settings)


def _jobs(seed: int) -> Iterator[dict[str, Any]]:
    """Yield the jobs of realisation number `seed` as entries of a scenario, with times from `TIMES`
    and Poisson arrivals at a rate that offers `LOAD`."""
    rng, gap = stream(seed, "clonelimit"), PROCESSORS * sum(TIMES) / 2 / (LOAD * WORKERS)
    times = rng.uniform(*TIMES, size=JOBS).tolist()
    releases = rng.exponential(gap, size=JOBS).cumsum().tolist()
    for time, release in zip(times, releases, strict=True):
        yield {"processors": PROCESSORS, "time": time, "release": release}


# --- the view ---------------------------------------------------------------------------------


def view(results: Results) -> Iterator[Value]:
    """Yield the mean flowtimes over those without protection, and for each protection the size of
    an image up to which it surely pays and that from which it surely costs.

    "Surely" means that the interval of the ratio lies below 1, or above 1.
    """
    curves = defaultdict[tuple[Place, str], dict[float, Estimate]](dict)
    for it in against(results, REFERENCE, COPIES):
        yield it
        if it.who != COPIES and it.what != "cut off":
            curves[without(it.place, "image"), it.who][dict(it.place)["image"]] = it.ours
    for at, curve in curves.items():
        for what, size in zip(
            ("surely pays up to", "surely costs from"), break_even(curve), strict=True
        ):
            if size is not None:
                yield Value(*at, what, exactly(size))


def break_even(curve: Mapping[float, Estimate]) -> tuple[float | None, float | None]:
    """Return the largest size such that the ratios at it and at all smaller sizes have their
    intervals below 1, and the smallest size at which an interval lies above 1.

    `curve` maps the sizes of an image to the ratios; either result is None if there is no such
    size.
    """
    places = sorted(curve)
    bad = min((at for at in places if curve[at].high >= 1), default=inf)
    good = [at for at in places if at < bad]
    over = [at for at in places if curve[at].low > 1]
    return (good[-1] if good else None), (over[0] if over else None)
