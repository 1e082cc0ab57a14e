"""Availability as letters: `uurrdu`, one per slot, as scenarios write it."""

from __future__ import annotations

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.timeline import Timeline

STATES = {state.value: state for state in WorkerState}


def read_letters(letters: str, source: str, key: str) -> Timeline:
    """One state per slot of length 1 (u UP, r RECLAIMED, d DOWN), known as far as it goes.

    `source` and `key` say where the letters stand. Raises InputError for no letter at all and
    for any other character, which it names with its place (from 0).
    """
    accepted = "a string of u (UP), r (RECLAIMED) and d (DOWN), one per slot"
    if not letters:
        raise InputError(source, key, "no slot", accepted)
    for slot, letter in enumerate(letters):
        if letter not in STATES:
            raise InputError(source, key, f"{letter!r} for slot {slot} is no state", accepted)
    return Timeline.of_slots([STATES[letter] for letter in letters])
