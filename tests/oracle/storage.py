"""Storage whose bandwidth all that save or load share by max-min fairness (rules.md, S1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.oracle.jobs import ZERO, Run
from tests.oracle.tenths import exact
from tests.oracle.words import Part, Protection
from tests.oracle.world import World

Flows = dict[Any, int]
"""What saves or loads (a run, or a group and one of its replicas), and how many members it has."""


class StoredWorld(World):
    """A world with shared storage."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        super().__init__(scenario)
        said = scenario.get("storage", {"bandwidth": 1})
        self.bandwidth = exact(said["bandwidth"])
        self.each = exact(said["worker_bandwidth"]) if "worker_bandwidth" in said else None

    def _flows(self) -> Flows:
        """All that are under way."""
        return {run: len(run.group.counting) for run in self._active() if self._flows_now(run)}

    def _flows_now(self, run: Run) -> bool:
        loads = run.part is Part.LOADING and run.left > 0
        return self._goes_on(run) and (loads or (to_storage(run) and run.to_save > 0))

    def shares(self) -> dict[Any, Fraction]:
        """Each gets what it can use, or an equal part of what is left."""
        flows, left = self._flows(), self.bandwidth
        caps = {it: left if self.each is None else self.each * n for it, n in flows.items()}
        found: dict[Any, Fraction] = {}
        for it in sorted(caps, key=lambda it: caps[it]):
            found[it] = min(caps[it], left / (len(caps) - len(found)))
            left -= found[it]
        return found

    def _rate(self, run: Run) -> Fraction:
        if run.part is Part.LOADING:
            return self.shares().get(run, ZERO)
        return super()._rate(run)

    def _saving_rate(self, run: Run) -> Fraction:
        if to_storage(run):
            return self.shares().get(run, ZERO)
        return super()._saving_rate(run)


def to_storage(run: Run) -> bool:
    """Whether what it saves goes there."""
    images = run.job.protection is Protection.IMAGES
    return bool(run.job.bytes and run.saving and (images or run.saving.as_images))
