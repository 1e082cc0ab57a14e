"""SimGrid state profiles: when a host is switched off and on."""

from __future__ import annotations

import enum
from math import inf
from pathlib import Path

from attrs import define, field

from sims.errors import InputError
from sims.readers.files import finite, taken
from sims.readers.states import ProfileStates
from sims.readers.timeline import Change, Timeline

ACCEPTED = "`date value`, `LOOPAFTER seconds`, `PERIODICITY seconds`, or a # or % comment"


class Loop(enum.Enum):
    """How a profile says that it repeats."""

    LOOP_AFTER = "LOOPAFTER"
    """Seconds from the last event to the repetition's time 0."""
    PERIODICITY = "PERIODICITY"
    """Seconds from one time 0 to the next."""


@define
class _Profile:
    """What has been read so far."""

    events: list[Change] = field(factory=list)
    loop: tuple[Loop, float] | None = None


_DEFAULT_STATES = ProfileStates()


def read_simgrid_profile(path: Path, states: ProfileStates = _DEFAULT_STATES) -> Timeline:
    """Read a profile, plain or compressed; times in seconds.

    Before its first event a host is on. A repetition shifts the whole profile: its period is
    the last date plus LOOPAFTER, or PERIODICITY itself, and its own first event comes `first
    date` after its time 0, until when the last state lasts; so it repeats from the first date
    on. Without one, the last state lasts for ever. Of several events at one date the last
    holds. Raises InputError where the file is unreadable, a line is malformed (by number),
    dates are not in order, or the repetition is shorter than the profile.
    """
    profile = _Profile()
    for _ in taken(path, lambda line: _take(profile, line.split(), states), ACCEPTED, "#%"):
        pass
    if not profile.events:
        raise InputError(str(path), "", "no event", ACCEPTED)
    return _timeline(profile, states, path)


def _take(profile: _Profile, words: list[str], states: ProfileStates) -> None:
    if len(words) != 2:
        raise ValueError(f"{len(words)} words, not 2")
    for loop in Loop:
        if words[0] == loop.value:
            return _take_loop(profile, loop, words[1])
    date, value = finite(words[0]), finite(words[1])
    if date < (profile.events[-1][0] if profile.events else 0.0):
        raise ValueError(f"date {words[0]} comes before the one above it, or before 0")
    profile.events.append((date, states.of(value)))
    return None


def _take_loop(profile: _Profile, loop: Loop, word: str) -> None:
    seconds = finite(word)
    if profile.loop is not None:
        raise ValueError(f"{loop.value} after {profile.loop[0].value}: one repetition only")
    if seconds < 0:
        raise ValueError(f"{loop.value} {word} is negative")
    profile.loop = (loop, seconds)


def _timeline(profile: _Profile, states: ProfileStates, path: Path) -> Timeline:
    once = Timeline.of([(0.0, states.on), *profile.events])
    if profile.loop is None:
        return once
    first, last = profile.events[0][0], profile.events[-1][0]
    loop, seconds = profile.loop
    period = last + seconds if loop is Loop.LOOP_AFTER else seconds
    if not last <= period < inf or period == 0:
        problem = f"a repetition of {period:g} s for events up to {last:g} s"
        raise InputError(str(path), loop.value, problem, "a period that holds all events")
    # An event on the period's very end gives way to the repetition's first at the same instant.
    cycle = tuple(change for change in once.changes if change[0] < first + period)
    return Timeline(cycle, period=period, cycle_start=first)
