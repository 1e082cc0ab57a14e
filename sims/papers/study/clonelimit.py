"""How far does a master's bandwidth let cloning and checkpointing pay?

Rigid jobs are sent to volatile workers behind a master with n_com channels. A job is protected by
images kept at the master, by copies on workers that nobody else waits for, which may be cloned from
the furthest one, or by both. Images and clones pass the same channels: what protects one job delays
another. For every n_com and size of image the mean flowtime is set against that without protection,
on the same arrivals and availability.

Young's formula knows what a checkpoint costs its own job, not that others wait for the channel;
`link-aware` has it reckon with the time that the images of all busy workers take together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from actors.runtime import stream
from policies.maths.checkpoint import young_work
from sims.campaign.intervals import Estimate
from sims.campaign.results import Results
from sims.papers.inputs import base
from sims.papers.study import against
from sims.papers.values import Place, Value, exactly, without

REFERENCE, COPIES = "none", "2 copies, not cloned"
WORKERS, JOBS, PROCESSORS = 40, 60, 4
TIMES = (20.0, 180.0)
"""Seconds: t_j is uniform between these."""
LOAD = 0.5
"""Of all workers, were they always UP and nothing lost."""
STAY, BACK = 0.996, 0.05
"""Probability to stay UP from one second to the next (half of the rest goes DOWN), and that DOWN or
RECLAIMED ends in a second."""


def period(channels: int, image: float, aware: bool) -> float:
    """Young's work between two images, s; `aware`: of a cost that reckons with all busy workers'
    images on the link."""
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
    """One realisation; `images`: none, young or aware. An image's size matters only to a job that
    is protected by more than idle copies."""
    leave, rest = (1 - STAY) / 2, 1 - BACK
    own = {
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
        own["protection.kind"] = "images"
        own["protection.period"] = period(channels, image, images == "aware")
    return base("study/clonelimit-base", own)


def _jobs(seed: int) -> Iterator[dict[str, Any]]:
    rng, gap = stream(seed, "clonelimit"), PROCESSORS * sum(TIMES) / 2 / (LOAD * WORKERS)
    times = rng.uniform(*TIMES, size=JOBS).tolist()
    releases = rng.exponential(gap, size=JOBS).cumsum().tolist()
    for time, release in zip(times, releases, strict=True):
        yield {"processors": PROCESSORS, "time": time, "release": release}


# --- the view ---------------------------------------------------------------------------------


def view(results: Results) -> Iterator[Value]:
    """Ratios to no protection; and up to which size of image a protection surely pays, from where
    on it surely costs."""
    curves = defaultdict[tuple[Place, str], dict[float, Estimate]](dict)
    for it in against(results, REFERENCE, COPIES):
        yield it
        if it.who != COPIES and it.what != "cut off":
            curves[without(it.place, "image"), it.who][dict(it.place)["image"]] = it.ours
    for at, curve in curves.items():
        for what, size in zip(
            ("surely pays up to", "surely costs from"), limits(curve), strict=True
        ):
            if size is not None:
                yield Value(*at, what, exactly(size))


def limits(curve: Mapping[float, Estimate]) -> tuple[float | None, float | None]:
    """The last place up to which all is surely below 1, and the first that is surely above."""
    places = sorted(curve)
    bad = min((at for at in places if curve[at].high >= 1), default=inf)
    good = [at for at in places if at < bad]
    over = [at for at in places if curve[at].low > 1]
    return (good[-1] if good else None), (over[0] if over else None)
