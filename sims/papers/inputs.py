"""Read the inputs of the papers' campaigns: base scenarios, logs and traces of `--input`, and
platforms of spot instances.

A platform of spot instances has their traces, or Markov chains that were fitted to traces.
"""

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
from sims.scenario.loader import parse
from sims.scenario.tables import put
from sims.scenario.trace_files import Availability

SMALL = Path(str(sims.__file__)).parent / "scenarios" / "batch-small.swf"


@cache
def log_of(log: str) -> JobLog:
    """Return the jobs of the log in SWF whose path is `log`; an empty path stands for the small log
    that comes with Holdfast.

    Raises InputError where the log cannot be read.
    """
    return read_swf(Path(log or SMALL))


def base(name: str, own: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a paper's scenario file, such as `moldable21/base`, as a table in which the dotted
    keys in `own` have these values."""
    table = parse(Path(__file__).parent / f"{name}.toml")
    for key, value in (own or {}).items():
        put(table, key, value)
    return table


# --- spot instances ---------------------------------------------------------------------------

TICK = 5.0
"""Length of a tick of the fitted chains, in minutes."""
DRAWS = 10_000
"""Largest number of starts that are drawn in search of one with enough instances UP."""


@frozen
class SpotPlatform:
    """A platform of spot instances, whose availability is given by traces (letters u, r, d) or by a
    Markov chain for each instance."""

    name: str
    tick: float
    """Length of a tick, in minutes."""
    traces: tuple[str, ...] = field(default=(), repr=False)
    """A state, u or d, for each tick, for each instance."""
    chains: tuple[tuple[float, float], ...] = ()
    """Probabilities, for each instance, of being lost and of coming back from one tick to the
    next."""

    @property
    def size(self) -> int:
        """Number of instances."""
        return len(self.traces or self.chains)

    @property
    def mtbf(self) -> float:
        """Mean number of ticks for which an instance is UP until it is lost: ticks UP over losses,
        over all instances."""
        if self.chains:
            up = [back / (lost + back) for lost, back in self.chains]
            return sum(up) / sum(u * lost for u, (lost, _) in zip(up, self.chains, strict=True))
        lost = sum(it.count("ud") for it in self.traces)
        return sum(it.count("u") for it in self.traces) / max(1, lost)

    def lives(self, trial: int, least: int, ticks: int) -> list[Availability]:
        """Return the availability of each instance in trial number `trial`, as a scenario has it.

        A trial begins at a random tick at which at least `least` instances are UP. Of each trace
        the scenario has the `ticks` ticks from there on, which repeat for ever; chains begin in a
        random state and need no `ticks`. Raises InputError where DRAWS ticks are drawn in vain.
        """
        rng = stream(trial, f"spot/{self.name}")
        for _ in range(DRAWS):
            start, up = self._drawn(rng)
            if sum(up) < least:
                continue
            if self.chains:
                return [_chain(*it) for it in zip(up, self.chains, strict=True)]
            rotated = (turned_to(it, start)[:ticks] for it in self.traces)
            return [Letters(states=it, after=After.REPEAT) for it in rotated]
        problem = f"{least} of {self.size} instances are hardly ever UP at once"
        raise InputError(self.name, "", problem, "traces of more instances")

    def _drawn(self, rng: Generator) -> tuple[int, list[bool]]:
        """Return a random tick at which a trial begins, and for each instance whether it is UP
        then.

        Chains have no ticks: theirs is 0, and their states follow their stationary law.
        """
        if self.chains:
            return 0, [rng.random() < back / (lost + back) for lost, back in self.chains]
        start = int(rng.integers(len(self.traces[0])))
        return start, [it[start % len(it)] == "u" for it in self.traces]


def _chain(up: bool, chain: tuple[float, float]) -> Availability:
    """Return the availability of an instance that begins UP, or DOWN if `up` is false, as a
    scenario has it.

    `chain` has the probabilities of being lost and of coming back from one tick to the next.
    """
    lost, back = chain
    rows = ((1 - lost, 0.0, lost), (1.0, 0.0, 0.0), (back, 0.0, 1 - back))
    return Markov(rows=rows, first=WorkerState.UP if up else WorkerState.DOWN)


@cache
def platforms(traces: str) -> Mapping[str, SpotPlatform]:
    """Return the platforms of spot instances by name, one for each folder of traces in the folder
    or archive at the path `traces`.

    For an empty path, there is one platform of three zones of 4 instances; the instances of a zone
    have the same chain, fitted to real ones. Raises InputError where the traces cannot be read.
    """
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
    """Return a timeline in slots as a string of u, r or d."""
    return "".join(state.value for state in slots.slots())


def traced(path: Path) -> Iterator[tuple[str, float, dict[str, Timeline]]]:
    """Yield for each folder of traces in the folder or archive at `path` its name, the seconds of a
    tick, and its instances by name, as timelines in ticks.

    The tick is the shortest of the folder's traces. Raises InputError where the traces cannot be
    read.
    """
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
