"""Platforms of spot instances: real ones, by their traces, or chains that were fitted to such."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import field, frozen
from numpy.random import Generator

from actors.runtime import stream
from policies.availability import WorkerState
from sims.readers.spot import read_spot_trace
from sims.readers.spot_folders import spot_folder, spot_groups, turned_to
from sims.scenario.availability import After, Availability, Letters, Markov

FITS = {
    "us-east-1f": (0.0393, 0.0204),
    "us-east-2a": (0.0048, 0.0113),
    "us-west-2c": (0.0193, 0.087),
}
"""Probabilities from tick to tick that an instance is lost, and that it comes back: chains fitted
to three zones of 4 instances in August 2023."""
TICK = 5.0
"""Minutes of such a tick."""


@frozen
class Platform:
    """Instances, by the letters of their traces, or by their chains where there is no trace."""

    name: str
    tick: float
    """Minutes."""
    traces: tuple[str, ...] = field(default=(), repr=False)
    chains: tuple[tuple[float, float], ...] = ()

    @property
    def size(self) -> int:
        """Instances."""
        return len(self.traces or self.chains)

    @property
    def mtbf(self) -> float:
        """Ticks that an instance is UP, on average, until it is lost."""
        if self.chains:
            back = [up / (lost + up) for lost, up in self.chains]
            return sum(back) / sum(b * lost for b, (lost, _) in zip(back, self.chains, strict=True))
        return sum(it.count("u") for it in self.traces) / sum(it.count("ud") for it in self.traces)

    def lives(self, trial: int, least: int, ticks: int) -> list[Availability]:
        """Each instance's availability over so many ticks (then the same again), from a start drawn
        by the trial at which at least so many instances are UP."""
        rng = stream(trial, f"spot/{self.name}")
        while True:
            drawn = self._chained(rng) if self.chains else self._cut(rng, ticks)
            if sum(first == "u" for first, _ in drawn) >= least:
                return [life for _, life in drawn]

    def _cut(self, rng: Generator, ticks: int) -> list[tuple[str, Availability]]:
        start = int(rng.integers(len(self.traces[0])))
        turned = [turned_to(letters, start)[:ticks] for letters in self.traces]
        return [(it[0], Letters(states=it, then=After.REPEAT)) for it in turned]

    def _chained(self, rng: Generator) -> list[tuple[str, Availability]]:
        return [
            _chain(rng.random() < back / (lost + back), lost, back) for lost, back in self.chains
        ]


def _chain(up: bool, lost: float, back: float) -> tuple[str, Availability]:
    rows = ((1 - lost, 0.0, lost), (1.0, 0.0, 0.0), (back, 0.0, 1 - back))
    first = WorkerState.UP if up else WorkerState.DOWN
    return first.value, Markov(rows=rows, first=first)


def fitted() -> Platform:
    """Three zones of 4 instances, each a chain by itself."""
    chains = tuple(chain for chain in FITS.values() for _ in range(4))
    return Platform("fitted chains", TICK, chains=chains)


def real(path: Path) -> Iterator[Platform]:
    """One platform for each folder of traces. Raises InputError."""
    with spot_folder(path) as folder:
        for name, files in spot_groups(folder):
            zones = [read_spot_trace(file) for file in files]
            gap = zones[0].gap_seconds
            nodes = (node.slotted(gap) for zone in zones for node in zone.nodes())
            letters = tuple("".join(it.value for it in node.slots()) for node in nodes)
            yield Platform(name, gap / 60, letters)
