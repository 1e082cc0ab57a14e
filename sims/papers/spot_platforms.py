"""Platforms of spot instances: real ones, by their traces, or chains that were fitted to such."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from attrs import field, frozen
from numpy.random import Generator

from actors.runtime import stream
from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.spot import read_spot_trace, spot_folder, spot_groups, turned_to
from sims.readers.timeline import Timeline
from sims.scenario.availability import After, Letters, Markov
from sims.scenario.trace_files import Availability

FITS = {
    "us-east-1f": (0.0393, 0.0204),
    "us-east-2a": (0.0048, 0.0113),
    "us-west-2c": (0.0193, 0.087),
}
"""Probabilities from tick to tick that an instance is lost, and that it comes back: chains fitted
to three zones of 4 instances in August 2023."""
TICK = 5.0
"""Minutes of such a tick."""


DRAWS = 10_000
"""Starts that are tried."""

Drawn = tuple[bool, Callable[[], Availability]]
"""Whether an instance is UP at a start, and its availability from there on."""


@frozen
class SpotPlatform:
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
        lost = sum(it.count("ud") for it in self.traces)
        return sum(it.count("u") for it in self.traces) / max(1, lost)

    def lives(self, trial: int, least: int, ticks: int) -> list[Availability]:
        """Each instance's availability over so many ticks (then the same again), from a start drawn
        by the trial at which at least so many instances are UP. Raises InputError where none is
        found."""
        rng = stream(trial, f"spot/{self.name}")
        for _ in range(DRAWS):
            drawn = self._chained(rng) if self.chains else self._cut(rng, ticks)
            if sum(up for up, _ in drawn) >= least:
                return [life() for _, life in drawn]
        problem = f"{least} of {self.size} instances are hardly ever UP at once"
        raise InputError(self.name, "", problem, "traces of more instances")

    def _cut(self, rng: Generator, ticks: int) -> list[Drawn]:
        start = int(rng.integers(len(self.traces[0])))
        return [
            (it[start % len(it)] == "u", partial(_letters, it, start, ticks)) for it in self.traces
        ]

    def _chained(self, rng: Generator) -> list[Drawn]:
        drawn = [rng.random() < back / (lost + back) for lost, back in self.chains]
        return [
            (up, partial(_chain, up, *chain)) for up, chain in zip(drawn, self.chains, strict=True)
        ]


def _letters(letters: str, start: int, ticks: int) -> Availability:
    return Letters(states=turned_to(letters, start)[:ticks], after=After.REPEAT)


def _chain(up: bool, lost: float, back: float) -> Availability:
    rows = ((1 - lost, 0.0, lost), (1.0, 0.0, 0.0), (back, 0.0, 1 - back))
    return Markov(rows=rows, first=WorkerState.UP if up else WorkerState.DOWN)


def fitted() -> SpotPlatform:
    """Three zones of 4 instances, each a chain by itself."""
    chains = tuple(chain for chain in FITS.values() for _ in range(4))
    return SpotPlatform("fitted chains", TICK, chains=chains)


def real(path: Path) -> Iterator[SpotPlatform]:
    """One platform for each folder of traces. Raises InputError."""
    for name, gap, nodes in traced(path):
        yield SpotPlatform(name, gap / 60, tuple(map(letters_of, nodes.values())))


def letters_of(slots: Timeline) -> str:
    """u, r or d in each slot."""
    return "".join(state.value for state in slots.slots())


def traced(path: Path) -> Iterator[tuple[str, float, dict[str, Timeline]]]:
    """Of each folder of traces: its name, the seconds of a tick, and its instances in slots, by
    name. Raises InputError."""
    with spot_folder(path) as folder:
        for name, files in spot_groups(folder):
            zones = {file.stem: read_spot_trace(file) for file in files}
            gap = min(it.gap_seconds for it in zones.values())
            nodes = ((zone, enumerate(trace.nodes())) for zone, trace in zones.items())
            yield (
                name,
                gap,
                {f"{zone}.{k}": node.slotted(gap) for zone, own in nodes for k, node in own},
            )
