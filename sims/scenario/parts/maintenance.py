"""Windows of maintenance, in which an owner takes workers DOWN at times that all know (rules.md, M1
and M2). Their table is `WindowSection`, in `[platform]`."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isinf

from actors.events import MaintenancePlanned
from actors.intervals import intervals_of, text
from actors.runtime import System
from sims.scenario import Scenario
from sims.scenario.parts.part import Refusal, ScenarioPart
from sims.scenario.submissions import Submissions
from sims.telling import about, counted


class Maintenance(ScenarioPart):
    """The windows of a platform."""

    def of_queues(self, scenario: Scenario) -> Iterator[Refusal]:
        if scenario.full_platform.windows:
            why = "plans no starts, so that it cannot keep jobs out of windows"
            yield "platform.maintenance", why, "the same times as `availability`"

    def describe(self, scenario: Scenario, system: System) -> None:
        platform = scenario.full_platform
        for section in platform.pool.maintenance:
            start, end = section.span
            workers = text(intervals_of(section.workers(platform.size)))
            system.describe(MaintenancePlanned, start, None if isinf(end) else end, workers)

    def lines(self, scenario: Scenario, submissions: Submissions) -> Iterator[str]:
        platform, unit = scenario.full_platform, scenario.times.value
        for section in platform.pool.maintenance:
            (start, end), workers = section.span, len(section.workers(platform.size))
            until = "for good" if end == inf else f"for {about(end - start, unit)}"
            taken = f"{counted(workers, 'worker')} DOWN from {about(start, unit)} on"
            yield f"  maintenance {taken}, {until}"
