"""What campaigns read: scenarios beside them, logs and traces that `--input` names, and platforms
of spot instances: real ones, by their traces, or chains that were fitted to such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import field, frozen
from numpy.random import Generator

import sims
from actors.runtime import stream
from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers import JobLog
from sims.readers.job_logs import read_swf
from sims.readers.spot import read_spot_trace, spot_folder, spot_groups, turned_to
from sims.readers.timeline import Timeline
from sims.scenario.availability import After, Letters, Markov
from sims.scenario.loader import parse, put
from sims.scenario.trace_files import Availability

SMALL = Path(str(sims.__file__)).parent / "scenarios" / "batch-small.swf"


@cache
def log_of(log: str) -> JobLog:
    """A log in SWF; without a name the small one that comes with Holdfast. Raises InputError."""
    return read_swf(Path(log or SMALL))


def base(name: str, own: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The table of a paper's file, such as `moldable21/base`, with dotted keys of one's own."""
    table = parse(Path(__file__).parent / f"{name}.toml")
    for key, value in (own or {}).items():
        put(table, key, value)
    return table


# --- spot instances ---------------------------------------------------------------------------

TICK = 5.0
"""Minutes of a tick of the fitted chains."""
DRAWS = 10_000
"""Starts that are tried."""


@frozen
class SpotPlatform:
    """Instances, by the letters of their traces, or by their chains where there is no trace."""

    name: str
    tick: float
    """Minutes."""
    traces: tuple[str, ...] = field(default=(), repr=False)
    chains: tuple[tuple[float, float], ...] = ()
    """Probabilities from tick to tick that an instance is lost, and that it comes back."""

    @property
    def size(self) -> int:
        """Instances."""
        return len(self.traces or self.chains)

    @property
    def mtbf(self) -> float:
        """Ticks that an instance is UP, on average, until it is lost."""
        if self.chains:
            up = [back / (lost + back) for lost, back in self.chains]
            return sum(up) / sum(u * lost for u, (lost, _) in zip(up, self.chains, strict=True))
        lost = sum(it.count("ud") for it in self.traces)
        return sum(it.count("u") for it in self.traces) / max(1, lost)

    def lives(self, trial: int, least: int, ticks: int) -> list[Availability]:
        """Each instance's availability over so many ticks (then the same again), from a start drawn
        by the trial at which at least so many instances are UP. Raises InputError where none is
        found."""
        rng = stream(trial, f"spot/{self.name}")
        for _ in range(DRAWS):
            start, up = self._drawn(rng)
            if sum(up) < least:
                continue
            if self.chains:
                return [_chain(*it) for it in zip(up, self.chains, strict=True)]
            turned = (turned_to(it, start)[:ticks] for it in self.traces)
            return [Letters(states=it, after=After.REPEAT) for it in turned]
        problem = f"{least} of {self.size} instances are hardly ever UP at once"
        raise InputError(self.name, "", problem, "traces of more instances")

    def _drawn(self, rng: Generator) -> tuple[int, list[bool]]:
        """A start in the traces, and which instances are UP there."""
        if self.chains:
            return 0, [rng.random() < back / (lost + back) for lost, back in self.chains]
        start = int(rng.integers(len(self.traces[0])))
        return start, [it[start % len(it)] == "u" for it in self.traces]


def _chain(up: bool, chain: tuple[float, float]) -> Availability:
    lost, back = chain
    rows = ((1 - lost, 0.0, lost), (1.0, 0.0, 0.0), (back, 0.0, 1 - back))
    return Markov(rows=rows, first=WorkerState.UP if up else WorkerState.DOWN)


@cache
def platforms(traces: str) -> Mapping[str, SpotPlatform]:
    """One platform for each folder of traces; without any, three zones of 4 instances, each a chain
    by itself. Raises InputError."""
    if not traces:
        zones = base("chains").values()
        chains = tuple((it["lost"], it["back"]) for it in zones for _ in range(4))
        found = [SpotPlatform("fitted chains", TICK, chains=chains)]
    else:
        found = [
            SpotPlatform(name, gap / 60, tuple(map(letters_of, nodes.values())))
            for name, gap, nodes in traced(Path(traces))
        ]
    return {it.name: it for it in found}


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
            nodes = {
                f"{zone}.{k}": node.slotted(gap)
                for zone, trace in zones.items()
                for k, node in enumerate(trace.nodes())
            }
            yield name, gap, nodes
