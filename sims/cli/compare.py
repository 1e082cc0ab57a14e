"""Run variants of a scenario on the same seeds; tell which is better, by how much, how surely."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from rich.box import SIMPLE
from rich.table import Column, Table
from rich.text import Text

from sims.campaign.axes import as_toml, axis, told
from sims.campaign.cells import RunStatus
from sims.campaign.comparing import Compared, Comparison, Line, Verdict, corrected
from sims.campaign.engine import execute as run_campaign
from sims.campaign.intervals import Estimate
from sims.campaign.question import Question
from sims.campaign.results import Results
from sims.campaign.store import Store
from sims.campaign.tables import rounded
from sims.cli.scenarios import naming
from sims.cli.watching import bar, interruptible
from sims.errors import InputError
from sims.metrics.measures import Measure
from sims.options import add_choice, natural, not_negative, positive_int
from sims.scenario.loader import split_override, value_of
from sims.script import wide_console
from sims.telling import units

ABOUT = """\
The short form of `holdfast campaign`. Every variant is run with the same seeds: SEED, SEED + 1, ...
Failures, availability, speeds and arrivals draw from streams of their own, apart from what the
policy draws, so that variants meet the same ones; what a file draws with a seed of its own, such as
random_workers, is the same in all runs, and the intervals speak for it alone. The ratio is a
variant's mean over the baseline's, over the seeds on which both completed; it is a tie where
its difference to the baseline may be none, all comparisons taken together (Holm). Ties are best for
all who tie."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = ABOUT
    add = parser.add_argument
    add("file", metavar="FILE", type=Path, help="scenario (TOML)")
    about = "what differs, such as policy.name=IE,Y-IE; several: all combinations (repeatable)"
    add("--vary", metavar="KEY=V1,V2,...", action="append", default=[], help=about)
    about = "compare anew for each of these, such as master.channels=1,5 (repeatable)"
    add("--across", metavar="KEY=V1,V2,...", action="append", default=[], help=about)
    about = "which variant others are held against, such as policy.name=Y-IE; default: the first"
    add("--baseline", metavar="VARIANT", help=about)
    add("--runs", type=positive_int, default=10, help="of every variant, a seed each")
    help_text = "what runs are compared by; flowtime, stretch: the mean over a run's jobs"
    add_choice(parser, "--measure", Measure.MAKESPAN, help_text)
    add("--seed", type=natural, help="the first seed; default: the scenario's")
    about = "overrides one key of all variants, such as master.channels=2 (repeatable)"
    add("--set", metavar="KEY=VALUE", action="append", default=[], help=about)
    about = "end every run then, in the scenario's unit, if not before"
    add("--until", metavar="TIME", type=not_negative, help=about)
    about = "folder of results: an interrupted comparison goes on from it"
    add("--store", metavar="DIR", type=Path, help=about)
    add("--json", action="store_true", help="print it as JSON, with every run's value")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    question = _question(arguments)
    store = None if arguments.store is None else Store(arguments.store)
    kept = f"what is finished is in {arguments.store}: the same command goes on"
    with (
        naming(arguments.file),
        interruptible(kept if store else "without --store nothing is kept"),
        bar("simulating") as watch,
    ):
        results = run_campaign(question.campaign, store=store, watch=watch)
    for (case, _), result in results.raised():
        raise InputError(f"{case}, seed {result.seed}", "", str(result.error))
    if arguments.json:
        print(json.dumps(_as_json(question, results), default=str))
    else:
        _show(question, results)
    return 0


def _question(arguments: argparse.Namespace) -> Question:
    return Question.of(
        arguments.file,
        [axis(word) for word in arguments.vary],
        [axis(word, "--across") for word in arguments.across],
        changes={key: value_of(text) for key, text in map(split_override, arguments.set)},
        baseline=arguments.baseline,
        runs=arguments.runs,
        measure=arguments.measure,
        seed=arguments.seed,
        until=arguments.until,
    )


# --- telling ----------------------------------------------------------------------------------


def _show(question: Question, results: Results) -> None:
    console = wide_console()
    comparisons = results.comparisons()
    for comparison in comparisons:
        console.print(_table(question, results, comparison))
        for note in _notes(comparison):
            console.print(note, highlight=False, markup=False, soft_wrap=True)
    many = corrected(comparisons)
    if many > 1:
        note = f"Intervals of ratios, and ties, are those of {many} comparisons at once (Holm)."
        console.print(note, highlight=False)


