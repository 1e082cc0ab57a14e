"""What a job is, in the words that its life begins with."""

from __future__ import annotations

from actors.events import JobDescribed, ProtectionDescribed, ProtectionKind, TasksDescribed
from sims.telling import counted, in_units


def described(event: JobDescribed | TasksDescribed | ProtectionDescribed, unit: str) -> str:
    """What it adds to the first line of the job's life."""
    match event:
        case JobDescribed():
            return _kind(event, unit)
        case TasksDescribed(iterations=many, tasks=tasks):
            return f"; {counted(many, 'iteration')} of {counted(tasks, 'task')}"
        case ProtectionDescribed():
            return _protection(event, unit)


def _kind(event: JobDescribed, unit: str) -> str:
    """`: rigid; at most 3 s`."""
    limit = "" if event.limit is None else f"; killed after {in_units(event.limit, unit)}"
    return f": {event.kind}{limit}"


def _protection(event: ProtectionDescribed, unit: str) -> str:
    """`; buddies, a checkpoint every 3 s`; nothing where it is re-executed as a whole."""
    said = [event.kind.value] if event.kind is not ProtectionKind.NONE else []
    if event.period is not None and said:
        checked = "a verified" if event.verified else "a"
        said.append(f"{checked} checkpoint every {in_units(event.period, unit)} of work")
    if event.copies > 1:
        cloned = ", cloned from the furthest" if event.cloning else ""
        said.append(f"up to {counted(event.copies, 'copy', 'copies')}{cloned}")
    return f"; {', '.join(said)}" if said else ""
