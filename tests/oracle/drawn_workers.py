"""Owners' letters and speeds of random workers."""

from __future__ import annotations

from random import Random

from tests.oracle.coincidences import pick

SWAPPED = str.maketrans("rd", "dr")


def owner_string(rng: Random, length: int) -> str:
    """One owner's letters, UP in the end; some have none."""
    if rng.random() < 0.15:
        return ""
    letters, state = "", "u" if rng.random() < 0.8 else rng.choice("rd")
    while len(letters) < length - 1:
        letters += state * (rng.randint(1, 8) if state == "u" else rng.randint(1, 5))
        if state == "u":
            state = rng.choice("rd")
        else:
            state = pick(rng, "u", 5, "d" if state == "r" else "r", 2)
    return letters[: length - 1] + "u"


def owner_strings(rng: Random, workers: int, together: bool) -> list[str]:
    """All owners' letters; `together`: some turn when the one before does."""
    length = rng.choice([21, 41, 61])
    strings = [owner_string(rng, length) for _ in range(workers)]
    if together:
        for k in range(1, workers):
            if rng.random() < 0.4 and strings[k - 1]:
                strings[k] = almost(rng, strings[k - 1])
    return strings


def almost(rng: Random, string: str) -> str:
    """The same transitions but for a few, perhaps to the other state."""
    letters = list(string)
    for k in range(len(letters) - 1):
        if rng.random() < 0.1:
            letters[k] = rng.choice("urd")
    changed = "".join(letters)
    return changed.translate(SWAPPED) if rng.random() < 0.3 else changed


def speed_lists(rng: Random, workers: int) -> list[list[list[int]]]:
    """(time, speed) of every worker; no last speed is 0."""
    return [speed_list(rng) for _ in range(workers)]


def speed_list(rng: Random) -> list[list[int]]:
    """One worker's."""
    changes = sorted(rng.sample(range(1, 60), rng.randint(0, 4)))
    speeds = [[0, rng.choice([1, 1, 2, 2, 4])]]
    speeds += [[time, pick(rng, 0, 1, 1, 3, 2, 3, 4, 2)] for time in changes]
    if speeds[-1][1] == 0:
        speeds[-1][1] = 1
    return speeds
