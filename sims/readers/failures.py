"""Read logs of failures and fit laws to the times between the failures of a node by maximum
likelihood.

scipy.stats is imported inside the functions that use it: the import takes longer than most runs.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from attrs import frozen

from sims.errors import InputError, unfit
from sims.readers.trace_states import NodeId
from sims.readers.traces import read_fta_events

LEAST_GAPS = 10
"""Smallest number of times between failures from which a law is fitted."""


@frozen
class FittedLaw:
    """A Weibull law fitted to the times between the failures of a node; with shape 1 it is
    exponential."""

    mtbf: float
    """Mean of the fitted law, in seconds."""
    shape: float
    gaps: int
    """Number of times between failures that the fit uses."""
    nodes: int
    """Number of nodes that fail. For each of them the time from its last failure to the end of its
    platform's last event enters the fit as censored."""
    log_mtbf: float
    """Mean time between the failures of a node as counted in the log (`FailureLog.mtbf`), in
    seconds."""


@frozen
class FailureLog:
    """The failures of each node in a log of failures, as spans of DOWN."""

    nodes: dict[NodeId, tuple[tuple[float, float], ...]]
    """Maps each node to the (start, end) of its failures in order, in seconds from the log's first
    failure; overlapping failures of a node are merged into one."""
    length: float
    """Seconds from the first failure to the end of the log's last event."""
    mtbf: float
    """Mean time between the failures of a node, in seconds: the nodes of each platform times the
    seconds from the platform's first failure to the end of its last event, summed over the
    platforms and divided by the number of failures."""

    @property
    def failures(self) -> int:
        """Number of failures of all nodes."""
        return sum(map(len, self.nodes.values()))

    @property
    def replayed_mtbf(self) -> float:
        """Mean time between the failures of a node over the whole log, in seconds.

        It exceeds `mtbf` where platforms are observed at different times: a window of the log finds
        a node of one without failures while only another one is observed.
        """
        return len(self.nodes) * self.length / self.failures

    @property
    def down(self) -> float:
        """Share of time for which a node is DOWN, from 0 to 1."""
        failed = sum(end - start for failures in self.nodes.values() for start, end in failures)
        return failed / (len(self.nodes) * self.length)

    @property
    def mean_length(self) -> float:
        """Mean duration of a failure, in seconds."""
        return self.down * len(self.nodes) * self.length / self.failures


@cache
def read_failures(path: Path, platform: int | None, component: int | None) -> FailureLog:
    """Read the failures of each node from a log in the format of the Failure Trace Archive.

    A node is UP wherever the log has no event for it. Only events whose platform_id is `platform`
    and whose component_id is `component` are read; None stands for all platforms, or for all
    components. Raises InputError where the file cannot be read, where no node belongs to
    `platform`, and where no node fails.
    """
    nodes, windows = _failures(path, platform, component)
    ends = {platform: end for platform, (_, end) in windows.items()}
    firsts = dict[int, float]()
    for node, spans in nodes.items():
        for start, _ in spans[:1]:
            firsts[node.platform] = min(firsts.get(node.platform, start), start)
    if not firsts:
        raise InputError(str(path), "", "no node fails", "a log of failures")
    first, last = min(firsts.values()), max(ends.values())
    seen = sum(
        ends[node.platform] - firsts[node.platform] for node in nodes if node.platform in firsts
    )
    shifted = {
        node: tuple((start - first, end - first) for start, end in spans)
        for node, spans in nodes.items()
    }
    return FailureLog(shifted, last - first, seen / sum(map(len, nodes.values())))


@frozen
class ObservedNode:
    """How often a node of a log failed, and how long it was watched."""

    node: NodeId
    failures: int
    up: float
    """Seconds from its platform's first event to the end of the last, but for its failures."""


