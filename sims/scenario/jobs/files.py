"""Jobs of real logs."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class WorkloadFile:
    """`[job.swf]` or `[job.batsim]`: jobs of a real log, arriving as they did."""

    file: str
    """From the scenario's folder; plain or compressed."""
    estimates: bool = True
    """Whether reservations believe the users' requested times; else what the jobs take."""
