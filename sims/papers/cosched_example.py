"""The two examples of 003, section 4: neither greedy allocation is optimal."""

from __future__ import annotations

from attrs import frozen
from rich.console import Console
from rich.table import Table

from policies.pack import ALLOCATIONS
from sims.papers.cosched_trials import makespan
from sims.scenario.jobs.malleable_profiles import Tables
from sims.scenario.jobs.section import MalleableSection
from sims.scenario.link import LinkSection
from sims.scenario.platform import PlatformSection
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario


@frozen
class Example:
    """Two applications on three processors; redistribution is free."""

    title: str
    times: tuple[tuple[float, ...], ...]
    """Times on 1, 2, 3 processors."""
    paper: tuple[float, float]
    """The paper's makespans under `ALLOCATIONS`."""


EXAMPLES = (
    Example("first", ((10.0, 9.0, 6.0), (6.0, 3.0)), (8.0, 7.2)),
    Example("second", ((10.0, 6.0, 5.0), (6.0, 3.0)), (6.0, 6.5)),
)


def example_scenario(example: Example, allocation: str) -> Scenario:
    """The example under one allocation, EndLocal redistributing at ends."""
    return Scenario(
        name=f"section 4, {example.title}",
        platform=PlatformSection(workers=3),
        job=MalleableSection(
            kind="malleable",
            pair=1,
            footprints=(0.0, 0.0),
            profile=Tables(kind="table", times=example.times),
        ),
        link=LinkSection(unit=0.0),
        policy=PolicySection(name="EndLocal", allocation=allocation),
    )


def show_examples(console: Console) -> None:
    """Both examples beside the paper's numbers."""
    table = Table("example", "allocation", "makespan", "003")
    for example in EXAMPLES:
        for allocation, paper in zip(ALLOCATIONS, example.paper, strict=True):
            value = makespan(example_scenario(example, allocation))
            table.add_row(example.title, allocation, f"{value:g}", f"{paper:g}")
    console.print(table)
