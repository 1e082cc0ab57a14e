"""Run variants of a scenario on the same seeds; tell which is better, by how much, how surely."""

from __future__ import annotations

import argparse
import json
import signal
from collections.abc import Iterable, Iterator, Sequence
from math import floor, isfinite, log10
from pathlib import Path

from attrs import frozen
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table
from rich.text import Text

from sims.campaign import run_many
from sims.cli.scenarios import naming
from sims.compare import Comparison, Fate, Line, Result, Run, Task, compare, run_of, simulate, tasks
from sims.errors import InputError
from sims.metrics.measures import Measure
from sims.options import COMMAND_LINE, add_choice, natural, not_negative, positive_int
from sims.scenario.header import SEEDS
from sims.scenario.loader import Scenario
from sims.script import wide_console
from sims.statistics import Interval
from sims.telling import units
from sims.variants import Variant, as_toml, axis, seeded, variants
from sims.world import run, time_limit

ABOUT = """\
Every variant is run with the same seeds: SEED, SEED + 1, ... Failures, availability, speeds and
arrivals draw from streams of their own, apart from what the policy draws, so that variants meet the
same ones; what a file draws with a seed of its own, such as random_workers, is the same in all
runs, and the intervals speak for it alone. The ratio is the mean, over the seeds, of a variant's
value over the first variant's; ties are best for all who tie. A store knows scenarios, not the
files or policies of yours that they name: when those change, take another store."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = ABOUT
    add = parser.add_argument
    add("file", metavar="FILE", type=Path, help="scenario (TOML)")
    about = "what differs, such as policy.name=IE,Y-IE; several: all combinations (repeatable)"
    add("--vary", metavar="KEY=V1,V2,...", action="append", default=[], help=about)
    add("--runs", type=positive_int, default=10, help="of every variant, a seed each")
    help_text = "what runs are compared by; flowtime, stretch: the mean over a run's jobs"
    add_choice(parser, "--measure", Measure.MAKESPAN, help_text)
    add("--seed", type=natural, help="the first seed; default: the scenario's")
    about = "overrides one key of all variants, such as master.channels=2 (repeatable)"
    add("--set", metavar="KEY=VALUE", action="append", default=[], help=about)
    about = "end every run then, in the scenario's unit, if not before"
    add("--until", metavar="TIME", type=not_negative, help=about)
    about = "results file: an interrupted comparison goes on from it"
    add("--store", metavar="FILE", type=Path, help=about)
    add("--json", action="store_true", help="print it as JSON, with every run's value")


@frozen
class Question:
    """What was asked, checked."""

    variants: list[Variant]
    seeds: range
    until: float | None
    measure: Measure
    file: Path

    @property
    def first(self) -> Scenario:
        """The scenario that the others are held against."""
        return self.variants[0].scenario

    @property
    def unit(self) -> str:
        """The measure's, or nothing."""
        return self.first.header().unit if self.measure.timed else ""


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    question = _question(arguments)
    with naming(question.file):
        _check(question)
        comparison = _compared(question, arguments.store)
    if arguments.json:
        print(json.dumps(_as_json(question, comparison), default=str))
    else:
        _show(question, comparison)
    return 0


def _question(arguments: argparse.Namespace) -> Question:
    axes = [axis(word) for word in arguments.vary]
    found = variants(arguments.file, arguments.set, axes)
    first = found[0].scenario.seed if arguments.seed is None else arguments.seed
    seeds = range(first, first + arguments.runs)
    for option, seed in (("--seed", seeds[0]), ("--runs", seeds[-1])):
        if seed not in SEEDS:
            accepted = "seeds of 0 or above, below 2**64"
            raise InputError(COMMAND_LINE, option, f"{seed} is no seed", accepted)
    return Question(found, seeds, arguments.until, arguments.measure, arguments.file)


def _check(question: Question) -> None:
    """Raises InputError for what cannot be run, before anything else is: until time 0 all of a
    scenario is looked at, the policy's first answer included."""
    for variant in question.variants:
        if question.until is not None:
            time_limit(question.until, variant.scenario.header().unit)
        run(seeded(variant.scenario, question.seeds[0]), folder=question.file.parent, until=0)


# --- running ----------------------------------------------------------------------------------


def _compared(question: Question, store: Path | None) -> Comparison:
    seeds, until, measure = question.seeds, question.until, question.measure
    rows = tasks(question.variants, seeds, until, measure, question.file.parent)
    results = _results(rows, store)
    runs = [
        [run_of(task.seed, results[repr(task)], measure, until) for task in row] for row in rows
    ]
    return compare(measure, question.variants, runs)


