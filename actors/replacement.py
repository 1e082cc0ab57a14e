"""Messages about members that another worker replaces (WORLD.md, P10)."""

from __future__ import annotations

from collections.abc import Sequence

from actors.runtime import Actor, message


@message
class ReplacementDue:
    """A job to itself: this member of a copy has been away for long enough to be replaced."""

    copy: int
    worker: int
    since: float
    """When it went DOWN."""


@message
class ReplacementWanted:
    """Job to scheduler: this member of a copy that I keep has been away for long enough; give it
    another worker, as soon as there is one."""

    copy: int
    worker: int


@message
class ReplaceMember:
    """Scheduler to job: this copy has another worker in place of one of its members."""

    copy: int
    worker: int
    replacement: int
    text: str
    """All members from now on, as logs write them."""
    speeds: Sequence[float] = ()
    """The replacement's, as in StartCopy."""
    addresses: Sequence[Actor] = ()
