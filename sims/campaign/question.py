"""The short form of a campaign, variants of one scenario file on the same seeds; and its answers: a
table for each cell, notes on it, and all of it as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from sims.campaign.axes import Axis, as_toml, points, refuse_twice, told
from sims.campaign.campaign import Campaign, load_campaign
from sims.campaign.cells import RunStatus
from sims.campaign.comparing import Comparison, Line, Verdict
from sims.campaign.engine import execute
from sims.campaign.intervals import Estimate
from sims.campaign.results import Results
from sims.campaign.store import Store
from sims.campaign.tables import Grid, completed, rounded
from sims.errors import COMMAND_LINE, InputError
from sims.metrics.measures import Measure
from sims.scenario.loader import parse, put, read
from sims.scenario.scenario import SEEDS
from sims.telling import units


def question(
    file: Path,
    vary: Sequence[Axis] = (),
    across: Sequence[Axis] = (),
    *,
    changes: Mapping[str, Any] | None = None,
    baseline: str | None = None,
    runs: int = 10,
    measure: Measure = Measure.MAKESPAN,
    seed: int | None = None,
    until: float | None = None,
) -> Campaign:
    """All combinations of `vary`, held against `baseline` (default: the first), anew at every
    combination of `across`. Raises InputError for what cannot be asked."""
    refuse_twice([*vary, *across])
    table, changed = parse(file), dict(changes or {})
    for key, value in changed.items():
        put(table, key, value)
    scenario = read(table, str(file), file.parent)
    first = scenario.seed if seed is None else seed
    for option, number in (("--seed", first), ("--runs", first + runs - 1)):
        if number not in SEEDS:
            accepted = "seeds of 0 or above, below 2**64"
            raise InputError(COMMAND_LINE, option, f"{number} is no seed", accepted)
    variants = _variants(vary)
    return Campaign(
        name=scenario.name,
        scenario=str(file),
        seed=first,
        replications=runs,
        until=until,
        measures=(measure.value,),
        set=changed,
        axes={it.key: it.values for it in across},
        variants=variants,
        baseline=baseline and _baseline(baseline, variants),
    )


def _variants(varied: Sequence[Axis]) -> dict[str, dict[str, Any]]:
    """All combinations by name; what is asked for twice has two names."""
    found: dict[str, dict[str, Any]] = {}
    names = [told(settings) for settings in points(varied)]
    for k, settings in enumerate(points(varied)):
        again = names[: k + 1].count(names[k])
        found[names[k] if again == 1 else f"{names[k]} ({again})"] = dict(settings)
    return found


def _baseline(word: str, variants: Mapping[str, Mapping[str, Any]]) -> str:
    for name, settings in variants.items():
        if word in (name, ",".join(map(as_toml, settings.values()))):
            return name
    raise InputError(COMMAND_LINE, "--baseline", f"{word!r} is no variant", "; ".join(variants))


# --- from Python ------------------------------------------------------------------------------


def compare(
    file: str | Path,
    vary: Mapping[str, Sequence[Any]],
    *,
    across: Mapping[str, Sequence[Any]] | None = None,
    changes: Mapping[str, Any] | None = None,
    baseline: str | None = None,
    runs: int = 10,
    measure: str | Measure = Measure.MAKESPAN,
    seed: int | None = None,
    until: float | None = None,
    store: str | Path | None = None,
) -> Results:
    """Run variants of a scenario file on the same seeds, on this machine's cores.

    `vary`, `across`: dotted key -> its values; `changes`: keys of all variants; `store`: a folder
    of results to go on from. `.comparisons()` and `.frame()` of what is returned tell the rest.
    Raises InputError for what cannot be run.
    """
    asked = question(
        Path(file),
        [Axis(key, tuple(values)) for key, values in vary.items()],
        [Axis(key, tuple(values)) for key, values in (across or {}).items()],
        changes=changes,
        baseline=baseline,
        runs=runs,
        measure=Measure(measure),
        seed=seed,
        until=until,
    )
    return execute(asked, store=Store(Path(store)) if store else None)


def campaign(
    file: str | Path, *, size: str | None = None, store: str | Path | None = None
) -> Results:
    """Run a campaign file, on this machine's cores; `size`: one of its [sizes]; `store`: a folder
    of results to go on from. Raises InputError for what cannot be run."""
    asked = load_campaign(Path(file), size)
    return execute(asked, store=Store(Path(store)) if store else None)


# --- answers ----------------------------------------------------------------------------------


def _seeds(asked: Campaign) -> range:
    first = asked.seed or 0
    return range(first, first + asked.replications)


def _unit(results: Results) -> str:
    """The measure's, or nothing."""
    return results.unit if results.campaign.gauges[0].timed else ""


