"""Small scenarios that processes carry out in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sims.scenario import Scenario
from sims.scenario.loader import read

RIGID = {"kind": "rigid", "jobs": [{"processors": 3, "time": 10}, {"processors": 1, "time": 8}]}
STRIKES = {"kind": "list", "downtime": 4, "strikes": [[6.1, 0], [7.3, 1]]}
BUDDIES = {"kind": "buddies", "period": 2, "cost": 0.5, "recovery": 1}
TWO_BUDDIES = {**STRIKES, "strikes": [[9.1, 0], [9.3, 1]]}
FREE = {"scale": 0.15, "pace": "free"}
LIVE = {"scale": 0.15, "pace": 0.05, "patience": 60, "tolerance": 0.05}

MECHANISMS: dict[str, dict[str, Any]] = {
    "images at the master": {
        "platform": {"workers": 4},
        "faults": STRIKES,
        "master": {"channels": 2, "program": 1, "data": 1, "image": 1},
        "protection": {"kind": "images", "period": 2},
        "job": RIGID,
    },
    "buddies and a spare": {
        "platform": {"workers": 5, "spares": 1},
        "faults": {**STRIKES, "strikes": [[6.1, 0]], "downtime": 8},
        "protection": {
            "kind": "buddies",
            "period": 2,
            "cost": 0.5,
            "recovery": 1,
            "replace_after": 2,
        },
        "job": RIGID,
    },
    "two levels, of which the master keeps the second": {
        "platform": {"workers": 4},
        "faults": TWO_BUDDIES,
        "master": {"channels": 2, "program": 1, "image": 0.5},
        "protection": {**BUDDIES, "images_every": 2},
        "job": RIGID,
    },
    "copies with cloning": {
        "platform": {"workers": 4},
        "faults": STRIKES,
        "protection": {"copies": 2, "cloning": True, "delay": 1},
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 12}]},
    },
    "enrolment by a master": {
        "random_workers": {"count": 5, "fastest": 2, "seed": 7},
        "master": {"channels": 2, "program": 2, "data": 1},
        "job": {"kind": "iterative", "tasks": 3, "iterations": 2, "cap": 1000},
        "policy": {"name": "IE"},
    },
    "owners take workers back": {
        "platform": {"workers": 2},
        "reclaims": [[3, 7, 0], [5, 6, 1]],
        "job": {"kind": "rigid", "jobs": [{"processors": 2, "time": 10}]},
    },
}

UNPACED: dict[str, dict[str, Any]] = {
    "images that do not block": {
        "platform": {"workers": 4},
        "faults": STRIKES,
        "master": {"channels": 2, "program": 1, "data": 1, "image": 1},
        "protection": {"kind": "images", "period": 2, "blocking": False, "slowdown": 0.1},
        "job": RIGID,
    },
    "saves of all at once that do not block": {
        "platform": {"workers": 4},
        "faults": STRIKES,
        "protection": {"kind": "images", "period": 2, "cost": 1, "blocking": False},
        "job": RIGID,
    },
    "two levels beside the work": {
        "platform": {"workers": 4},
        "faults": TWO_BUDDIES,
        "protection": {**BUDDIES, "images_every": 2, "image_cost": 0.5, "blocking": False},
        "job": RIGID,
    },
}
"""Mechanisms that have no pace."""


def scenario(mechanism: str, seed: int = 1, **sections: Any) -> Scenario:
    """One of them."""
    table = {
        "name": "live",
        "seed": seed,
        "live": LIVE,
        **(MECHANISMS | UNPACED)[mechanism],
        **sections,
    }
    return read(table, "scenario", Path())
