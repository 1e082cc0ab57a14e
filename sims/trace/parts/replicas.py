"""Words for replicas that drop out of a run, load the state and rejoin."""

from __future__ import annotations

from collections.abc import Iterator

from actors.events import (
    PauseEnded,
    ReplicaLoads,
    ReplicasDropped,
    ReplicasRejoined,
    RunPaused,
)
from sims.history.summary import Repairs
from sims.telling import amount_of, counted, in_units
from sims.trace.parts.about import Words

WORDS: Words = {
    ReplicasDropped: lambda it, _: (
        f"workers {it.processors} drop out: {counted(it.left, 'replica')} left"
    ),
    RunPaused: lambda it, about: (
        f"pauses for {in_units(it.length, about.started.unit)}"
        + (f", after which workers {it.rejoining} rejoin" if it.rejoining else "")
    ),
    PauseEnded: lambda _, __: None,
    ReplicaLoads: lambda it, _: (
        f"workers {it.processors} load the state: {amount_of(it.left, 6)} bytes left, "
        + (f"at {amount_of(it.bandwidth, 4)}" if it.bandwidth else "waiting for a member")
    ),
    ReplicasRejoined: lambda it, _: (
        f"workers {it.processors} rejoin: {counted(it.left, 'replica')} now"
    ),
}


def rows(repairs: Repairs) -> Iterator[tuple[str, str]]:
    """Yield how many times replicas dropped out and rejoined, if any did."""
    if repairs.drops:
        clauses = (f"{how} {counted(it, 'time')}" for how, it in repairs.drops.items())
        yield "replicas", ", ".join(clauses)
