"""Protections answer what a job's next run begins from, how it takes checkpoints, what a loss
destroys and what a failure costs (rules.md, P). They know nothing of queues and platforms.

`rules.py` holds what a scenario says of a job's protection, `plan.py` what follows from it for one
run, `saving.py` how checkpoints are taken, `cloning.py` what a new copy begins from; the three
protections are in `protection.py`, `images.py` and `buddies.py`.
"""

from __future__ import annotations

from actors.events import ProtectionKind
from actors.protection.buddies import Buddies
from actors.protection.images import Images
from actors.protection.protection import Protection, ReExecution
from actors.protection.rules import Rules

__all__ = [
    "Buddies",
    "Images",
    "Protection",
    "ProtectionKind",
    "ReExecution",
    "Rules",
    "protection",
]

PROTECTIONS: dict[ProtectionKind, type[Protection]] = {
    ProtectionKind.NONE: ReExecution,
    ProtectionKind.BUDDIES: Buddies,
    ProtectionKind.IMAGES: Images,
}


def protection(rules: Rules) -> Protection:
    """Return one job's protection, which has saved nothing yet."""
    return PROTECTIONS[rules.kind](rules)
