"""Start-up: workers are chosen, and processes start, before a run's members fetch anything
(rules.md, R5).

Workers that a copy has kept need not be chosen again.
"""

from __future__ import annotations

from attrs import define

from actors.parts.part import Host, Part


@define(eq=False)
class Startup(Part):
    """The time that passes before a run of the job begins in earnest."""

    @classmethod
    def wanted(cls, job: Host) -> bool:
        return bool(job.described.startup or job.described.select)

    def before(self, first: bool) -> float:
        said = self.job.described
        return said.select + said.startup if first else said.startup
