"""What a job is, in the words that its life begins with."""

from __future__ import annotations

from actors.events import JobDescribed, ProtectionDescribed, ProtectionKind
from sims.telling import counted, in_units


def kind_of(event: JobDescribed, unit: str) -> str:
    """`: rigid; at most 3 s`."""
    limit = "" if event.limit is None else f"; killed after {in_units(event.limit, unit)}"
    return f": {event.kind}{limit}"


def protection_of(event: ProtectionDescribed, unit: str) -> str:
    """`; buddies, a checkpoint every 3 s`; nothing where it is re-executed as a whole."""
    said = [event.kind.value] if event.kind is not ProtectionKind.NONE else []
    if event.period is not None and said:
        checked = "a verified" if event.verified else "a"
        said.append(f"{checked} checkpoint every {in_units(event.period, unit)} of work")
    if event.copies > 1:
        cloned = ", cloned from the furthest" if event.cloning else ""
        said.append(f"up to {counted(event.copies, 'copy', 'copies')}{cloned}")
    return f"; {', '.join(said)}" if said else ""