def observed(
    path: Path, platform: int | None, component: int | None
) -> tuple[list[ObservedNode], dict[int, tuple[float, float]]]:
    """Return how often each node of a log failed, and (start, end) of each platform's events, in
    seconds of the log; the parameters are those of `read_failures`.

    Raises InputError where the file cannot be read, where no node belongs to `platform`, and where
    no node fails, or one is never UP.
    """
    nodes, windows = _failures(path, platform, component)
    found = []
    for node, spans in nodes.items():
        begin, end = windows[node.platform]
        up = end - begin - sum(until - since for since, until in spans)
        if up <= 0:
            problem = f"node {node.node} is never UP"
            raise InputError(str(path), "", problem, "nodes that are watched for some time")
        found.append(ObservedNode(node, len(spans), up))
    if not any(it.failures for it in found):
        raise InputError(str(path), "", "no node fails", "a log of failures")
    return found, windows


def _failures(
    path: Path, platform: int | None, component: int | None
) -> tuple[dict[NodeId, list[tuple[float, float]]], dict[int, tuple[float, float]]]:
    """Return the failures of a log and the times of its platforms' events, in seconds of the log. A
    failure that lasts no time is one, too.

    The first value maps each node to the (start, end) of its failures in order; a node without
    failures has an empty list. The second maps each platform to the start of its first event and
    the end of its last one. `platform` and `component` are those of `read_failures`. Raises
    InputError where the platform has no node.
    """
    nodes, windows = dict[NodeId, list[tuple[float, float]]](), dict[int, tuple[float, float]]()
    platforms = dict[int, None]()
    for event in read_fta_events(path, component):
        platforms[event.node.platform] = None
        if platform not in (None, event.node.platform):
            continue
        first, last = windows.get(event.node.platform, (event.start, event.stop))
        windows[event.node.platform] = min(first, event.start), max(last, event.stop)
        spans = nodes.setdefault(event.node, [])
        if event.available:
            continue
        if spans and event.start <= spans[-1][1]:
            start, end = spans.pop()
            spans.append((start, max(end, event.stop)))
        else:
            spans.append((event.start, event.stop))
    if not nodes:
        known = ", ".join(map(str, platforms))
        raise unfit("faults.platform", f"{platform} is not in {path.name}", known)
    return nodes, windows


@cache
def fit_failures(path: Path, law: str, platform: int | None, component: int | None) -> FittedLaw:
    """Fit a law, `weibull` or `exponential`, to the times from the start of a node's failure to the
    start of its next one, by maximum likelihood.

    The log is in the format of the Failure Trace Archive. Only events whose platform_id is
    `platform` and whose component_id is `component` are read; None stands for all platforms, or for
    all components. The time from a node's last failure to the end of its platform's log is
    censored. Nodes that never failed are missing from such logs, so the fit cannot count them.
    Raises InputError where the file cannot be read, and where it has fewer than `LEAST_GAPS` times
    between failures.
    """
    from scipy.stats import CensoredData, expon, weibull_min

    nodes, windows = _failures(path, platform, component)
    failing = ((node, spans) for node, spans in nodes.items() if spans)
    histories = [([start for start, _ in spans], windows[it.platform][1]) for it, spans in failing]
    gaps = [after - before for times, _ in histories for before, after in pairwise(times)]
    if len(gaps) < LEAST_GAPS:
        problem = f"{len(gaps)} times between failures of one node: too few to fit a law"
        raise InputError(str(path), "", problem, f"a log of failures with {LEAST_GAPS} or more")
    # Times are divided by their mean, since the optimizer of scipy searches near 1.
    unit = fmean(gaps)
    censored = [(end - times[-1]) / unit for times, end in histories if times[-1] < end]
    family = weibull_min if law == "weibull" else expon
    found = family.fit(CensoredData([it / unit for it in gaps], right=censored), floc=0)
    shape = float(found[0]) if law == "weibull" else 1.0
    mean, log = float(family.mean(*found)) * unit, read_failures(path, platform, component)
    return FittedLaw(mean, shape, len(gaps), len(histories), log.mtbf)