def table(results: Results, comparison: Comparison) -> Grid:
    """A row for each variant in a cell."""
    variants, [measure] = results.campaign.variants, results.campaign.measures
    keys = (*next(iter(variants.values())),) or ("variant",)
    unit = _unit(results)
    figure = f"{measure}, {units(unit)}" if unit else measure
    pairs = len(comparison.paired)
    rows = [
        (
            *(list(map(as_toml, variants[line.variant].values())) or ["as it is"]),
            *(completed(line), rounded(line.mean), rounded(line.ratio)),
            *(f"{line.best} of {pairs}" if pairs else "-", line.verdict.value),
        )
        for line in comparison.lines
    ]
    return Grid((*keys, "completed", figure, "ratio", "best", ""), rows, len(keys))


def title(results: Results, comparison: Comparison) -> str:
    """What is compared in a cell."""
    asked = results.campaign
    place = f", {told(comparison.point)}" if comparison.point else ""
    first, last = _seeds(asked)[0], _seeds(asked)[-1]
    seeds = f"seeds {first} to {last}" if first < last else f"seed {first}"
    return f"{asked.name}{place}: {asked.measures[0]}, {seeds}, 95 % intervals"


def notes(comparison: Comparison) -> Iterator[str]:
    """What a reader has to know of the figures, a line each."""
    measure, lines = comparison.gauge.name, comparison.lines
    if out := [line for line in lines if line.left_out]:
        paired, seeds = len(comparison.paired), comparison.seeds
        said = "; ".join(f"{line.variant}: {_left_out(line, measure)}" for line in out)
        yield (
            f"Not completed, and in no mean: {said}. A ratio is over the seeds on which both "
            f"did, best over the {paired} of {seeds} on which all did."
        )
    if unlike := [it.variant for it in lines if it.verdict is Verdict.UNLIKE]:
        yield (
            f"Unlike, and not compared: {'; '.join(unlike)}: other jobs than the baseline's, as "
            "some are left out, say."
        )
    base = next(line for line in lines if line.verdict is Verdict.BASELINE)
    if base.ratio is None and base.as_asked:
        yield f"No ratio: the baseline's mean {measure} is 0."
    if comparison.seeds == 1 and not comparison.speaks:
        yield "One run each: no intervals."
    if comparison.alike:
        yield "All runs of a variant are alike: the seed changes nothing in this scenario."
    if comparison.speaks:
        yield comparison.speaks


def _left_out(line: Line, measure: str) -> str:
    without = {RunStatus.COMPLETED: f"without a {measure}"}
    return ", ".join(f"{n} {without.get(it, it.value)}" for it, n in line.left_out.items())


def as_json(results: Results) -> dict[str, object]:
    """All of it, with every run's value."""
    asked, [gauge] = results.campaign, results.campaign.gauges
    cells = [_cell_as_json(results, it) for it in results.comparisons()]
    shared = {
        "scenario": asked.name,
        "measure": gauge.name,
        "unit": _unit(results) or None,
        "higher_is_better": gauge.higher_is_better,
        "until": asked.until,
        "seeds": list(_seeds(asked)),
        "baseline": asked.reference,
    }
    return shared | ({"cells": cells} if asked.axes else cells[0])


def _cell_as_json(results: Results, cell: Comparison) -> dict[str, object]:
    lines = [_line_as_json(results, line) for line in cell.lines]
    place = {"at": dict(cell.point)} if cell.point else {}
    blocks = {"blocks": len(cell.paired), "speaks_for": cell.speaks} if cell.speaks else {}
    paired = list(_seeds(results.campaign)) if cell.speaks else list(cell.paired)
    return {**place, **blocks, "paired": paired, "variants": lines}


def _line_as_json(results: Results, line: Line) -> dict[str, object]:
    case = next(it for it in results.plan if it.variant == line.variant)
    return {
        "settings": results.campaign.variants[line.variant],
        "policy": case.scenario(0).policy.name,
        "as_asked": line.as_asked,
        **{it: _estimate_as_json(getattr(line, it)) for it in ("mean", "ratio", "difference")},
        "verdict": line.verdict.value,
        "best": line.best,
        "runs": [{"seed": it.seed, "end": it.status.value, "value": it.value} for it in line.runs],
    }


def _estimate_as_json(it: Estimate | None) -> dict[str, object] | None:
    if it is None or not it.size:
        return None
    ends = {"half": it.half, "low": it.low, "high": it.high}
    known = {key: value if isfinite(value) else None for key, value in ends.items()}
    return {"mean": it.mean, **known, "size": it.size}
