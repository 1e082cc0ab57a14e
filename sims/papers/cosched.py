"""Co-scheduling malleable applications: the examples of section 4 and figures 7 to 16 of 003.

`python -m sims.papers.cosched example|figure7|...|figure16 [options]`
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from policies.malleable import LookAhead
from sims.campaign import run_many
from sims.errors import InputError
from sims.papers import cosched_single
from sims.papers.cosched_example import show_examples
from sims.papers.cosched_figures import FIGURES, FigurePlan
from sims.papers.cosched_trials import NONE, Setting, Trial, makespans, seed_of
from sims.papers.options import add_choice
from sims.plots.curves import draw_curves
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
        title = f"{plan.title}; m_inf = {spread:,.0f}"
        drawn.append(draw_curves(curves, target, title, plan.axis, "normalised makespan"))
    return drawn


def main(words: Sequence[str] | None = None) -> None:
    """The command line."""
    options = _parser().parse_args(words)
    console = Console()
    try:
        drawn = _run(options, console)
    except InputError as error:
        console.print(str(error), style="red", highlight=False)
        sys.exit(2)
    for path in drawn:
        console.print(f"wrote {path}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sims.papers.cosched", description=__doc__)
    parser.add_argument("what", choices=["example", *FIGURES, "figure11"])
    parser.add_argument("--repeats", type=int, default=10, help="draws per point (003: 50)")
    parser.add_argument("--points", type=float, nargs="+", help="values of what varies")
    parser.add_argument("--spreads", type=float, nargs="+", help="values of m_inf")
    add_choice(parser, "--look", LookAhead.NEXT_PAIR, "what `improvable` looks at")
    parser.add_argument("--seed", type=int, default=1, help="figure11: pack and faults")
    parser.add_argument("--store", type=Path, help="keep results there, and resume from them")
    parser.add_argument("--plot", type=Path, help="picture (default: logs/cosched-WHAT.png)")
    return parser


def _run(options: argparse.Namespace, console: Console) -> Iterable[Path]:
    if options.what == "example":
        show_examples(console)
        return []
    path = options.plot or _default_picture(options.what)
    if options.what == "figure11":
        setting = cosched_single.figure11(Setting())
        found = cosched_single.courses(setting, options.look, options.seed)
        cosched_single.show(found, console)
        return cosched_single.draw(found, path) if path else []
    plan = FIGURES[options.what].narrowed(options.spreads)
    points = options.points or plan.points
    ratios = study(plan, points, options.repeats, options.look, options.store)
    show(plan, ratios, console)
    return draw(plan, ratios, path) if path else []


def _default_picture(what: str) -> Path | None:
    return Path("logs") / f"cosched-{what}.png" if find_spec("matplotlib") else None


if __name__ == "__main__":
    main()
