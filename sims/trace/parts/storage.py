"""Words for what runs save on shared storage, and load from it."""

from __future__ import annotations

from actors.events import BandwidthShared
from actors.intervals import count_in
from policies.maths.tolerance import SAME
from sims.history.reader import Run
from sims.scenario.platform import StorageSection
from sims.telling import amount_of, counted


def shared(event: BandwidthShared, run: Run, storage: StorageSection, unit: str) -> str:
    """Return words for how many bytes a run has left to save or load, at which bandwidth, and what
    bounds it: its members' own bandwidths, the storage's, or other runs that use the storage.

    A bandwidth of 0 means that the run waits for a member. Bandwidths are in bytes per `unit` of
    time.
    """
    if not event.bandwidth:
        return f"waits for a member, {amount_of(event.left)} bytes left"
    each, members = storage.worker_bandwidth, count_in(run.processors)
    cap = storage.bandwidth if each is None else min(storage.bandwidth, each * members)
    per = f"bytes a {unit}"
    text = f"{amount_of(event.left, 6)} bytes left, at {amount_of(event.bandwidth, 4)} {per}"
    if event.bandwidth < cap * (1 - SAME):
        return f"{text}, {event.bandwidth / cap:.1%} of what it gets alone: others use the storage"
    whose = "the storage" if cap == storage.bandwidth else counted(members, "member")
    return f"{text}, the most that {whose} can take"
