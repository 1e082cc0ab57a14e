"""Figure 11 of malleable17: one run, fault by fault: the expected makespan and the spread of
sizes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sims.metrics.course import Course, CoursePoint
from sims.papers.malleable17 import pack
from sims.papers.values import Value, exactly
from sims.plots.axes import PLAIN
from sims.plots.curves import HEIGHT, WIDTH, legend_below
from sims.plots.figure import CYCLE, new_figure, save
from sims.scenario.loader import read
from sims.world import run

POLICIES = ("none", "IteratedGreedy-EndLocal", "ShortestApplicationsFirst-EndLocal")
TITLE = "malleable17, figure 11: a single run, at each fault that counted"
PICTURES = {
    "makespan": "expected makespan, s",
    "spread": "standard deviation of sizes, processors",
}
"""What is drawn of each moment."""

Courses = dict[str, list[CoursePoint]]


def courses(seed: int = 1, mtbf_years: float = 50.0, **setting: Any) -> Courses:
    """Each policy's moments, on the same pack and faults; the paper's setting is n = 100, p = 1000,
    an MTBF of 50 years."""
    found = {}
    for name in POLICIES:
        fold = Course()
        run(read(pack(name, seed, mtbf_years=mtbf_years, **setting), "figure 11"), [fold])
        found[name] = fold.moments
    return found


def values() -> list[Value]:
    """The last moment."""
    return [
        Value((), name, what, exactly(value))
        for name, moments in courses().items()
        for what, value in (
            ("faults that counted", len(moments)),
            ("expected makespan, s", moments[-1].makespan),
            ("standard deviation of sizes", moments[-1].spread),
        )
    ]


def pictures(folder: Path) -> list[Path]:
    """The paper's two, in `folder`."""
    return list(draw(courses(), folder))


def draw(found: Courses, folder: Path) -> Iterator[Path]:
    """A picture of each quantity over time."""
    for what, told in PICTURES.items():
        figure, axes = new_figure(WIDTH, HEIGHT)
        for (name, moments), color in zip(found.items(), CYCLE, strict=False):
            points = [(it.time, getattr(it, what)) for it in moments]
            axes.plot(*zip(*points, strict=True), label=name, color=color, marker=".")
        axes.xaxis.set_major_formatter(PLAIN)
        axes.yaxis.set_major_formatter(PLAIN)
        axes.set(title=TITLE, xlabel="time of the fault, s", ylabel=told)
        axes.grid(alpha=0.3)
        legend_below(figure, "redistribution at faults and ends")
        yield save(figure, folder / f"figure11-{what}.png")
