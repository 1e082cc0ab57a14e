"""`holdfast chaos`, `matrix` and `check-policy`: many small questions, and what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

from sims.campaign.engine import run_many
from sims.chaos import (
    InjectedRun,
    Injection,
    TrialOutcome,
    attempt,
    trials,
    undisturbed,
    usual_length,
)
from sims.cli.progress import tracked
from sims.durations import in_unit
from sims.errors import COMMAND_LINE, InputError, imported, naming, show
from sims.matrix import AXES, meanings, text
from sims.options import (
    Overrides,
    Policies,
    ScenarioFile,
    argument,
    duration,
    moment,
    natural,
    option,
    positive_int,
)
from sims.scenario.loader import load, split_override, value_of
from sims.scenario.policy import PolicySection, load_policy
from sims.telling import counted, grid, show_table

WORST, SHOWN = 5, 10
"""Injected failures that are listed: those that cost most, those that found something."""
Found = Sequence[tuple[InjectedRun, TrialOutcome]]


def chaos(
    file: ScenarioFile,
    seed: Annotated[
        int | None,
        option(natural, "SEED", "default: the scenario's"),
    ] = None,
    changes: Overrides = None,
    policies: Policies = None,
    length: Annotated[
        float | None,
        option(
            duration,
            "TIME",
            "how long a failed worker stays away; default: faults.downtime, or a tenth of the run",
        ),
    ] = None,
    most: Annotated[
        int, option(positive_int, "N", "number of runs: if more failures are possible, N are drawn")
    ] = 2000,
) -> int:
    """Repeat a scenario with injected failures, one in each run.

    In each run one worker goes DOWN or is RECLAIMED once: at an event of the baseline run, or
    between two events. Each run must end, pass the audit, and recover from all that its protection
    had saved. A run that does not is printed with the command that repeats it.
    """
    asked = load(file, changes or (), seed)
    length = in_unit(length, "--length", lambda: asked.times.value)
    with naming(file):
        baseline = undisturbed(asked, file.parent)
    length = length or usual_length(asked, baseline)
    runs = trials(asked, file.parent, baseline, length, most)
    unit, workers = asked.times.value, asked.full_platform.size
    every = 2 * workers * len(baseline.instants)
    drawn = f"{len(runs):,} of {every:,}, drawn at random"
    which = f"all {every:,}" if len(runs) == every else drawn
    show(
        f"{asked.name}: {counted(workers, 'worker')}, {counted(len(baseline.instants), 'moment')}, "
        f"baseline makespan {baseline.makespan:g} {unit}; "
        f"each injected failure lasts {length:g} {unit}; {which}"
    )
    found = list(tracked(run_many(attempt, runs), runs, "injected failures"))
    _show_costs(baseline, found)
    wrong = [(trial, verdict) for trial, verdict in found if verdict.problems]
    for problem in baseline.problems[:SHOWN]:
        show(f"baseline: {problem}")
    for trial, verdict in wrong[:SHOWN]:
        line = f"holdfast run {file} --seed {trial.scenario.seed} {trial.spelt()}"
        show(verdict.problems[0], f"  {line}")
    if wrong or baseline.problems:
        return 1
    show("every run ends, obeys every law, and keeps what was saved")
    return 0


def _show_costs(baseline: TrialOutcome, found: Found) -> None:
    by = {it: [verdict for trial, verdict in found if trial.injection is it] for it in Injection}
    rows = ((it.value, *_row(baseline, verdicts)) for it, verdicts in by.items() if verdicts)
    heads = ("runs", "sound", "makespan: mean", "most", "more work lost: mean", "most")
    show_table(grid(("injected failure",), heads, rows))
    show(f"what cost most (baseline: {baseline.makespan:g})")
    for trial, verdict in sorted(found, key=_cost)[:WORST]:
        where = f"{trial.injection.value} worker {trial.worker} at {trial.time:g}"
        show(f"  {where}: makespan {verdict.makespan:g}, lost {verdict.lost:g}")


def _row(baseline: TrialOutcome, verdicts: Sequence[TrialOutcome]) -> tuple[str, ...]:
    count, sound = len(verdicts), sum(not verdict.problems for verdict in verdicts)
    spans = [it.makespan / baseline.makespan if baseline.makespan else 1 for it in verdicts]
    lost = [it.lost - baseline.lost for it in verdicts]
    times = f"x {mean(spans):.3f}", f"x {max(spans):.3f}"
    return f"{count:,}", f"{sound:,}", *times, f"{mean(lost):.4g}", f"{max(lost):.4g}"


def _cost(pair: tuple[InjectedRun, TrialOutcome]) -> tuple[float, float, float, int]:
    trial, verdict = pair
    return -verdict.makespan, -verdict.lost, trial.time, trial.worker


# --- cells ------------------------------------------------------------------------------------


def matrix(
    cell: Annotated[
        str | None,
        argument(str, "CELL", "such as rigid/faults/images/master: print its scenario file"),
    ] = None,
    seed: Annotated[int, option(natural, "SEED", "which example of each cell")] = 0,
) -> None:
    """List the combinations of job, hazard, protection and communication.

    `holdfast matrix rigid/faults/images/master > mine.toml` writes the example of one cell.
    """
    if cell is None:
        for axis in AXES.values():
            rows = ((name, part["about"]) for name, part in axis["parts"].items())
            show_table(grid((axis["about"], ""), (), rows))
        show("A cell is one of each: rigid/faults/images/master; every cell runs.")
        return
    try:
        print(*(f"# {line}" for line in meanings(cell)), text(cell, seed), sep="\n", end="")
    except ValueError as accepted:
        raise InputError(COMMAND_LINE, "CELL", f"{cell!r} is none", str(accepted)) from None


# --- policies ---------------------------------------------------------------------------------


def check_policy(
    policy: Annotated[str, argument(str, "MODULE:NAME", "your class, function or object")],
    point: Annotated[
        str | None,
        option(str, "POINT", "what it decides, where that is not clear"),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        option(
            str,
            "KEY=VALUE",
            "a parameter of the class, as in [policy.parameters] (repeatable)",
            "--set",
        ),
    ] = None,
    policies: Policies = None,
    views: Annotated[int, option(positive_int, "N", "number of questions")] = 200,
    within: Annotated[
        float,
        option(moment, "TIME", "seconds that an answer may take"),
    ] = 1.0,
) -> int:
    """Test a policy of yours with random questions.

    The decision point is recognised by the policy's parameters (policies/interface) and, among
    several, by its answers. Each kind of fault is printed once, with the smallest view that shows
    it: an answer that cannot be carried out (a worker that is DOWN, more processors than there
    are), an exception, a change of the view, another answer to the same question, an answer that
    takes too long. Exit code 1 if there is one.
    """
    imported("hypothesis", "check-policy", "pip install 'holdfast[kit]'")
    from sims.kit.trial import Trial, recognised

    given = {key: value_of(text) for key, text in map(split_override, parameters or ())}
    loaded = load_policy(
        PolicySection(name=policy, parameters=given), _no_paper, policies or Path()
    )
    kind = recognised(loaded, point)
    findings = Trial(loaded, kind, views, within).findings()
    for it in findings:
        print(f"{it.wrong.value}: {it.told}\nthe smallest view found:\n{it.view}\n")
    faults = counted(len(findings), "fault") if findings else "no fault"
    show(f"{policy} as {kind.value}: {counted(views, 'view')}, {faults}")
    return 1 if findings else 0


def _no_paper(name: str) -> Any:
    raise ValueError(f"{name!r} is no policy of yours; accepted: package.module:Name")
