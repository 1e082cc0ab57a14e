"""Implements `holdfast campaign`: runs a campaign file, here or on a cluster, and shows its table,
picture and data."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from attrs import evolve

from sims.campaign.engine import execute as run_campaign
from sims.campaign.executors import PATIENCE, Workers, cluster, local
from sims.campaign.file import load_campaign
from sims.campaign.picture import draw, prepare_pictures
from sims.campaign.question import Question, Watch, Where
from sims.campaign.results import Results, Store, write_frame
from sims.campaign.tables import MOST, SUFFIXES, Table
from sims.campaign.tuning import tune
from sims.campaign.varied import Ranges
from sims.cli.progress import Count
from sims.errors import COMMAND_LINE, FAILED, InputError, naming, note, show
from sims.exports import tables as exports
from sims.options import (
    Policies,
    argument,
    duration,
    flag,
    group,
    option,
    picture,
    positive_int,
    written,
)
from sims.telling import counted, show_table
from sims.writing import check_suffix, unlinked

FOLDER = Path("logs/campaigns")
RECENT = 60
"""Seconds over which `status` measures the rate of finished runs."""
SHOWN = 5
"""Largest number of failed runs that are listed one by one."""

campaign = group(
    """Run a campaign file: many runs of a scenario, a table and a figure.

    Results are a folder of Parquet files, by default logs/campaigns/NAME. `run` runs what is
    missing: the same command, or `resume`, continues a campaign that was stopped or killed. Where a
    file that the campaign names has changed, the runs that depend on it are run again. `status`
    works from another terminal meanwhile."""
)

File = Annotated[Path, argument(Path, "FILE", "campaign file (TOML)")]
Folder = Annotated[
    Path | None,
    option(Path, "DIR", "folder of results; default: logs/campaigns/NAME"),
]
Size = Annotated[str | None, option(str, "NAME", "one of the file's [sizes]")]
Replications = Annotated[
    int | None,
    option(positive_int, "N", "runs of each variant in each cell, in place of the file's"),
]
Scheduler = Annotated[
    str | None,
    option(
        str, "ADDRESS", "a Dask cluster: tcp://HOST:PORT, or the file that `dask scheduler` wrote"
    ),
]
Patience = Annotated[
    float,
    option(duration, "TIME", "give up after this time without a worker, in seconds"),
]
Processes = Annotated[
    int | None,
    option(positive_int, "N", "processes on this machine; default: one per core"),
]
Load = Annotated[
    bool, flag("--load", "call the function that `scenario` names: code of the file's folder")
]
Whole = Annotated[
    bool,
    flag(
        "--all",
        f"print all cells, also where they are over {MOST} rows, or the picture marks the best of "
        "each line",
    ),
]
Retry = Annotated[bool, flag("--retry", "run again what raised an error")]


@contextmanager
def working(
    file: Path | str,
    title: str,
    store: Path | None,
    scheduler: str | None = None,
    patience: float = PATIENCE,
    processes: int | None = None,
    *,
    bound: bool = False,
) -> Iterator[tuple[Workers, Watch]]:
    """Yield workers for the runs of `file`, and a function that shows under `title` how many of
    these are done.

    The workers are those of the Dask cluster at `scheduler`, which may be without a worker for
    `patience` seconds, or else `processes` processes on this machine (default: one per core).
    Errors name `file`. An interrupt by Ctrl-C or SIGTERM says whether finished runs are in `store`,
    from which the same command goes on. With `bound`, the number of runs asked for is only a bound.
    """
    workers = cluster(scheduler, patience) if scheduler else local(processes)
    try:
        with naming(file), workers as ready, Count(title, bound) as watch:
            yield ready, watch
    except KeyboardInterrupt as interrupt:
        # Whoever presses again while workers are stopped would only see a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        more = "with --store none nothing is kept"
        if store is not None:
            kept = f"what is finished is in {store}: the same command goes on"
            more = kept if Store(store).files() else "no run has finished yet"
        raise type(interrupt)(f"; {more}") from None


@contextmanager
def _opened(
    file: Path,
    results: Path | None,
    size: str | None,
    replications: int | None,
    load: bool = True,
    searches: bool = False,
) -> Iterator[tuple[Question, Store]]:
    given = {"replications": replications} if replications else {}
    asked = load_campaign(file, size, given)
    searching = isinstance(asked.varied, Ranges)
    section = "tune" if searching else "precision" if asked.surely.precision else ""
    if replications and section:
        problem = f"{replications} has no effect beside [{section}]"
        raise InputError(COMMAND_LINE, "--replications", problem, f"the keys of [{section}]")
    if asked.subject.made and not load:
        problem = f"{asked.subject.source!r} is a function, which is not called here"
        raise InputError(str(file), "scenario", problem, "--load, which calls it")
    if searching and not searches:
        problem = "a search has no cells"
        raise InputError(str(file), "tune", problem, "`holdfast campaign run`, which answers it")
    with naming(file):
        yield asked, Store(results or unlinked(FOLDER / asked.name, "--results"))


# --- running ----------------------------------------------------------------------------------


@campaign.command("resume", help="Continue a campaign that has begun.")
@campaign.command()
def run(
    context: typer.Context,
    file: File,
    results: Folder = None,
    size: Size = None,
    replications: Replications = None,
    scheduler: Scheduler = None,
    patience: Patience = PATIENCE,
    processes: Processes = None,
    retry: Retry = False,
    policies: Policies = None,
    whole: Whole = False,
) -> None:
    """Run what is missing; print the table, draw the picture."""
    with _opened(file, results, size, replications, searches=True) as (asked, store):
        if context.info_name == "resume" and not store.files():
            accepted = "the folder of a campaign that has begun"
            raise InputError(str(store.folder), "", "there is nothing to go on from", accepted)
        searching = isinstance(asked.varied, Ranges)
        if asked.picture is not None or searching:
            prepare_pictures(store.folder)
        begun = file, asked.name, store.folder, scheduler, patience, processes
        drawn = store.folder / f"{asked.name}.png"
        if searching:
            with working(*begun, bound=True) as (workers, watch):
                where = Where(store.folder, workers, watch, note)
                answer = tune(evolve(asked, where=where))
            show_table(answer)
            show(answer.saved(drawn))
            return
        store.set_damaged_aside()
        if changed := store.changed(Results.of(asked, store=store).description()):
            named = ", ".join(changed)
            note(f"changed since it began: {named}; what follows from it is run again")
        with working(*begun) as (workers, watch):
            found = run_campaign(asked, workers, store, watch=watch, retry=retry)
        show_table(Table(found, whole))
        raised = list(_raised(found, "raised  "))
        show(*raised[: 2 * SHOWN])
        if len(raised) > 2 * SHOWN:
            show(f"         and {len(raised) // 2 - SHOWN:,} more: `holdfast campaign status`")
        show(f"results  {store.folder}: {counted(len(found.found), 'run')}")
        if asked.picture is not None:
            show(f"picture  {draw(found, drawn)}")
        if raised:
            raise typer.Exit(FAILED)


def _raised(results: Results, label: str) -> Iterator[str]:
    """Yield two lines for each run that raised an error: the error after `label`, and the command
    that reproduces it."""
    for (case, replication), result in results.raised():
        yield f"{label} {case}, seed {result.seed}: {result.error}"
        yield f"{'':{len(label)}} {case.reproducing(replication)}"


# --- telling ----------------------------------------------------------------------------------


@campaign.command()
def status(
    file: File,
    results: Folder = None,
    size: Size = None,
    replications: Replications = None,
    load: Load = False,
    policies: Policies = None,
) -> None:
    """Print how many runs are finished, how fast, and which raised an error."""
    with _opened(file, results, size, replications, load) as (asked, store):
        found = Results.of(asked, store=store)
        missing, total = found.left(), found.asked()
        changed = store.changed(found.description())
        show(f"{asked.name}: {total - missing:,} of {counted(total, 'run')} finished")
        if changed:
            show(f"  changed   {', '.join(changed)}")
        times = [path.stat().st_mtime for path in store.files()]
        if times:
            show(f"  last      {time.time() - max(times):,.0f} s ago, in {store.folder}")
        rate = store.recent(RECENT) / RECENT
        if missing and rate:
            show(f"  rate      {rate:,.3g}/s, {missing / rate:,.0f} s left")
        show(*_raised(found, "  raised   "))


@campaign.command()
def table(
    file: File,
    results: Folder = None,
    size: Size = None,
    replications: Replications = None,
    output: Annotated[
        Path | None,
        written(f"write it: {', '.join(SUFFIXES)}"),
    ] = None,
    load: Load = False,
    policies: Policies = None,
    whole: Whole = False,
) -> None:
    """Print or write the table: each variant in each cell, compared with the baseline."""
    with _finished(file, results, size, replications, load) as (found, _):
        made = Table(found, whole)
        if output is None:
            show_table(made)
        else:
            show(f"{output}: {counted(made.write(output), 'row')}")


@contextmanager
def _finished(
    file: Path, results: Path | None, size: str | None, replications: int | None, load: bool
) -> Iterator[tuple[Results, Path]]:
    """Yield the finished results of the campaign in `file`, and the folder in which they are.
    Raises InputError if there are none."""
    with _opened(file, results, size, replications, load) as (asked, store):
        found = Results.of(asked, store=store, partly=True)
        if not found.found:
            accepted = f"`holdfast campaign run {asked.door.source}` first"
            raise InputError(str(store.folder), "", "no run of it is finished", accepted)
        yield found, store.folder


@campaign.command()
def plot(
    file: File,
    results: Folder = None,
    size: Size = None,
    replications: Replications = None,
    output: Annotated[
        Path | None,
        written("the picture; default: NAME.png in the folder of results", picture),
    ] = None,
    load: Load = False,
    policies: Policies = None,
) -> None:
    """Draw the picture that the file asks for."""
    with _finished(file, results, size, replications, load) as (found, folder):
        show(f"picture  {draw(found, output or folder / f'{found.question.name}.png')}")


@campaign.command()
def export(
    file: File,
    output: Annotated[
        Path,
        written(f"a row for each run: {', '.join(exports.SUFFIXES)}"),
    ],
    results: Folder = None,
    size: Size = None,
    replications: Replications = None,
    load: Load = False,
    policies: Policies = None,
) -> None:
    """Write all runs as a table."""
    with _finished(file, results, size, replications, load) as (found, _):
        check_suffix(output, "table", exports.SUFFIXES)
        frame = found.runs()
        write_frame(frame, output)
        show(f"{output}: {counted(len(frame), 'run')}")
