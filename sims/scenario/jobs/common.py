"""What every listed job may say, whatever its kind."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import optional

from sims.scenario.fields import Unacceptable, a_number, not_negative, positive
from sims.scenario.protection import ProtectionSection

SCHEDULER, HAZARD, MASTER, CAP = "scheduler", "hazard", "master", "cap"
SOURCE = "source"
RESERVED = (SCHEDULER, HAZARD, MASTER, CAP, SOURCE)
"""Actors that no job can be called like."""
MOST_FAILURES = 1_000_000
"""Of one job, in a row: each is a run."""


def _free(_: object, attribute: object, value: str) -> None:
    """attrs validator: no name of `RESERVED`."""
    if value in RESERVED:
        raise Unacceptable("name", value, f"another name: it is the {value}'s in the log")


def _failures(_: object, attribute: object, value: int | tuple[int, ...] | None) -> None:
    """attrs validator: 0 or above; of a list, 0 or 1."""
    if isinstance(value, int) and not 0 <= value <= MOST_FAILURES:
        raise Unacceptable("failures", value, f"a whole number from 0 to {MOST_FAILURES:,}")
    if isinstance(value, tuple) and not set(value) <= {0, 1}:
        raise Unacceptable("failures", value, "a list of 0 and 1, one for each verification")


@frozen(kw_only=True)
class ListedJob:
    """What every listed job may say beside its size."""

    name: str = field(default="", validator=_free)
    """Default: J1, J2, ..."""
    failures: int | tuple[int, ...] | None = field(default=None, validator=_failures)
    """Verifications that find an error before one does not; or 1 for each one that does, else 0;
    default: drawn as `[errors]` says."""
    release: float = field(default=0, validator=not_negative)
    """When it is submitted."""
    verification: float | None = field(default=None, validator=optional(not_negative))
    """v; default: that of [job]."""
    estimate: float | None = field(default=None, validator=optional(positive))
    """The time that its user requested; default: what it takes."""
    user: str = ""
    """Whose it is; default: not known."""
    group: str = ""
    """Its user's; default: not known."""
    queue: str = ""
    """The site's, into which it is submitted; default: not known."""
    priority: float = field(default=0, validator=a_number)
    """Larger is more urgent, to policies that look at it."""
    protection: ProtectionSection | None = None
    """Default: that of the file."""
    program: float | None = field(default=None, validator=optional(not_negative))
    """Default, as of `data` and `image`: that of [master]."""
    data: float | None = field(default=None, validator=optional(not_negative))
    """Of each unit."""
    image: float | None = field(default=None, validator=optional(not_negative))
    """Of one worker."""

    @property
    def verdicts(self) -> tuple[int, ...] | None:
        """Its listed failures; None: they are drawn."""
        failures = self.failures
        return (1,) * failures if isinstance(failures, int) else failures

    @property
    def count(self) -> int | None:
        """f_j: how many runs fail before one succeeds; None: drawn."""
        verdicts = self.verdicts
        if verdicts is None:
            return None
        return verdicts.index(0) if 0 in verdicts else len(verdicts)
