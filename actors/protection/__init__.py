"""Protections: what the next run begins from, what a loss destroys and what a failure costs.

They know nothing of queues and platforms (WORLD.md, P).
"""

from __future__ import annotations

from actors.events import ProtectionKind
from actors.protection.buddies import Buddies
from actors.protection.rules import Images, Protection, ReExecution, Rules

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
    """The state of one job's protection, nothing saved yet."""
    return PROTECTIONS[rules.kind](rules)
