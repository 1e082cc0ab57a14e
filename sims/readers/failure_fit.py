"""Laws of failures, fitted to logs of failures by maximum likelihood."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from attrs import frozen

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.fta import read_fta_trace
from sims.readers.states import FtaStates

LEAST = 10
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


@cache
def fit_failures(path: Path, law: str, platform: int | None, component: int | None) -> FittedLaw:
    """Fit `weibull` or `exponential` to the times from failure to failure of each node in a log in
    FTA form; the time from its last one to the end of its platform's log is censored.

    Nodes that never failed are unknown to such logs. Raises InputError where the file is
    unreadable, and where it has too few failures.
    """
    from scipy.stats import CensoredData, expon, weibull_min

    failures, ends = defaultdict[int, list[list[float]]](list), defaultdict[int, float](float)
    timelines = read_fta_trace(path, FtaStates(gap=WorkerState.UP), component=component)
    for node, line in timelines.items():
        if platform in (None, node.platform):
            ends[node.platform] = max(ends[node.platform], line.end or 0.0)
            down = [time for time, state in line.changes if state is WorkerState.DOWN]
            failures[node.platform] += [down] if down else []
    each = [(times, ends[of]) for of, known in failures.items() for times in known]
    gaps = [after - before for times, _ in each for before, after in pairwise(times)]
    if len(gaps) < LEAST:
        problem = f"{len(gaps)} times between failures of one node: too few to fit a law"
        raise InputError(str(path), "", problem, f"a log of failures with {LEAST} or more")
    unit = fmean(gaps)  # whatever the log's times are: fits search near 1
    censored = [(end - times[-1]) / unit for times, end in each if times[-1] < end]
    family = weibull_min if law == "weibull" else expon
    found = family.fit(CensoredData([it / unit for it in gaps], right=censored), floc=0)
    shape = float(found[0]) if law == "weibull" else 1.0
    return FittedLaw(float(family.mean(*found)) * unit, shape, len(gaps), len(each))
