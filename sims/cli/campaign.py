"""Run a campaign file, on this machine or a cluster; tell how far it is; table, picture, data."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from sims.campaign import tables
from sims.campaign.campaign import Campaign, load_campaign
from sims.campaign.engine import execute as run_campaign
from sims.campaign.executors import PATIENCE, Workers, cluster, local
from sims.campaign.picture import draw
from sims.campaign.results import Results
from sims.campaign.store import Store
from sims.campaign.tables import Form
from sims.cli.scenarios import naming
from sims.cli.watching import bar, interruptible
from sims.errors import InputError
from sims.exports import tables as exports
from sims.options import Parser, add_choice, picture, positive, positive_int
from sims.script import prepare_pictures, wide_console
from sims.telling import counted
from sims.writing import check_suffix, replacing

ABOUT = """\
Results are a folder of Parquet files, by default logs/campaigns/NAME. `run` runs what is not there
yet: a campaign that was stopped or killed goes on by the same command, or by `resume`, on other
workers if need be. `status` may be asked from another terminal. Where a file that the campaign
names has changed, what follows from it is run again."""

FOLDER = Path("logs/campaigns")
RECENT = 60
"""Seconds over which `status` takes the rate."""
SHOWN = 5
"""Cells that raised, told one by one."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = ABOUT
    actions = parser.add_subparsers(required=True, metavar="ACTION", parser_class=Parser)
    for name, (about, action, declare) in ACTIONS.items():
        command = actions.add_parser(name, help=about, description=about)
        add = command.add_argument
        add("file", metavar="FILE", type=Path, help="campaign file (TOML)")
        about = "of results; default: logs/campaigns/NAME"
        add("--results", metavar="DIR", type=Path, help=about)
        add("--size", metavar="NAME", help="one of the file's [sizes]")
        about = "runs of every variant in every cell, whatever the file says"
        add("--replications", type=positive_int, metavar="N", help=about)
        declare(command)
        command.set_defaults(action=action)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    given = {"replications": arguments.replications} if arguments.replications else {}
    campaign = load_campaign(arguments.file, arguments.size, given)
    store = Store(arguments.results or FOLDER / campaign.name)
    with naming(arguments.file):
        code: int = arguments.action(arguments, campaign, store)
    return code


# --- running ----------------------------------------------------------------------------------


