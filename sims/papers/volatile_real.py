"""What 002, section VIII left for later: how wrong are Markov heuristics on real availability?

Each folder of spot-instance traces is a platform, each of its instances a volatile worker. A
Markov chain is fitted to every worker; the heuristics believe it. They run on the trace itself,
from a random start (the trace wraps around), and, with the same platform and first states, on
availability that really is the fitted chain. What differs between the two is what "Markov" gets
wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from actors.runtime import stream
from policies.availability import WorkerState
from sims.campaign import run_many
from sims.options import add_picture, positive_int
from sims.papers.volatile_runs import run_heuristics
from sims.plots.bars import draw_pairs
from sims.readers.markov_fit import MarkovFit, fit_markov
from sims.readers.spot import read_spot_trace
from sims.readers.spot_folders import spot_folder, spot_groups, turned_to
from sims.scenario.availability import After, Availability, Letters, Markov, Row
from sims.scenario.jobs.section import IterativeSection
from sims.scenario.master import MasterSection
from sims.scenario.platform import WorkerSection
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario
from sims.script import wide_console
from sims.statistics import Interval, mean_interval
from sims.telling import counted

HEURISTICS = ("IE", "IP", "IY", "IAY", "P-IE", "Y-IE", "E-IAY", "E-IE", "RANDOM")


@frozen
class RealWorker:
    """One instance of a trace, in slots of the trace's own tick."""

    name: str
    letters: str
    """u or d in each slot."""
    rows: tuple[Row, Row, Row]
    """The fitted chain."""


@frozen
class Platform:
    """All instances of one folder."""

    name: str
    workers: tuple[RealWorker, ...]


@frozen
class Trial:
    """One start in the traces, with speeds drawn for it."""

    platform: Platform
    number: int
    tasks: int
    fastest: int
    cap: int

    def __repr__(self) -> str:
        return f"{self.platform.name}#{self.number} m={self.tasks} wmin={self.fastest}"


Makespans = Mapping[str, int | None]


def add_options(command: argparse.ArgumentParser) -> None:
    """Declare the study's arguments."""
    add = command.add_argument
    about = "folder (or tar archive) of spot-instance JSON"
    add("--traces", type=Path, required=True, help=about)
    add("--trials", type=positive_int, default=20, help="starts per platform")
    add("--tasks", type=positive_int, default=5, help="m")
    add("--wmin", type=positive_int, default=2, help="slots per task of the fastest")
    add("--cap", type=positive_int, default=100_000, help="slots at most")
    about = "print each zone's fitted chain, with its standard errors and tests"
    add("--fits", action="store_true", help=about)
    add_picture(command, Path("logs/volatile-realtraces.png"))


def real_traces(options: argparse.Namespace) -> None:
    """Fit, run on the traces and on the chains, print, draw."""
    console = wide_console()
    with spot_folder(options.traces) as folder:
        groups = spot_groups(folder)
        platforms = [_platform(*group, options.fits, console) for group in groups]
    trials = [
        Trial(platform, k, options.tasks, options.wmin, options.cap)
        for platform in platforms
        for k in range(options.trials)
    ]
    running = track(run_many(both, trials), "running", len(trials), transient=True)
    results = {repr(trial): pair for trial, pair in running}
    pairs = [results[repr(trial)] for trial in trials]
    _report(pairs, [trial.platform.name for trial in trials], options, console)


# --- the traces -------------------------------------------------------------------------------


def _platform(name: str, files: Sequence[Path], fits: bool, console: Console) -> Platform:
    columns = ("zone", "nodes", "UP", "mean stay", "geometric?", "not UP: stay", "geometric?")
    table = Table(*columns, title=name, box=SIMPLE)
    workers = []
    for path in files:
        trace = read_spot_trace(path)
        for k, timeline in enumerate(trace.nodes()):
            slots = timeline.slotted(trace.gap_seconds)
            fit = fit_markov(slots)
            letters = "".join(state.value for state in slots.slots())
            worker = RealWorker(f"{path.stem}.{k}", letters, fit.rows)
            workers.append(worker)
            if k == 0:  # further instances of one zone look much the same
                share = f"{letters.count('u') / len(letters):.0%}"
                table.add_row(path.stem, str(max(trace.counts)), share, *_quality(fit))
                if fits:
                    console.print(f"{path.stem}\n{fit.report()}", highlight=False)
    console.print(table)
    return Platform(name, tuple(workers))


def _quality(fit: MarkovFit) -> Iterator[str]:
    """Mean stay UP and not UP in slots, each with the test of what a chain says of its law."""
    up, _, down = fit.quality.holding
    for times in (up, down):
        yield f"{times.mean_slots:.0f}"
        yield "too few" if times.geometric is None else f"p={times.geometric.p_value:.0e}"


