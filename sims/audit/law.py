"""Defines the laws of a log, and compares a line with the one that must come."""

from __future__ import annotations

import enum
from collections.abc import Collection, Generator
from functools import partial
from math import isclose
from typing import Any

import attrs
from attrs import frozen

from actors.events import EndExpected, FaultDetected
from actors.runtime import Event

ROUNDING = 1e-9
"""Relative tolerance: sums of the same numbers in another order differ by less, other numbers by
more."""


IMMEDIATE = (EndExpected,)
"""Event classes that may come before other lines of their job that are due at the same instant."""
REVEALED = (FaultDetected,)
"""Event classes for which a job's next script is not begun: an owner can cause them without a line
of its own, before all that the job does about other changes of the instant."""


class Law(enum.Enum):
    """The laws that a log has to obey."""

    SCHEMA = "a line holds the fields of its kind of event, each of its type, and no others"
    ORDER = "events are numbered in order, time does not run backwards, causes come before effects"
    FRAME = "a log begins with its scenario and ends once, after everything else"
    END = "the log of a run that has ended has an end"
    INPUT = "what comes from outside of the world describes a world that can be"
    FOLLOWS = "what happens follows, by the world's rules, from what was before"
    MISSING = "what must happen by the world's rules is logged"
    CAUSE = "an event is caused by that without which it would not have happened"
    DECISION = "what is decided can be carried out in the state of its instant"


class LinePhase(enum.IntEnum):
    """Phases of an instant, in the order in which they happen (rules.md, One instant)."""

    MESSAGES = 0
    PARTS = 1
    RUNS = 2
    LIMITS = 3
    STATES = 4
    RESUME = 5
    DECISION = 6


@frozen
class Violation:
    """One violation of a law by a log."""

    law: Law
    events: tuple[int, ...]
    """Sequence numbers of the events that show the violation."""
    why: str
    """Explanation, with the numbers."""

    def __str__(self) -> str:
        events = ", ".join(f"#{seq}" for seq in self.events)
        return f"{self.law.name}: {self.why} ({events}); law: {self.law.value}"


class Broken(Exception):
    """Raised where the present line, or a line missing before it, breaks a law."""

    def __init__(self, law: Law, why: str) -> None:
        super().__init__(why)
        self.law, self.why = law, why


Causes = int | Collection[int]
"""The one cause that an event can have, or all causes that it may have."""


def must(law: Law, holds: Any, why: str = "that cannot be", *about: object) -> Any:
    """Return `holds`, or raise Broken if it is false.

    `about` fills the gaps {} in `why`, only when needed: formatting a text for each line would cost
    more than the rest of the audit.
    """
    if not holds:
        raise Broken(law, why.format(*about))
    return holds


framed, ordered = partial(must, Law.FRAME), partial(must, Law.ORDER)
possible, follows = partial(must, Law.INPUT), partial(must, Law.FOLLOWS)
comes, allowed = partial(must, Law.MISSING), partial(must, Law.DECISION)
readable = partial(must, Law.SCHEMA)
"""Checks named by the law that is broken if they fail."""


def only(event: Event, causes: Causes) -> Generator[Any, Any, Any]:
    """Return a script (a generator that yields the line that must come) of one line: exactly this
    event, with one of these causes."""
    yield event, causes


def coming(kind: type[Event], job: str) -> Generator[Any, Any, Any]:
    """Receive the next line, which must be an event of class `kind` about the job called `job`, and
    return it; used in scripts by `yield from`.

    Its contents are an input: nothing in the state decides them. Raises Broken for another class.
    """
    event = yield None
    comes(isinstance(event, kind), "{} of {} must come", kind.__name__, job)
    return event


def amounts(event: Event) -> None:
    """Check that none of the event's numbers is negative. Raises Broken if one is."""
    numbers = (it for it in attrs.astuple(event, recurse=False) if isinstance(it, float | int))
    possible(all(it >= 0 for it in numbers), "there is less than nothing")


def same(found: Any, expected: Any) -> bool:
    """Return whether two values are equal but for rounding: numbers within a relative and absolute
    1e-9, tuples element by element, anything else exactly."""
    if found == expected:
        return True
    if isinstance(found, float | int) and isinstance(expected, float | int):
        return isclose(found, expected, rel_tol=ROUNDING, abs_tol=ROUNDING)
    if isinstance(found, tuple) and isinstance(expected, tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    return False


def check(found: Event, expected: Event, cause: int | None, causes: Causes) -> None:
    """Compare a line, `found` with its `cause`, with the expected one: their classes, the contents
    but for rounding, and whether the cause is one of `causes`. Raises Broken where they differ."""
    # Equal lines are by far the most: they need no look at each field.
    if found != expected:
        if type(found) is not type(expected):
            raise Broken(Law.FOLLOWS, f"{as_text(expected)} must come now")
        for name in attrs.fields_dict(type(found)):
            was, due = getattr(found, name), getattr(expected, name)
            if not same(was, due):
                raise Broken(Law.FOLLOWS, f"{name} must be {_word(due)}")
    if cause != causes and (isinstance(causes, int) or cause not in causes):
        may = f"#{causes}" if isinstance(causes, int) else _any_of(causes)
        raise Broken(Law.CAUSE, f"it is caused by {may}, not by #{cause}")


def _any_of(causes: Collection[int]) -> str:
    return " or ".join(f"#{it}" for it in sorted(set(causes))) or "nothing that has happened"


def as_text(event: Event) -> str:
    """Return the event as a text with the field names and values of a log."""
    values = attrs.asdict(event, recurse=False).items()
    return f"{type(event).__name__}({', '.join(f'{k}={_word(v)}' for k, v in values)})"


def _word(value: object) -> str:
    return str(value.value) if isinstance(value, enum.Enum) else repr(value)


def fits(expected: Any, event: Any) -> bool:
    """Return whether the line `event` can be the expected one: it is of the same class; of the same
    worker if it detects a fault; and, if a run is expected that keeps the members of another, such
    a run too.

    More is not compared: one emitter has no two lines at an instant that only other fields tell
    apart.
    """
    if expected.__class__ is not event.__class__:
        return False
    if isinstance(event, FaultDetected):
        return expected.worker == event.worker  # type: ignore[no-any-return]
    keeps = getattr(expected, "keeps", None)
    return keeps is None or getattr(event, "keeps", None) is not None
