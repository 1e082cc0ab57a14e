"""Logs of failures: the failures of each node, and a law fitted to the times between them by
maximum likelihood.

scipy.stats is imported where it is used: it takes longer than most runs.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from attrs import frozen

from policies.availability import WorkerState
from sims.errors import InputError, unfit
from sims.readers.timeline import Timeline
from sims.readers.traces import FtaStates, NodeId, read_fta_trace

DOWN = WorkerState.DOWN
LEAST_GAPS = 10
"""Times between failures that a fit needs."""


@frozen
class FittedLaw:
    """A Weibull law of the times between failures of a node; of shape 1 it is exponential."""

    mtbf: float
    """Seconds."""
    shape: float
    gaps: int
    """Times between failures that were seen."""
    nodes: int
    """With failures: of each, the time from its last one to the platform's last event is seen in
    part."""
    log_mtbf: float
    """Seconds between the failures of a node, as the log counts them."""


@frozen
class FailureLog:
    """The failures of each node in a log."""

    nodes: dict[NodeId, tuple[tuple[float, float], ...]]
    """(start, end) of each failure of a node, in order, in seconds from the log's first failure on;
    what overlaps is one failure."""
    length: float
    """Seconds from the first failure to the last end."""
    mtbf: float
    """Seconds between the failures of a node: of each platform, its nodes x the time from its first
    failure to its last end; over all failures."""

    @property
    def failures(self) -> int:
        """How many there are, of all nodes."""
        return sum(map(len, self.nodes.values()))

    @property
    def down(self) -> float:
        """The part of the time for which a node is DOWN."""
        spent = sum(end - start for spans in self.nodes.values() for start, end in spans)
        return spent / (len(self.nodes) * self.length)

    @property
    def mean_length(self) -> float:
        """Seconds that a failure lasts."""
        return self.down * len(self.nodes) * self.length / self.failures


@cache
def read_failures(path: Path, platform: int | None, component: int | None) -> FailureLog:
    """Read a log of failures in FTA form, whose silence is UP.

    Raises InputError where the file is unreadable, and where no node fails.
    """
    nodes, ends = dict[NodeId, list[tuple[float, float]]](), dict[int, float]()
    for node, line in _of_platform(path, platform, component).items():
        ends[node.platform] = max(ends.get(node.platform, 0.0), line.end or 0.0)
        changes = (*line.changes, (line.end or 0.0, WorkerState.UP))
        nodes[node] = [(at, to) for (at, it), (to, _) in pairwise(changes) if it is DOWN]
    firsts = dict[int, float]()
    for node, spans in nodes.items():
        for start, _ in spans[:1]:
            firsts[node.platform] = min(firsts.get(node.platform, start), start)
    if not firsts:
        raise InputError(str(path), "", "no node fails", "a log of failures")
    first, last = min(firsts.values()), max(ends.values())
    seen = sum(ends[it.platform] - firsts[it.platform] for it in nodes if it.platform in firsts)
    shifted = {
        node: tuple((start - first, end - first) for start, end in spans)
        for node, spans in nodes.items()
    }
    return FailureLog(shifted, last - first, seen / sum(map(len, nodes.values())))


def _of_platform(path: Path, platform: int | None, component: int | None) -> dict[NodeId, Timeline]:
    """Return the timelines of a platform's nodes. Raises InputError where it has none."""
    lines = read_fta_trace(path, FtaStates(gap=WorkerState.UP), component=component)
    found = {node: it for node, it in lines.items() if platform in (None, node.platform)}
    if not found:
        known = ", ".join(map(str, dict.fromkeys(node.platform for node in lines)))
        raise unfit("faults.platform", f"{platform} is not in {path.name}", known)
    return found


@cache
def fit_failures(path: Path, law: str, platform: int | None, component: int | None) -> FittedLaw:
    """Fit `weibull` or `exponential` to the times from failure to failure of each node in a log in
    FTA form; the time from its last one to the end of its platform's log is censored.

    Nodes that never failed are unknown to such logs. Raises InputError where the file is
    unreadable, and where it has too few failures.
    """
    from scipy.stats import CensoredData, expon, weibull_min

    failures, ends = defaultdict[int, list[list[float]]](list), defaultdict[int, float](float)
    for node, line in _of_platform(path, platform, component).items():
        ends[node.platform] = max(ends[node.platform], line.end or 0.0)
        down = [time for time, state in line.changes if state is DOWN]
        failures[node.platform] += [down] if down else []
    each = [(times, ends[of]) for of, known in failures.items() for times in known]
    gaps = [after - before for times, _ in each for before, after in pairwise(times)]
    if len(gaps) < LEAST_GAPS:
        problem = f"{len(gaps)} times between failures of one node: too few to fit a law"
        raise InputError(str(path), "", problem, f"a log of failures with {LEAST_GAPS} or more")
    unit = fmean(gaps)  # whatever the log's times are: fits search near 1
    censored = [(end - times[-1]) / unit for times, end in each if times[-1] < end]
    family = weibull_min if law == "weibull" else expon
    found = family.fit(CensoredData([it / unit for it in gaps], right=censored), floc=0)
    shape = float(found[0]) if law == "weibull" else 1.0
    mean, log_mtbf = (
        float(family.mean(*found)) * unit,
        read_failures(path, platform, component).mtbf,
    )
    return FittedLaw(mean, shape, len(gaps), len(each), log_mtbf)