def _table(question: Question, results: Results, comparison: Comparison) -> Table:
    keys = [key for key, _ in next(iter(question.variants.values()))] or ["variant"]
    measure, unit = question.measure.value, question.unit(results)
    heads = ("completed", f"{measure}, {units(unit)}" if unit else measure, "ratio", "best", "")
    columns = [Column(head, justify="right", no_wrap=True) for head in heads]
    place = f", {told(comparison.point)}" if comparison.point else ""
    seeds = _seeds(question.seeds)
    title = Text(f"{question.campaign.name}{place}: {measure}, {seeds}, 95 % intervals")
    table = Table(*keys, *columns, title=title, box=SIMPLE)
    for line in comparison.lines:
        settings = [Text(as_toml(value)) for _, value in question.variants[line.variant]]
        table.add_row(*(settings or [Text("as it is")]), *_cells(line, comparison))
    return table


def _seeds(seeds: range) -> str:
    return f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"


def _cells(line: Line, comparison: Comparison) -> Iterator[str]:
    yield f"{line.as_asked} of {len(line.runs)}"
    yield rounded(line.mean)
    yield rounded(line.ratio)
    yield f"{line.best} of {len(comparison.paired)}" if comparison.paired else "-"
    yield _verdict(line)


def _verdict(line: Line) -> str:
    return line.against.verdict.value if line.against else "baseline"


def _notes(comparison: Comparison) -> Iterator[str]:
    """What a reader has to know of the figures, a line each."""
    measure = comparison.gauge.name
    out = [line for line in comparison.lines if line.left_out]
    if out:
        paired, seeds = len(comparison.paired), comparison.seeds
        said = "; ".join(f"{line.variant}: {_left_out(line, measure)}" for line in out)
        yield (
            f"Not completed, and in no mean: {said}. A ratio is over the seeds on which both "
            f"did, best over the {paired} of {seeds} on which all did."
        )
    unlike = [it.variant for it in comparison.lines if _verdict(it) == Verdict.UNLIKE.value]
    if unlike:
        yield (
            f"Unlike, and not compared: {'; '.join(unlike)}: other jobs than the baseline's, as "
            "some are left out, say."
        )
    base = next(line for line in comparison.lines if line.against is None)
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
    return ", ".join(
        f"{n} {without.get(status, status.value)}" for status, n in line.left_out.items()
    )


def _as_json(question: Question, results: Results) -> dict[str, object]:
    cells = [_cell_as_json(question, results, it) for it in results.comparisons()]
    shared = {
        "scenario": question.campaign.name,
        "measure": question.measure.value,
        "unit": question.unit(results) or None,
        "higher_is_better": question.measure.higher_is_better,
        "until": question.campaign.until,
        "seeds": list(question.seeds),
        "baseline": question.campaign.reference,
    }
    return shared | ({"cells": cells} if question.campaign.axes else cells[0])


def _cell_as_json(question: Question, results: Results, cell: Comparison) -> dict[str, object]:
    lines = [_line_as_json(question, results, line) for line in cell.lines]
    place = {"at": dict(cell.point)} if cell.point else {}
    blocks = {"blocks": len(cell.paired), "speaks_for": cell.speaks} if cell.speaks else {}
    paired = list(question.seeds) if cell.speaks else list(cell.paired)
    return {**place, **blocks, "paired": paired, "variants": lines}


def _line_as_json(question: Question, results: Results, line: Line) -> dict[str, object]:
    case = next(it for it in results.plan if it.variant == line.variant)
    return {
        "settings": dict(question.variants[line.variant]),
        "policy": case.scenario(0).policy.name,
        "as_asked": line.as_asked,
        "mean": _estimate_as_json(line.mean),
        "ratio": _estimate_as_json(line.ratio),
        "difference": _estimate_as_json(line.difference),
        "verdict": _verdict(line),
        "best": line.best,
        "runs": [_run_as_json(run) for run in line.runs],
    }


def _run_as_json(run: Compared) -> dict[str, object]:
    return {"seed": run.seed, "end": run.status.value, "value": run.value}


def _estimate_as_json(it: Estimate | None) -> dict[str, object] | None:
    if it is None or not it.size:
        return None
    ends = {"half": it.half, "low": it.low, "high": it.high}
    known = {key: value if isfinite(value) else None for key, value in ends.items()}
    return {"mean": it.mean, **known, "size": it.size}
