"""Implements `holdfast run`, `check` and `optimum` for one scenario file, and `check-policy` for
one policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs

from sims.cli.progress import ShowProgress
from sims.errors import COMMAND_LINE, FAILED, InputError, imported, naming, note, show
from sims.history.summary import FAULTS_TOO, WANTED, Summary
from sims.options import (
    AsJson,
    Overrides,
    Policies,
    ScenarioFile,
    Seed,
    Until,
    argument,
    duration,
    flag,
    moment,
    option,
    positive_int,
)
from sims.scenario import Scenario
from sims.scenario.advice import warn_of_idle
from sims.scenario.expectations import stated
from sims.scenario.loader import files_of, load, overridden
from sims.scenario.policy import PolicySection
from sims.summary import summary_json, summary_lines
from sims.telling import counted
from sims.world import checked_seed, log_path
from sims.world import run as simulate

if TYPE_CHECKING:
    from sims.log_writer import LogWriter


def run(
    file: Annotated[Path, argument(Path, "FILE", "scenario (TOML), or a log to repeat its run")],
    seed: Seed = None,
    changes: Overrides = None,
    policies: Policies = None,
    log: Annotated[
        str | None,
        option(str, "PATH", "file of the log (.gz, .xz, .zst: compressed); `none`: no log"),
    ] = None,
    until: Until = None,
    debug: Annotated[bool, flag("--debug", "log debug events too")] = False,
    messages: Annotated[
        bool, flag("--messages", "log the messages between the world's actors too")
    ] = False,
    live: Annotated[bool, flag("--live", "show workers and queue while it runs")] = False,
    as_json: Annotated[bool, flag("--json", "print the summary as JSON")] = False,
) -> int:
    """Simulate a scenario file and write an event log.

    In place of a scenario, a log may be given: its run is repeated from it alone, with the files
    that its scenario names. The exit code is 1 if the new log differs."""
    if seed is not None:
        checked_seed(seed, COMMAND_LINE, "--seed")
    if log == "":
        raise InputError(COMMAND_LINE, "--log", "'' names no file", "a path, or `none`")
    folder, repeats = file.parent, _is_log(file)
    if repeats:
        given = {"--seed": seed, "--set": changes, "--until": until, "--debug": debug or None}
        given["--messages"] = messages or None
        scenario, folder, until, debug, messages = _repeated(file, given)
    else:
        scenario = load(file, changes or (), seed)
        with naming(file):
            until = scenario.time_until(until)
    summary, writer, both = Summary(wants=FAULTS_TOO if stated(scenario) else WANTED), None, None
    with naming(file), ExitStack() as stack:
        path = log_path(scenario, log)
        progress = stack.enter_context(_progress(scenario, until, live))
        sinks: list[Any] = [summary, progress]
        if path is not None:
            from sims.log_writer import LogWriter
            from sims.writing import refuse_inputs

            own = [] if repeats else [file]  # a log may be written anew under its own name
            refuse_inputs(path, "--log", *own, *files_of(scenario, folder))
            writer = stack.enter_context(LogWriter(path))
            both = writer if messages else None
            sinks += [] if messages else [writer]

        def begins(jobs: int, now: Callable[[], float]) -> None:
            warn_of_idle(scenario)  # only for scenarios that are not refused
            progress.begins(jobs, now)

        simulate(scenario, sinks, folder, debug, until, begins, messages=both)
    told, compared = _compared(file, writer) if repeats and writer else ({}, ())
    written = {"log": None if writer is None else str(writer.path)}
    if as_json:
        print(json.dumps(summary_json(summary) | written | told, sort_keys=True))
    else:
        show(*summary_lines(summary), f"  log         {written['log'] or 'none'}", *compared)
    if writer is not None and writer.note:
        note(writer.note)
    return FAILED if told.get("same") is False else 0


def _is_log(file: Path) -> bool:
    """Return whether the file that is to be run is a log."""
    if file.suffix == ".toml" or not file.is_file():
        return False
    from sims.log import is_log  # a run of a scenario need not load what reads logs

    return is_log(file)


def _repeated(
    log: Path, given: Mapping[str, object]
) -> tuple[Scenario, Path, float | None, bool, bool]:
    """Return the scenario of a log's run, the folder of its files, and its options `--until`,
    `--debug` and `--messages`.

    Raises InputError for options of the command line that would change the run (`given` has their
    values, or None) and as `repeat_of` does.
    """
    from sims.repeat import has_messages, repeat_of

    for name in (name for name, value in given.items() if value is not None):
        problem = f"{log} is a log, whose run is repeated as it was"
        raise InputError(COMMAND_LINE, name, problem, "a scenario file, or no such option")
    it = repeat_of(log)
    return it.scenario, it.folder, it.started.until, it.started.debugged, has_messages(log)


def _compared(log: Path, writer: LogWriter) -> tuple[dict[str, object], tuple[str, ...]]:
    """Compare a log with the one that its repeated run has written. Return what was found, as data
    and as lines for people."""
    from sims.repeat import first_difference

    # The log may have been moved aside, as it has the name of the new one.
    replaced = log.exists() and log.samefile(writer.path)
    before = (writer.older or log) if replaced else log
    line = first_difference(before, writer.path)
    data = {"repeats": str(log), "same": line is None, "line": line}
    words = "byte for byte" if line is None else f"NOT: line {line:,} differs"
    return data, (f"  repeats     {log}, {words}",)


def _progress(scenario: Scenario, until: float | None, live: bool) -> ShowProgress:
    end = min(scenario.cap, inf if until is None else until)
    asked = scenario.name, scenario.times.value, end
    if not live:
        return ShowProgress(*asked)
    from sims.cli.live import ShowLive

    return ShowLive(*asked, scenario.full_platform.size)


def check(
    file: ScenarioFile,
    changes: Overrides = None,
    policies: Policies = None,
    load_code: Annotated[bool, flag("--load", "load the code that it names, too")] = False,
    as_json: Annotated[bool, flag("--json", "print the numbers of jobs as JSON")] = False,
) -> None:
    """Check a scenario file without running it.

    Code that the file names is located, and loaded only with --load."""
    from sims.session import check as checked

    found = checked(file, overridden(changes), load_code=load_code)
    show(*([json.dumps(found.as_json())] if as_json else found.lines()))


def optimum(
    file: ScenarioFile,
    slots: Annotated[int, option(positive_int, "N", "how far ahead to look")] = 100,
    time_limit: Annotated[float, option(duration, "TIME", "seconds for each search")] = 60,
    seed: Seed = None,
    changes: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Compute what a clairvoyant scheduler reaches on a small iterative scenario."""
    from sims.papers.optimum import reference

    scenario = load(file, changes or (), seed)
    with naming(file):
        found = reference(scenario, slots, time_limit, file.parent)
    show(*([json.dumps(attrs.asdict(found))] if as_json else found.lines()))


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
    takes too long, too much memory, or has no end, or the end of the process. One of the last four
    ends the test. An agent is tried in small random worlds. Exit code 1 if there is a fault.
    """
    imported("hypothesis", "check-policy", "pip install 'holdfast[kit]'")
    from sims.kit import trial
    from sims.processes import Unfinished

    section = PolicySection(name=policy, parameters=overridden(parameters))
    load = partial(section.load, "name", _no_paper, policies or Path())
    patience = max(within, trial.LOADING)
    try:
        with naming(COMMAND_LINE):
            found = trial.tried(load, point, views, within, patience)
    except Unfinished as error:
        problem = f"{policy!r} is not imported and made within {patience:g} s"
        accepted = "a faster one, or --within"
        if error.code is not None:
            problem = f"{policy!r} ends the process, {error.how}, as it is imported and made"
            accepted = "one that only raises"
        raise InputError(COMMAND_LINE, "POLICY", problem, accepted) from None
    for it in found.findings:
        print(f"{it.wrong.value}: {it.problem}\nthe smallest view found:\n{it.view}\n")
    faults = counted(len(found.findings), "fault") if found.findings else "no fault"
    show(f"{policy} as {found.point.value}: {counted(found.views, 'view')}, {faults}")
    return 1 if found.findings else 0


def _no_paper(name: str) -> Any:
    raise ValueError(f"{name!r} is no policy of yours; accepted: package.module:Name")
