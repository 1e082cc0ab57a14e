"""Figure 11 of 003: one run, fault by fault: the expected makespan and the spread of sizes."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve
from rich.console import Console
from rich.table import Table

from actors.runtime import System
from policies.pack import LookAhead
from sims.metrics.course import Course, Moment
from sims.papers.cosched_trials import NONE, Setting, Trial, scenario
from sims.plots.axes import PLAIN
from sims.plots.curves import HEIGHT, WIDTH, legend_below
from sims.plots.figure import CYCLE, new_figure, save
from sims.scenario.build import populate
from sims.scenario.scenario import Scenario

POLICIES = ("IteratedGreedy-EndLocal", "ShortestApplicationsFirst-EndLocal")


def courses(setting: Setting, look: LookAhead, seed: int) -> dict[str, list[Moment]]:
    """Each policy's moments, on the same pack and faults."""
    trial = Trial(setting, POLICIES, look, seed)
    return {name: _course(scenario(trial, name)) for name in (NONE, *POLICIES)}


def _course(scenario: Scenario) -> list[Moment]:
    fold = Course()
    system = System(scenario.seed, [fold])
    populate(scenario, system, Path())
    system.run()
    return fold.moments


def show(found: dict[str, list[Moment]], console: Console) -> None:
    """One row per fault: the policies meet the same ones, but not all count for each."""
    table = Table("fault at (s)", *(f"{name}: makespan (s), spread" for name in found))
    times = sorted({moment.time for moments in found.values() for moment in moments})
    at = {name: {m.time: m for m in moments} for name, moments in found.items()}
    for time in times:
        table.add_row(f"{time:.6g}", *(_cell(at[name].get(time)) for name in found))
    console.print(table)


def _cell(moment: Moment | None) -> str:
    return f"{moment.makespan:.4g}, {moment.spread:.1f}" if moment else "ignored"


def draw(found: dict[str, list[Moment]], path: Path) -> list[Path]:
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
    figure, axes = new_figure(WIDTH, HEIGHT)
    for (name, points), color in zip(curves.items(), CYCLE, strict=False):
        axes.plot(*zip(*points, strict=True), label=name, color=color, marker=".")
    axes.xaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_major_formatter(PLAIN)
    title = "003, figure 11: a single run, at each fault that counted"
    axes.set(title=title, xlabel="time of the fault, s", ylabel=y)
    axes.grid(alpha=0.3)
    legend_below(figure, "redistribution at faults and ends")
    return save(figure, path)


def figure11(setting: Setting) -> Setting:
    """n = 100, p = 1000, an MTBF of 50 years."""
    return evolve(setting, mtbf_years=50.0)
