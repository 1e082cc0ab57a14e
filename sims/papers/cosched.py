"""Co-scheduling malleable applications: the examples of section 4 and figures 7 to 16 of 003.

`python -m sims.papers.cosched example|figure7|...|figure16 [options]`
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.progress import track
from rich.table import Table

from policies.pack import LookAhead
from sims.campaign import run_many
from sims.errors import InputError
from sims.options import (
    COMMAND_LINE,
    Parser,
    add_choice,
    add_picture,
    natural,
    not_negative,
    positive,
    positive_int,
)
from sims.papers import cosched_single
from sims.papers.cosched_example import show_examples
from sims.papers.cosched_figures import FIGURES, FigurePlan
from sims.papers.cosched_trials import LARGEST, NONE, Setting, Trial, makespans, scenario, seed_of
from sims.plots.curves import draw_curves
from sims.scenario.fields import Unacceptable
from sims.script import run_script, wide_console
from sims.statistics import Interval, mean_interval

Ratios = dict[tuple[float, float], dict[str, Interval]]
"""(m_inf, point) -> policy -> makespan over that of no redistribution, paired by faults."""


def study(
    plan: FigurePlan, points: Sequence[float], repeats: int, look: LookAhead, store: Path | None
) -> Ratios:
    """Run a figure's trials on every core; with `store`, an interrupted study resumes."""
    place = {plan.setting(spread, at): (spread, at) for spread in plan.spreads for at in points}
    draws = ((s, seed_of(s, repeat)) for repeat in range(repeats) for s in place)
    trials = [Trial(setting, plan.policies, look, seed) for setting, seed in draws]
    samples: dict[tuple[float, float], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    results = track(run_many(makespans, trials, store=store), "trials", total=len(trials))
    # In the order of the seeds, whatever order the trials end in: floating sums are the same.
    for trial, found in sorted(results, key=lambda result: result[0].seed):
        for policy in plan.policies:
            samples[place[trial.setting]][policy].append(found[policy] / found[NONE])
    return {
        key: {policy: mean_interval(values) for policy, values in by_policy.items()}
        for key, by_policy in sorted(samples.items())
    }


def gains(ratios: Ratios, spread: float, policy: str) -> float:
    """Mean gain of `policy` over no redistribution in part `spread`, in %, over its points."""
    values = [row[policy].mean for (part, _), row in ratios.items() if part == spread]
    return 100 * (1 - sum(values) / len(values))


ABBREVIATIONS = (
    ("IteratedGreedy", "IG"),
    ("ShortestApplicationsFirst", "SAF"),
    ("EndGreedy", "EG"),
    ("EndLocal", "EL"),
)


def abbreviated(policy: str) -> str:
    """`IG-EG` for `IteratedGreedy-EndGreedy`: what fits over a column."""
    for name, short in ABBREVIATIONS:
        policy = policy.replace(name, short)
    return policy


def show(plan: FigurePlan, ratios: Ratios, console: Console) -> None:
    """The part's curves as a table, and the mean gains."""
    for spread in plan.spreads:
        title = f"{plan.title}; m_inf = {spread:,.0f}"
        table = Table(plan.axis, *map(abbreviated, plan.policies), title=title)
        for (part, at), row in ratios.items():
            if part == spread:
                table.add_row(f"{at:g}", *(_percent(row[policy]) for policy in plan.policies))
        table.add_section()
        table.add_row("gain", *(f"{gains(ratios, spread, p):.1f}" for p in plan.policies))
        console.print(table)
    legend = ", ".join(f"{short} {name}" for name, short in ABBREVIATIONS)
    console.print(f"Makespan in % of that of no redistribution, 95 % intervals. {legend}.")
    console.print(f"003: {plan.paper}.")


def _percent(ratio: Interval) -> str:
    return f"{100 * ratio.mean:.1f} ± {100 * ratio.half:.1f}"


def draw(plan: FigurePlan, ratios: Ratios, path: Path) -> list[Path]:
    """One picture per part: PATH, with `-a`, `-b`, `-c` before its suffix where there are many."""
    drawn = []
    for letter, spread in zip("abc", plan.spreads, strict=False):
        target = path.with_stem(f"{path.stem}-{letter}") if len(plan.spreads) > 1 else path
        curves = {
            policy: [(at, row[policy]) for (part, at), row in ratios.items() if part == spread]
            for policy in plan.policies
        }
        figure = plan.name.replace("figure", "figure ")
        title = f"003, {figure}: {plan.title}; m_inf = {spread:,.0f}"
        y = "makespan / that without redistribution"
        drawn.append(draw_curves(curves, target, title, plan.axis, y, log_x=plan.decades))
    return drawn


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the experiments; returns the exit code."""
    return run_script(_parser(), words, lambda options: options.run(options, wide_console()))


def _parser() -> argparse.ArgumentParser:
    about = "003: co-scheduling malleable applications under faults."
    parser = Parser(prog="python -m sims.papers.cosched", description=about)
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    _command(commands, "example", "the examples of section 4", _example)
    for name, plan in FIGURES.items():
        command = _command(commands, name, plan.title, partial(_figure, plan))
        _add_study(command, plan)
        _add_shared(command, name)
    single = _command(commands, "figure11", "one run, fault by fault", _figure11)
    single.add_argument("--seed", type=natural, default=1, help="of pack and faults")
    _add_shared(single, "figure11")
    return parser


Run = Callable[[argparse.Namespace, Console], None]
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def _command(commands: Commands, name: str, about: str, run: Run) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=about, description=about)
    command.set_defaults(run=run)
    return command


def _add_study(command: argparse.ArgumentParser, plan: FigurePlan) -> None:
    add = command.add_argument
    add("--repeats", type=positive_int, default=10, help="draws per point (003: 50)")
    about = f"values of what varies ({plan.axis})"
    add("--points", type=not_negative, nargs="+", default=plan.points, metavar="X", help=about)
    about = f"values of m_inf, up to {LARGEST:,.0f}"
    add("--spreads", type=positive, nargs="+", default=plan.spreads, metavar="M", help=about)
    add("--store", type=Path, help="keep results there, and resume from them")


def _add_shared(command: argparse.ArgumentParser, name: str) -> None:
    add_choice(command, "--look", LookAhead.NEXT_PAIR, "what `improvable` looks at")
    add_picture(command, Path("logs") / f"cosched-{name}.png" if find_spec("matplotlib") else None)


def _example(options: argparse.Namespace, console: Console) -> None:
    show_examples(console)


def _figure11(options: argparse.Namespace, console: Console) -> None:
    setting = cosched_single.figure11(Setting())
    found = cosched_single.courses(setting, options.look, options.seed)
    cosched_single.show(found, console)
    if options.plot:
        _tell(cosched_single.draw(found, options.plot), console)


def _figure(whole: FigurePlan, options: argparse.Namespace, console: Console) -> None:
    plan = whole.narrowed(options.spreads)
    check(plan, options.points)
    ratios = study(plan, options.points, options.repeats, options.look, options.store)
    show(plan, ratios, console)
    if options.plot:
        _tell(draw(plan, ratios, options.plot), console)


def check(plan: FigurePlan, points: Iterable[float]) -> None:
    """Raises InputError for a point or spread without a scenario, before anything runs."""
    for spread in plan.spreads:
        for at in points:
            try:
                scenario(Trial(plan.setting(spread, at), (), LookAhead.NEXT_PAIR, 0), NONE)
            except Unacceptable as refused:
                option = "--points" if refused.value != spread else "--spreads"
                problem = f"{refused.field} = {refused.value!r} is not accepted"
                raise InputError(COMMAND_LINE, option, problem, refused.accepted) from None


def _tell(drawn: Iterable[Path], console: Console) -> None:
    for path in drawn:
        console.print(f"picture  {path}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
