"""Figure 11 of malleable17: one run, fault by fault: the expected makespan and the spread of
sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sims.metrics.course import Course, CoursePoint
from sims.papers.cosched import pack
from sims.papers.values import Value, exactly
from sims.plots.figure import PLAIN, blank_figure, legend_below, save
from sims.plots.palette import CYCLE
from sims.scenario.loader import read
from sims.world import run

POLICIES = ("none", "IteratedGreedy-EndLocal", "ShortestApplicationsFirst-EndLocal")


def courses(seed: int, **setting: Any) -> dict[str, list[CoursePoint]]:
    """Each policy's moments, on the same pack and faults."""
    return {name: _course(pack(name, seed, **setting)) for name in POLICIES}


def _course(table: dict[str, Any]) -> list[CoursePoint]:
    fold = Course()
    run(read(table, "figure 11"), [fold])
    return fold.moments


def values() -> list[Value]:
    """The last moment of the paper's setting: n = 100, p = 1000, an MTBF of 50 years."""
    found = courses(1, mtbf_years=50.0)
    return [
        Value((), name, what, exactly(value))
        for name, moments in found.items()
        for what, value in (
            ("faults that counted", len(moments)),
            ("expected makespan, s", moments[-1].makespan),
            ("standard deviation of sizes", moments[-1].spread),
        )
    ]


def pictures(folder: Path) -> list[Path]:
    """The paper's two, in `folder`."""
    return draw(courses(1, mtbf_years=50.0), folder / "figure11.png")


def draw(found: dict[str, list[CoursePoint]], path: Path) -> list[Path]:
    """The two pictures: PATH with `-makespan` and `-spread` before its suffix."""
    return [
        _picture(
            {name: [(m.time, m.makespan) for m in moments] for name, moments in found.items()},
            path.with_stem(f"{path.stem}-makespan"),
            "expected makespan, s",
        ),
        _picture(
            {name: [(m.time, m.spread) for m in moments] for name, moments in found.items()},
            path.with_stem(f"{path.stem}-spread"),
            "standard deviation of sizes, processors",
        ),
    ]


def _picture(curves: dict[str, list[tuple[float, float]]], path: Path, y: str) -> Path:
    figure = blank_figure(9, 5.6)
    axes = figure.add_subplot()
    for (name, points), color in zip(curves.items(), CYCLE, strict=False):
        axes.plot(*zip(*points, strict=True), label=name, color=color, marker=".")
    axes.xaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_major_formatter(PLAIN)
    title = "malleable17, figure 11: a single run, at each fault that counted"
    axes.set(title=title, xlabel="time of the fault, s", ylabel=y)
    axes.grid(alpha=0.3)
    legend_below(figure, "redistribution at faults and ends")
    return save(figure, path)
