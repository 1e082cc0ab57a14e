"""What is drawn of random workers and platforms: owners' letters and speeds, and practitioners'
mechanisms: alone, in pairs and more."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.oracle.coincidences import pick

NODES, PLACEMENT, NOTICE, DETECTION = "nodes", "placement", "notice", "detection"
BEHIND, LEVELS, SPARES = "behind", "levels", "spares"
MECHANISMS = (NODES, PLACEMENT, NOTICE, DETECTION, BEHIND, LEVELS, SPARES)
"""As the cases are named."""

Practice = frozenset[str]


def draw_practice(rng: Random) -> Practice:
    """Which meet."""
    return frozenset(rng.sample(MECHANISMS, pick(rng, "mechanisms")))


def draw_practised(rng: Random, practice: Practice) -> str | None:
    """A job's protection: mostly one that they change."""
    kept = practice & {LEVELS, SPARES}
    drawn: str | None = pick(rng, "protection kept" if kept else "protection practised")
    return drawn


def practised_hazard(rng: Random, practice: Practice, hazard: str) -> str:
    """One in which they come to something."""
    if hazard in ("none", "silent", "speeds") or rng.random() < 0.5:
        hazard = pick(rng, "hazard practised")
    return "mixture" if NOTICE in practice and hazard == "faults" else hazard


def draw_platform(rng: Random, practice: Practice) -> dict[str, Any]:
    """Keys of the scenario."""
    said: dict[str, Any] = {}
    if practice & {NODES, PLACEMENT}:
        said["node"] = pick(rng, "node")
    if NODES in practice:
        said["faults_of"] = "nodes"
    if PLACEMENT in practice:
        said["placement"] = "nodes"
    if NOTICE in practice:
        said["notice"] = rng.choice([0, 1, 2, 2, 3, 4, 6])
    if DETECTION in practice:
        said["detection"] = rng.choice([0, 1, 2, 3, 5, 8])
    if SPARES in practice:
        said["spares"] = rng.choice([0, 1, 2])
    return said


def draw_practices(rng: Random, practice: Practice, protection: str | None) -> dict[str, Any]:
    """Keys of a job."""
    said: dict[str, Any] = {}
    if protection is None:
        return said
    if NOTICE in practice and rng.random() < 0.9:
        said["on_notice"] = "save"
    if BEHIND in practice and rng.random() < 0.9:
        said |= {"blocking": False, "slowdown": pick(rng, "slowdown")}
    if protection == "buddies":
        if LEVELS in practice and rng.random() < 0.9:
            said |= {"images_every": rng.choice([1, 1, 2, 3]), "image_cost": rng.choice(COSTS)}
        if SPARES in practice and rng.random() < 0.9:
            said["replace_after"] = rng.choice([0, 0, 1, 2, 3])
    return said


COSTS = (0, 0, 1, 2, 3)


# --- workers ------------------------------------------------------------------------------------

SWAPPED = str.maketrans("rd", "dr")


def owner_string(rng: Random, length: int) -> str:
    """One owner's letters, UP in the end; some have none."""
    if rng.random() < 0.15:
        return ""
    letters, state = "", "u" if rng.random() < 0.8 else rng.choice("rd")
    while len(letters) < length - 1:
        letters += state * (rng.randint(1, 8) if state == "u" else rng.randint(1, 5))
        state = rng.choice("rd") if state == "u" else pick(rng, f"after {state}")
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


def speed_list(rng: Random) -> list[list[int]]:
    """(time, speed) of one worker; the last speed is not 0."""
    changes = sorted(rng.sample(range(1, 60), rng.randint(0, 4)))
    speeds = [[0, rng.choice([1, 1, 2, 2, 4])]]
    speeds += [[time, pick(rng, "speed")] for time in changes]
    if speeds[-1][1] == 0:
        speeds[-1][1] = 1
    return speeds