# --- the runs ---------------------------------------------------------------------------------


def both(trial: Trial) -> tuple[Makespans, Makespans]:
    """Makespans of all heuristics (on the trace, on the fitted chains)."""
    rng = stream(trial.number, f"realtraces/{trial.platform.name}")
    workers = trial.platform.workers
    speeds = rng.integers(trial.fastest, 10 * trial.fastest, size=len(workers), endpoint=True)
    start = int(rng.integers(len(workers[0].letters)))
    turned = [turned_to(worker.letters, start) for worker in workers]
    real: list[Availability] = [Letters(states=it, then=After.REPEAT) for it in turned]
    markov: list[Availability] = [
        Markov(rows=worker.rows, first=WorkerState(letters[0]))
        for worker, letters in zip(workers, turned, strict=True)
    ]
    return (
        run_heuristics(_scenario(trial, speeds.tolist(), real), HEURISTICS),
        run_heuristics(_scenario(trial, speeds.tolist(), markov), HEURISTICS),
    )


def _scenario(
    trial: Trial, speeds: Sequence[int], availability: Sequence[Availability]
) -> Scenario:
    sections = tuple(
        WorkerSection(name=it.name, task_time=speed, availability=life, belief=Markov(rows=it.rows))
        for it, speed, life in zip(trial.platform.workers, speeds, availability, strict=True)
    )
    return Scenario(
        name="realtraces",
        seed=trial.number,
        master=MasterSection(channels=5, program=5 * trial.fastest, data=trial.fastest),
        workers=sections,
        job=IterativeSection(kind="iterative", tasks=trial.tasks, iterations=10, cap=trial.cap),
        policy=PolicySection(name="IE"),
    )


# --- the report -------------------------------------------------------------------------------


def _report(
    pairs: Sequence[tuple[Makespans, Makespans]],
    places: Sequence[str],
    options: argparse.Namespace,
    console: Console,
) -> None:
    title = "%diff to IE (below 0: better), 95 % intervals over platforms and starts"
    table = Table(
        *("heuristic", "on the traces", "on fitted chains", "trace / chain", "fails"),
        title=title,
        box=SIMPLE,
    )
    bars = {}
    for name in HEURISTICS:
        real, markov = (difference([pair[side] for pair in pairs], name) for side in (0, 1))
        bars[name] = (real, markov)
        fails = [sum(pair[side][name] is None for pair in pairs) for side in (0, 1)]
        ratio = longer(pairs, name)
        table.add_row(
            *(name, f"{real:.1f}", f"{markov:.1f}", f"{ratio:.2f}", f"{fails[0]}, {fails[1]}")
        )
    console.print(table)
    console.print(_sentence(bars, longer(pairs, "IE"), len(set(places))), highlight=False)
    shown = {name: pair for name, pair in bars.items() if name not in ("IE", "RANDOM")}
    path = draw_pairs(
        shown, options.plot, "002, section VIII: Markov beliefs on real availability",
        "%diff to IE (below 0: better)",
        ("on the traces", "on the fitted chains"),
    )  # fmt: skip
    console.print(f"picture  {path}", highlight=False)


def difference(results: Sequence[Makespans], name: str) -> Interval:
    """%diff of `name` to IE over the runs in which both succeed."""
    made = ((result[name], result["IE"]) for result in results)
    return mean_interval(
        [100 * (a - b) / min(a, b) for a, b in made if a is not None and b is not None]
    )


def longer(pairs: Sequence[tuple[Makespans, Makespans]], name: str) -> Interval:
    """Makespan on the trace over makespan on the chain that policies believe in."""
    made = ((real[name], markov[name]) for real, markov in pairs)
    return mean_interval([a / b for a, b in made if a is not None and b is not None])


def _sentence(bars: Mapping[str, tuple[Interval, Interval]], ie: Interval, platforms: int) -> str:
    names = [name for name in HEURISTICS if name not in ("IE", "RANDOM")]
    on_trace = min(names, key=lambda name: bars[name][0].mean)
    on_chain = min(names, key=lambda name: bars[name][1].mean)
    return (
        f"Over {counted(platforms, 'platform')} IE takes {ie:.2f} times as long as its own model "
        f"says. Best on the chains is {on_chain} ({bars[on_chain][1]:.1f} %); on the traces it is "
        f"{on_trace} ({bars[on_trace][0]:.1f} %), where {on_chain} has {bars[on_chain][0]:.1f} % "
        f"and RANDOM {bars['RANDOM'][0]:.0f} %."
    )
