"""Implements runs in real time: `holdfast live` and `reality` with real processes, and `run
--live`, a simulation shown on the terminal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated

from rich.console import Group, RenderableType
from rich.text import Text

from actors.intervals import spans_in
from actors.runtime import Record
from policies.availability import WorkerState
from sims.cli.progress import ShowProgress, tracked
from sims.errors import COMMAND_LINE, FAILED, InputError, naming, show, visible
from sims.history.reader import HOLDING, History
from sims.options import (
    Overrides,
    Policies,
    ScenarioFile,
    Seed,
    flag,
    option,
    picture,
    positive_int,
    written,
)
from sims.scenario import Scenario
from sims.scenario.loader import files_of, load
from sims.signals import importing
from sims.telling import counted
from sims.world import log_path
from sims.writing import refuse_inputs, replacing, unlinked

if TYPE_CHECKING:
    from sims.live.holder import Advance
    from sims.live.reality import Outcome

Cluster = Annotated[
    str | None,
    option(
        str,
        "ADDRESS",
        "a Dask cluster: tcp://HOST:PORT, or the file that `dask scheduler` wrote; default: one "
        "on this machine, for this command alone",
        "--scheduler",
    ),
]
OpenToAll = Annotated[
    bool,
    flag(
        "--open",
        "without the package cryptography: start a cluster to which everybody on this machine can "
        "connect, and run code in your name",
    ),
]
FOLDER = Path("logs/reality")
MONKEY = Path("logs/monkey")


def live(
    file: ScenarioFile,
    seed: Seed = None,
    changes: Overrides = None,
    policies: Policies = None,
    scheduler: Cluster = None,
    log: Annotated[
        str | None, option(str, "PATH", "file of the log, as that of `run`; `none`: no log")
    ] = None,
    open_to_all: OpenToAll = False,
    monkey: Annotated[
        int | None,
        option(
            positive_int,
            "N",
            "run it again and again on a cluster of its own, until N processes (workers', Nannies, "
            "schedulers) were killed unannounced at random moments; goes on where it was "
            "interrupted",
        ),
    ] = None,
) -> int:
    """Run a scenario with real processes of Dask, in real time.

    Owners stop processes, faults kill them, and the answers are checked. The section [live] of the
    scenario sets the seconds per time unit, the pace of computing, and the bandwidth of a channel.
    (To watch a simulation: `run --live`.)"""
    with importing():
        with suppress(ImportError):  # told by `opened`, with what to install
            import distributed  # noqa: F401
        from sims.live.live import advance_of, opened, playable
        from sims.live.reality import measure, simulate
        from sims.log_writer import LogWriter

    scenario = load(file, changes or (), seed)
    with naming(file):
        playable(scenario)
        folder, advance = file.parent, advance_of(scenario, file.parent)
        if monkey is not None:
            if scheduler is not None:
                problem = "the monkey kills a cluster of its own"
                raise InputError(COMMAND_LINE, "--scheduler", problem, "--monkey without it")
            return _kill(scenario, advance, monkey, folder, open_to_all)
        where = log_path(scenario, log)
        if where is not None:
            refuse_inputs(where, "--log", file, *files_of(scenario, file.parent))
            LogWriter(where)  # refuses a name that it cannot have, before anything is started
        foreseen = simulate(scenario.name, scenario, folder)
        seconds = foreseen.makespan * scenario.live.scale
        show(f"{scenario.name}: {foreseen.makespan:g} simulated, {seconds:,.1f} s at this scale")
        size = scenario.full_platform.size
        with opened(size, advance, scheduler, open_to_all, folder) as processes:
            outcome = measure(scenario.name, scenario, processes, folder, where)
            show(
                f"  makespan    {outcome.makespan:g}",
                f"  answers     {'right' if outcome.right else 'WRONG'}",
                f"  audit       {'passed' if outcome.sound else 'FAILED'}",
                f"  log         {where or 'none'}",
            )
            return 0 if outcome.right and outcome.sound else FAILED


def _kill(scenario: Scenario, advance: Advance, most: int, folder: Path, open_to_all: bool) -> int:
    """Kill processes of live runs at random until `most` have died in all, and print a line on each
    run. Return exit code 0, or FAILED where a run was wrong."""
    from sims.live.monkey import Monkey

    where = unlinked(MONKEY / scenario.name, "no link to")
    show(f"{scenario.name}: logs and results in {where}")
    found, total = [], Counter[str]()
    for it in Monkey(scenario, advance, folder, where, open_to_all).trials(most):
        found.append(it)
        killed = Counter(kill.victim.value for kill in it.kills)
        total += killed
        whom = ", ".join(f"{what} x {number}" for what, number in killed.items()) or "nobody"
        end = "ended by the scheduler's death" if it.lost else f"{it.seconds:.1f} s"
        answers = "right" if it.right else "WRONG"
        show(
            f"  run {it.run}: killed {whom}; {end}; {answers}, {'sound' if it.sound else 'UNSOUND'}"
        )
        if it.left:
            show(*(f"    left: {name}" for name in it.left))
    wrong, downs = sum(it.wrong for it in found), sum(it.downs for it in found)
    each = ", ".join(
        counted(number, what, "nannies" if what == "nanny" else f"{what}s")
        for what, number in sorted(total.items())
    )
    show(
        f"{counted(total.total(), 'kill')} ({each}) in {counted(len(found), 'run')}, in which "
        f"workers went DOWN {downs} times: {wrong or 'none'} wrong"
    )
    return FAILED if wrong else 0


def reality(
    file: ScenarioFile,
    runs: Annotated[int, option(positive_int, "N", "live runs of each policy")] = 10,
    compared: Annotated[
        list[str] | None,
        option(str, "NAME", "a policy in place of the file's (repeatable)", "--policy"),
    ] = None,
    seed: Seed = None,
    changes: Overrides = None,
    policies: Policies = None,
    scheduler: Cluster = None,
    folder: Annotated[
        Path | None, option(Path, "DIR", "for predictions, logs, results; default: logs/reality")
    ] = None,
    output: Annotated[Path | None, written("draw it, too", picture)] = None,
    open_to_all: OpenToAll = False,
    again: Annotated[bool, flag("--again", "tell what is in the folder; run nothing")] = False,
) -> int:
    """Predict runs of a scenario, then measure them with real processes.

    Measures what the work costs in a rehearsal, and writes that as a scenario; simulates N runs of
    it (written down before any live run begins), carries N out live with the same faults, and
    prints both, with the error of each figure."""
    from sims.campaign.batches import seeded
    from sims.live.calibration import (
        calibrated,
        costs_of,
        drawn,
        lines,
        predictable,
        rehearse,
        survey,
    )
    from sims.live.live import advance_of, opened
    from sims.live.reality import Comparison, Outcome, measure, predict, read, write
    from sims.scenario.loader import as_toml

    scenario = load(file, changes or (), seed)
    where = folder or unlinked(FOLDER / scenario.name, "--folder")
    predictions, results = where / "predicted.jsonl", where / "measured.jsonl"
    with naming(file):
        variants = variants_of(file, scenario, compared or [], changes or [])
        carried = predictable(scenario, scheduler is None)
        if not again:
            seeds = range(scenario.seed, scenario.seed + runs)
            size, advance = scenario.full_platform.size, advance_of(scenario, file.parent)
            with opened(size, advance, scheduler, open_to_all, file.parent) as processes:
                step, told = processes.post(survey(processes)).result()
                show("processes", *told)
                where.mkdir(parents=True, exist_ok=True)
                about = carried, step, processes, file.parent
                lengths = rehearse(*about, where / "rehearsal.jsonl")
                costs = costs_of(lengths)
                show("costs of parts and messages", *lines(costs, scenario.live.scale))
                expected = {name: calibrated(it, drawn(costs, 0)) for name, it in variants.items()}
                for name, variant in expected.items():
                    with replacing(where / f"{name.replace(':', '-')}.toml") as new:
                        new.write_text(as_toml(variant))
                write(predict(variants, costs, seeds, file.parent), predictions)
                show(f"predictions  {predictions}, {time.strftime('%H:%M:%S')}")
                planned = list(product(expected.items(), seeds))

                def measured() -> Iterator[Outcome]:
                    for (name, variant), number in planned:
                        log = where / f"{name.replace(':', '-')}-{number}.jsonl"
                        it = seeded(variant, number)
                        yield measure(name, it, processes, file.parent, log)

                found: list[Outcome] = []
                for outcome in tracked(measured(), planned, "live runs"):
                    found.append(outcome)
                    write(found, results)
    before, after = read(Outcome, predictions), read(Outcome, results)
    compared_runs = Comparison(before, after, scenario.times.value)
    show(*compared_runs.lines(), f"results      {results}")
    if output is not None:
        from sims.plots.comparisons import draw_reality

        show(f"picture      {draw_reality(compared_runs, scenario.name, output)}")
    return 0 if all(it.right and it.sound for it in compared_runs.measured) else FAILED


def variants_of(
    file: Path, scenario: Scenario, names: list[str], changes: list[str]
) -> dict[str, Scenario]:
    """Map the name of each policy in `names` to the scenario of `file` under that policy; if there
    are none, map the scenario's own policy to `scenario`.

    `changes` are settings KEY=VALUE. Raises InputError where a policy cannot decide for the
    scenario, or a name comes twice.
    """
    if not names:
        return {scenario.policy_name: scenario}
    found = {it: load(file, [*changes, f'policy.name="{it}"'], scenario.seed) for it in names}
    if len(found) < len(names):
        raise InputError(COMMAND_LINE, "--policy", "a name comes twice", "different ones")
    return found


# --- a simulation watched -----------------------------------------------------------------------


DRAWN = 400
"""Largest number of workers that are drawn one by one; of more, only the number in each state is
shown."""
ROW = 80
"""Number of workers in a row."""
WAITING = 12
"""Largest number of waiting jobs that are named."""

SIGNS = {
    "busy": ("\N{FULL BLOCK}", "green"),
    "idle": ("\N{MIDDLE DOT}", "default"),
    "reclaimed": ("\N{MEDIUM SHADE}", "yellow"),
    "down": ("\N{LIGHT SHADE}", "red"),
}
"""Maps the state of a worker to its sign and colour; the sign alone tells the states apart."""


class ShowLive(ShowProgress):
    """Shows the progress of a run on a terminal, and below it the state of every worker and the
    waiting jobs.

    A picture is computed from the run's history only when it is drawn: events are many, pictures
    few.
    """

    wants = ShowProgress.wants | HOLDING

    def __init__(self, title: str, unit: str, end: float, workers: int) -> None:
        super().__init__(title, unit, end)
        self._history = History(workers)
        self._lock = Lock()
        """Protects the history: the run goes on while the thread draws a picture."""

    def use_scenario(self, scenario: Scenario) -> None:
        """Take what no event repeats from the scenario itself."""
        self._history.use_scenario(scenario)

    def __call__(self, record: Record) -> None:
        with self._lock:
            self._history.apply(record)
        if type(record.event) in ShowProgress.wants:
            super().__call__(record)

    def picture(self) -> RenderableType:
        """Return the progress bar, the workers and the waiting jobs as the terminal shows them."""
        return Group(super().picture(), *self._rows(), self._queue())

    def waiting(self) -> list[str]:
        """Return the names of the jobs that wait for workers, in the order of the queue."""
        with self._lock:
            return [job.name for job in self._history.queue]

    def states(self) -> list[str]:
        """Return the state of every worker, by its number: busy, idle, reclaimed or down."""
        states = ["idle"] * self._history.processors
        with self._lock:
            for run in self._history.runs.values():
                for first, last in spans_in(run.processors):
                    states[first : last + 1] = ["busy"] * (last + 1 - first)
            for worker in self._history.workers.values():
                if worker.state is not WorkerState.UP:
                    states[worker.number] = worker.state.name.lower()
        return states

    def _rows(self) -> Iterator[Text]:
        states = self.states()
        if len(states) <= DRAWN:
            for first in range(0, len(states), ROW):
                row = Text()
                for state in states[first : first + ROW]:
                    row.append(*SIGNS[state])
                yield row
        counts = Counter(states)
        legend = Text()
        for state, (sign, style) in SIGNS.items():
            legend.append(sign, style).append(f" {state} {counts[state]:,}   ")
        yield legend

    def _queue(self) -> Text:
        waiting, running = self.waiting(), self._history.running
        more = ", ..." if len(waiting) > WAITING else ""
        who = f": {', '.join(waiting[:WAITING])}{more}" if waiting else ""
        return Text(visible(f"{running:,} running, {len(waiting):,} waiting{who}"))
