"""Follows which runs use the bandwidth of the shared storage, and how much of it each has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import define, frozen

from actors.events import BandwidthShared, Stage
from actors.events.quantities import Bandwidth
from actors.runtime import Event, Record
from sims.history.rows import On
from sims.history.runs import Part
from sims.history.workers import Handler
from sims.history.writers import Writer


@frozen(eq=False)
class Storage(Part):
    """The part of a history that keeps the bandwidths of runs to the shared storage."""

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {
            BandwidthShared: self._share,
        }

    def _share(self, record: Record, event: BandwidthShared) -> None:
        """Record the bandwidth with which a run, or a checkpoint beside it, saves to shared storage
        or loads from it."""
        history, run = self.history, self.history.run_of(event)
        if run.passing:
            history.stop_passing(run, record)
        elif run.hung is None or not run.overlaps:  # a hang stops the checkpoint beside the run
            history.close_span(run, record, run.done)
            run.rate = event.bandwidth
        history.set_bandwidth(run, event.bandwidth, record.t)


@frozen
class StorageRow:
    """The shared storage's bandwidth in use from a time on, until the next row."""

    t: On
    used: Bandwidth
    """Bandwidth with which runs save and load."""
    loading: Bandwidth
    """Part of it with which runs load."""


@define(eq=False)
class StorageWriter(Writer):
    """Writes a row whenever the bandwidth of a run to the shared storage changes."""

    row: ClassVar[type] = StorageRow

    def storage_changed(self, now: float) -> None:
        runs = self.history.sharing.values()
        loading = sum(run.bandwidth for run in runs if run.stage is Stage.RECOVERING)
        self.over(StorageRow(now, sum(run.bandwidth for run in runs), loading))