def _results(rows: Sequence[Sequence[Task]], store: Path | None) -> dict[str, Result]:
    """By the task's repr; what is asked for twice is run once."""
    wanted = {repr(task): task for column in zip(*rows, strict=True) for task in column}
    results = run_many(simulate, wanted.values(), store=store)
    try:
        return {repr(task): result for task, result in _watched(results, len(wanted))}
    except KeyboardInterrupt:
        # Whoever presses again while workers are stopped would only see a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        kept = f"what is finished is in {store}: the same command goes on"
        more = kept if store else "without --store nothing is kept"
        raise KeyboardInterrupt(f"; {more}") from None


def _watched(results: Iterable[tuple[Task, Result]], total: int) -> Iterable[tuple[Task, Result]]:
    console = Console(stderr=True)
    unwatched = not console.is_terminal
    return track(results, "simulating", total, console=console, transient=True, disable=unwatched)


# --- telling ----------------------------------------------------------------------------------


def _show(question: Question, comparison: Comparison) -> None:
    console = wide_console()
    console.print(_table(question, comparison))
    for note in _notes(comparison):
        console.print(note, highlight=False, markup=False, soft_wrap=True)


def _table(question: Question, comparison: Comparison) -> Table:
    keys = [key for key, _ in question.variants[0].settings] or ["variant"]
    measure, unit = question.measure.value, question.unit
    heads = ("as asked", f"{measure}, {units(unit)}" if unit else measure, "ratio", "best")
    columns = [Column(head, justify="right", no_wrap=True) for head in heads]
    title = Text(f"{question.first.name}: {measure}, {_seeds(question.seeds)}, 95 % intervals")
    table = Table(*keys, *columns, title=title, box=SIMPLE)
    for line in comparison.lines:
        settings = [Text(as_toml(value)) for _, value in line.variant.settings] or [
            Text("as it is")
        ]
        table.add_row(*settings, *_cells(line, comparison))
    return table


def _seeds(seeds: range) -> str:
    return f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"


def _cells(line: Line, comparison: Comparison) -> Iterator[str]:
    yield f"{line.as_asked} of {len(line.runs)}"
    yield rounded(line.mean)
    yield rounded(line.ratio)
    yield f"{line.best} of {len(comparison.paired)}" if comparison.paired else "-"


def rounded(interval: Interval | None) -> str:
    """To two digits of the half-width; only the mean where there is none, a dash without a mean."""
    if interval is None or not interval.size:
        return "-"
    mean, half = interval.mean, interval.half
    if not isfinite(half):
        return f"{mean:,.8g}"
    if half == 0:
        return f"{mean:,.8g} ± 0"
    places = max(0, 1 - floor(log10(half)))
    return f"{mean:,.{places}f} ± {half:,.{places}f}"


def _notes(comparison: Comparison) -> Iterator[str]:
    """What a reader has to know of the figures, a line each."""
    out = [line for line in comparison.lines if line.left_out]
    if out:
        paired, seeds = len(comparison.paired), len(comparison.seeds)
        told = "; ".join(f"{line.variant}: {_left_out(line, comparison.measure)}" for line in out)
        yield (
            f"Not ended as asked, and in no mean: {told}. "
            f"Ratio and best are over the {paired} of {seeds} seeds on which all did."
        )
    if comparison.paired and any(line.ratio is None for line in comparison.lines):
        yield f"No ratio: the first variant's {comparison.measure.value} is 0 on some seed."
    if len(comparison.seeds) == 1:
        yield "One run each: no intervals."
    if comparison.alike:
        yield "All runs of a variant are alike: the seed changes nothing in this scenario."


def _left_out(line: Line, measure: Measure) -> str:
    without = {Fate.COMPLETED: f"without a {measure.value}"}
    return ", ".join(f"{n} {without.get(fate, fate.value)}" for fate, n in line.left_out.items())


def _as_json(question: Question, comparison: Comparison) -> dict[str, object]:
    return {
        "scenario": question.first.name,
        "measure": question.measure.value,
        "unit": question.unit or None,
        "higher_is_better": question.measure.higher_is_better,
        "until": question.until,
        "seeds": list(comparison.seeds),
        "paired": list(comparison.paired),
        "variants": [_line_as_json(line) for line in comparison.lines],
    }


def _line_as_json(line: Line) -> dict[str, object]:
    return {
        "settings": dict(line.variant.settings),
        "policy": line.variant.scenario.policy.name,
        "as_asked": line.as_asked,
        "mean": _interval_as_json(line.mean),
        "ratio": _interval_as_json(line.ratio),
        "best": line.best,
        "runs": [_run_as_json(run) for run in line.runs],
    }


def _run_as_json(run: Run) -> dict[str, object]:
    return {"seed": run.seed, "end": run.fate.value, "value": run.value}


def _interval_as_json(interval: Interval | None) -> dict[str, object] | None:
    if interval is None or not interval.size:
        return None
    half = interval.half if isfinite(interval.half) else None
    return {"mean": interval.mean, "half": half, "size": interval.size}
