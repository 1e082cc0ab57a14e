"""Sections of other kinds of job: what makes no sense together is refused, with the reason."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from sims.errors import InputError

POOL = {
    "master": "attempts need neither program nor data (001, 000)",
    "workers": "identical processors are one pool, [platform], and fail as [faults] says",
    "random_workers": "identical processors are one pool, [platform], and fail as [faults] says",
    "link": "attempts exchange no data (001, 000)",
    "checkpoint": "an attempt is run whole, and saves nothing (001, section 3.2)",
    "checkpoints": "an attempt is run whole, and saves nothing (001, section 3.2)",
    "servers": "identical processors of constant speed are one pool, [platform]",
}

REASONS: dict[str, dict[str, str]] = {
    "iterative": {
        "platform": "workers differ, and are described one by one: [[workers]], [random_workers]",
        "faults": "each worker's availability says when it is DOWN",
        "link": "data comes from the master (002, III.C): [master]",
        "checkpoint": "an iteration saves nothing before its end (002, III.A)",
        "checkpoints": "an iteration saves nothing before its end (002, III.A)",
        "servers": "workers differ, and are described one by one: [[workers]], [random_workers]",
    },
    "rigid": POOL,
    "moldable": POOL,
    "malleable": {
        "platform": "the pack names its processors itself: job.processors",
        "workers": "processors are identical (job.processors), and fail as [faults] says",
        "random_workers": "processors are identical (job.processors), and fail as [faults] says",
        "master": "processors exchange data among themselves, over [link] (003, 3.3)",
        "failures": "a fault is noticed when it strikes (003, 3.1): [faults]",
        "checkpoint": "buddies hold each other's checkpoints: [checkpoints]",
        "servers": "processors are identical (job.processors) and of constant speed",
    },
    "redundant": {
        "platform": "servers have speeds that vary: [servers]",
        "workers": "servers have one law of speed: [servers]",
        "random_workers": "servers have one law of speed: [servers]",
        "master": "copies need neither program nor data (004, III.A)",
        "link": "what a checkpoint costs is [checkpoint]",
        "checkpoints": "what a checkpoint costs is [checkpoint]",
        "faults": "servers fail as [servers.failures] says",
        "failures": "servers fail as [servers.failures] says; results are sound (004, III.A)",
    },
}
"""Kind of job -> section that it has not -> why, and what it has in its place."""


def refuse_foreign(kind: str, table: Mapping[str, object], scenario: type) -> None:
    """Raises InputError where `table` has a section of another kind."""
    known = [field.name for field in attrs.fields(scenario)]
    for key, why in REASONS[kind].items():
        if key in table and key not in known:
            raise InputError("scenario", key, f"{kind} jobs have none: {why}", ", ".join(known))
