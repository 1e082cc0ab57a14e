"""One line of a Standard Workload Format log: 18 fields, -1 for unknown."""

from __future__ import annotations

import enum
from typing import Any

from attrs import frozen

from sims.readers.files import finite, whole

FIELDS = (
    "18 fields: job number, submit, wait, run, allocated processors, average CPU, used memory, "
    "requested processors, requested time, requested memory, status, user, group, executable, "
    "queue, partition, preceding job, think time"
)
UNKNOWN = -1
STATUS_FIELD = 10
AMOUNTS = (1, 2, 3, 5, 6, 8, 9, 17)
"""Fields that are no whole numbers."""
READERS = tuple(finite if field in AMOUNTS else whole for field in range(18))


class SwfStatus(enum.Enum):
    """Field 11. An interrupted job has a line for the whole and one more for each part."""

    UNKNOWN = -1
    FAILED = 0
    COMPLETED = 1
    PART = 2
    LAST_PART_COMPLETED = 3
    LAST_PART_FAILED = 4
    CANCELLED = 5


class SkipReason(enum.Enum):
    """Why a line gave no job; of several reasons the first one here counts."""

    STATUS = "status not read, as of the parts of an interrupted job"
    NEGATIVE = "a negative value other than -1"
    NO_SUBMIT_TIME = "submit time unknown"
    NO_RUN_TIME = "run time unknown or 0 s"
    NO_PROCESSORS = "processors unknown or 0, allocated and requested"


@frozen
class SwfJob:
    """A job as the log tells it, in the order of its fields; None is the format's -1, unknown."""

    number: int
    submit: float
    """Seconds since the log's start."""
    wait: float | None
    """Seconds from submission to start."""
    run: float
    """Seconds from start to end, above 0."""
    allocated: int | None
    """Processors allocated."""
    average_cpu: float | None
    """CPU seconds per processor."""
    used_memory: float | None
    """KB per processor."""
    requested_processors: int | None
    requested_time: float | None
    """Seconds: the user's limit on `run` (in some logs on CPU time: see the log's header)."""
    requested_memory: float | None
    """KB per processor."""
    status: SwfStatus
    user: int | None
    group: int | None
    executable: int | None
    queue: int | None
    partition: int | None
    preceding: int | None
    """Number of the job that had to end first."""
    think_time: float | None
    """Seconds from the preceding job's end to this submission."""

    @property
    def processors(self) -> int:
        """Those allocated, else (unknown or 0) those requested; above 0."""
        return self.allocated or self.requested_processors or 0


def parse_record(words: list[str]) -> tuple[SwfStatus, SwfJob | SkipReason]:
    """The line's status, and its job or why it has none (never STATUS, which is the caller's).

    Raises ValueError for a malformed line: not 18 fields, a word that is no (whole) number, a
    status outside the format, an unknown job number.
    """
    if len(words) != len(READERS):
        raise ValueError(f"{len(words)} fields")
    status = _status(words[STATUS_FIELD])
    values = [read(word) for read, word in zip(READERS, words, strict=True)]
    if any(value < 0 and value != UNKNOWN for value in values):
        return status, SkipReason.NEGATIVE
    known: list[Any] = [None if value == UNKNOWN else value for value in values]
    number, submit, _, run, allocated, _, _, requested, *_ = known
    if number is None:
        raise ValueError("job number unknown")
    if submit is None:
        return status, SkipReason.NO_SUBMIT_TIME
    if not run:
        return status, SkipReason.NO_RUN_TIME
    if not (allocated or requested):
        return status, SkipReason.NO_PROCESSORS
    known[STATUS_FIELD] = status
    return status, SwfJob(*known)


def _status(word: str) -> SwfStatus:
    try:
        return SwfStatus(whole(word))
    except ValueError:
        raise ValueError(f"status {word} is not one of -1 to 5") from None