def _running(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    about = "a Dask cluster: tcp://HOST:PORT, or the file that `dask scheduler` wrote"
    add("--scheduler", metavar="ADDRESS", help=about)
    about = f"seconds for which it may be without a worker; default: {PATIENCE:g}"
    add("--patience", type=positive, metavar="S", default=PATIENCE, help=about)
    add("--processes", type=positive_int, metavar="N", help="on this machine; default: its cores")
    add("--retry", action="store_true", help="run cells again that raised an error")


def _run(arguments: argparse.Namespace, campaign: Campaign, store: Store) -> int:
    if campaign.picture is not None:
        prepare_pictures(store.folder)
    _tell_changes(campaign, store)
    kept = f"what is finished is in {store.folder}: the same command goes on"
    with interruptible(kept), _workers(arguments) as workers, bar(campaign.name) as watch:
        results = run_campaign(campaign, workers, store, watch=watch, retry=arguments.retry)
    _show(results, Form.LONG)
    _tell_raised(results)
    print(f"results  {store.folder}: {counted(len(results.found), 'cell')}")
    if campaign.picture is not None:
        print(f"picture  {draw(results, store.folder / f'{campaign.name}.png')}")
    return 0


def _resume(arguments: argparse.Namespace, campaign: Campaign, store: Store) -> int:
    if not store.files():
        accepted = "the folder of a campaign that has begun"
        raise InputError(str(store.folder), "", "there is nothing to go on from", accepted)
    return _run(arguments, campaign, store)


def _workers(arguments: argparse.Namespace) -> AbstractContextManager[Workers]:
    if arguments.scheduler:
        return cluster(arguments.scheduler, arguments.patience)
    return local(arguments.processes)


def _tell_changes(campaign: Campaign, store: Store) -> None:
    results = Results.of(campaign, store=store)
    changed = store.changed(results.description())
    if changed:
        told = f"changed since it began: {', '.join(changed)}; what follows from it is run again"
        Console(stderr=True).print(told, highlight=False, soft_wrap=True)


def _tell_raised(results: Results) -> None:
    raised = list(results.raised())
    for (case, replication), result in raised[:SHOWN]:
        print(f"raised   {case}, seed {result.seed}: {result.error}")
        print(f"         {results.reproducing(case, replication)}")
    if len(raised) > SHOWN:
        print(f"         and {len(raised) - SHOWN:,} more: `holdfast campaign status`")


# --- telling ----------------------------------------------------------------------------------


def _status(arguments: argparse.Namespace, campaign: Campaign, store: Store) -> int:
    results = Results.of(campaign, store=store)
    missing, total = results.left(), results.asked()
    print(f"{campaign.name}: {total - missing:,} of {counted(total, 'cell')} finished")
    changed = store.changed(results.description())
    if changed:
        print(f"  changed   {', '.join(changed)}")
    times = [path.stat().st_mtime for path in store.files()]
    if times:
        print(f"  last      {time.time() - max(times):,.0f} s ago, in {store.folder}")
    rate = store.recent(RECENT) / RECENT
    if missing and rate:
        print(f"  rate      {rate:,.3g}/s, {missing / rate:,.0f} s left")
    for (case, replication), result in results.raised():
        print(f"  raised    {case}, seed {result.seed}: {result.error}")
        print(f"            {results.reproducing(case, replication)}")
    return 0


def _form(command: argparse.ArgumentParser) -> None:
    add_choice(command, "--form", Form.LONG, "long: a row per variant; wide: a row per cell")
    about = f"write it: {', '.join(tables.SUFFIXES)}"
    command.add_argument("-o", "--output", metavar="FILE", type=Path, help=about)


def _table(arguments: argparse.Namespace, campaign: Campaign, store: Store) -> int:
    results = _finished(campaign, store)
    if arguments.output is None:
        _show(results, arguments.form)
    else:
        rows = tables.write(results, arguments.form, arguments.output)
        print(f"{arguments.output}: {counted(rows, 'row')}")
    return 0


def _finished(campaign: Campaign, store: Store) -> Results:
    results = Results.of(campaign, store=store)
    if not results.found:
        accepted = f"`holdfast campaign run {campaign.source}` first"
        raise InputError(str(store.folder), "", "no cell of it is finished", accepted)
    return results


def _show(results: Results, form: Form) -> None:
    console = wide_console()
    table = tables.shown(results, form)
    columns = [
        Column(head, justify="left" if place < table.keys else "right", no_wrap=True)
        for place, head in enumerate(table.heads)
    ]
    grid = Grid(*columns, title=Text(results.campaign.name), box=SIMPLE)
    for row in table.rows:
        grid.add_row(*(Text(str(it)) for it in row))
    console.print(grid)
    for note in tables.notes(results, form):
        console.print(note, highlight=False, markup=False, soft_wrap=True)


def _picture(command: argparse.ArgumentParser) -> None:
    about = "the picture; default: NAME.png in the folder of results"
    command.add_argument("-o", "--output", metavar="FILE", type=picture, help=about)


def _plot(arguments: argparse.Namespace, campaign: Campaign, store: Store) -> int:
    path = arguments.output or store.folder / f"{campaign.name}.png"
    print(f"picture  {draw(_finished(campaign, store), path)}")
    return 0


def _target(command: argparse.ArgumentParser) -> None:
    about = f"a row for each run: {', '.join(exports.SUFFIXES)}"
    add = command.add_argument
    add("-o", "--output", metavar="FILE", type=Path, required=True, help=about)


def _export(arguments: argparse.Namespace, campaign: Campaign, store: Store) -> int:
    path = arguments.output
    check_suffix(path, "table", exports.SUFFIXES)
    frame = _finished(campaign, store).frame()
    with replacing(path) as new:
        (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(new)
    print(f"{path}: {counted(len(frame), 'run')}")
    return 0


Action = Callable[[argparse.Namespace, Campaign, Store], int]
Declare = Callable[[argparse.ArgumentParser], Any]

ACTIONS: dict[str, tuple[str, Action, Declare]] = {
    "run": ("Run what is missing; print the table, draw the picture.", _run, _running),
    "resume": ("Go on with a campaign that has begun.", _resume, _running),
    "status": ("How far it is, how fast, and what raised an error.", _status, lambda _: None),
    "table": ("Every variant in every cell, beside the baseline.", _table, _form),
    "plot": ("Draw the picture that the file asks for.", _plot, _picture),
    "export": ("Write all runs as a table.", _export, _target),
}
