"""Implements `holdfast lemons`: which nodes of a fleet fail more often than others, from a log of
failures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from attrs import evolve

from sims.durations import SCALES
from sims.errors import COMMAND_LINE, InputError, show
from sims.options import AsJson, argument, option, picture, positive_int, whole, written
from sims.telling import SECOND, about, counted
from sims.writing import refuse_inputs

if TYPE_CHECKING:
    from sims.readers.lemons import Bounded, LemonFit

DAY = SCALES["d"]
MOST_NAMED = 20
"""Number of lemons that are named at most; `--json` has all."""


def lemons(
    file: Annotated[Path, argument(Path, "FILE", "a log of failures (FTA or Los Alamos' CSV)")],
    nodes: Annotated[
        int | None,
        option(positive_int, "N", "number of all nodes, also those that the log leaves out"),
    ] = None,
    platform: Annotated[
        int | None, option(whole, "N", "platform_id of the nodes that count; default: all")
    ] = None,
    component: Annotated[
        int | None, option(whole, "N", "component_id of the events that count; default: all")
    ] = None,
    output: Annotated[
        Path | None, written("also draw it: a picture, by suffix", picture, "PICTURE")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate which nodes are lemons, from a log of failures.

    Two rates of failures, of well nodes and of lemons, and the share of lemons are fitted to the
    failures of all nodes; a test says whether one rate does as well.
    """
    from sims.readers.lemons import lemons_of

    if output is not None:
        refuse_inputs(output, "--output", file)
    with _options_named():
        found = lemons_of(file, platform, component, nodes)
    show(*([json.dumps(_as_json(found))] if as_json else _lines(found)))
    if output is not None:
        from sims.plots.lemons import Numbers, draw_lemons

        failures = found.counts.failures.astype(int).tolist()
        each = list(range(max(failures) + 1))
        two, one = found.expected(each)
        numbers = Numbers(each, [failures.count(it) for it in each], two.tolist(), one.tolist())
        show(f"{draw_lemons(numbers, output, f'Failures of the nodes of {file.name}')}")


@contextmanager
def _options_named() -> Iterator[None]:
    """Return a context in which a refused key, which a scenario would have, is named as the
    option."""
    try:
        yield
    except InputError as error:
        if error.source != "scenario":
            raise
        option = f"--{error.key.rpartition('.')[2]}"
        raise evolve(error, source=COMMAND_LINE, key=option) from None


def _lines(found: LemonFit) -> Iterator[str]:
    """Yield what was found, for people."""
    counts = found.counts
    failures, alike = int(counts.failures.sum()), 1 / counts.rate
    mean = about(float(counts.times.mean()), SECOND)
    watched = f"each watched and UP for {mean} in the mean"
    yield f"  nodes       {len(counts.times):,}, {watched}; {counted(failures, 'failure')}"
    yield f"  one rate    a node fails once in {about(alike, SECOND)}"
    if not found.two:
        yield f"  two rates   do no better: p = {found.p_value:.3g}; no lemons are told apart"
        yield f"  scenario    faults = {{ mtbf = {_key(counts.rate)} }}"
        return
    better = f"twice the logarithm of the likelihoods' ratio is {found.ratio:.4g}"
    yield f"  two rates   do better: {better}, p = {found.p_value:.3g}"
    yield f"  well        once in {_time(found.well)}"
    yield f"  lemons      once in {_time(found.lemon)}"
    share, low, high = (f"{100 * it:.3g}" for it in _ends(found.share))
    yield f"  share       {share} % of nodes are lemons [{low}, {high}]"
    named = ", ".join(f"{it} ({found.chances[it]:.3g})" for it in islice(found.lemons, MOST_NAMED))
    more = len(found.lemons) - MOST_NAMED
    named = f"{named or 'none'}{f', and {more:,} more' if more > 0 else ''}"
    yield f"  which       {counted(len(found.lemons), 'node')}, by probability: {named}"
    law = f"{{ mtbf = {_key(found.extra)}, share = {found.share.value:.3g} }}"
    yield f"  scenario    faults.laws = [{{ mtbf = {_key(found.well.value)} }}, {law}]"


def _ends(it: Bounded) -> tuple[float, float, float]:
    return it.value, it.low, it.high


def _mean(rate: float) -> str:
    return about(1 / rate, SECOND) if rate else "no end"


def _key(rate: float) -> str:
    """Return the mean time between failures as a scenario file has it."""
    return f'"{1 / rate / DAY:.4g} d"' if rate else '"inf"'


def _time(rate: Bounded) -> str:
    """Return the mean time between the failures of a node, with its interval."""
    return f"{_mean(rate.value)} [{_mean(rate.high)}, {_mean(rate.low)}]"


def _as_json(found: LemonFit) -> dict[str, object]:
    """Return what was found as plain data; rates are failures per second, and None is a bound that
    is not known."""
    rates = {"well": found.well, "lemons": found.lemon, "share": found.share}
    return {
        "nodes": len(found.counts.times),
        "failures": int(found.counts.failures.sum()),
        "one": found.counts.rate,
        "two": found.two,
        "ratio": found.ratio,
        "p": found.p_value,
        **{
            name: [None if value == inf else value for value in _ends(it)]
            for name, it in rates.items()
        },
        "chances": dict(found.chances),
    }
