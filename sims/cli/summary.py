"""`holdfast summary`: a log's run in numbers, by job, by worker, or by class of jobs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated

from sims.cli.logs import reading
from sims.errors import show, visible
from sims.ledger import Account, Use
from sims.metrics.jobs import STATISTICS, By, Spreads, as_data, spreads_of
from sims.options import AsJson, Log, chosen
from sims.report import Report, amounts
from sims.telling import amount_of

JOB, WORKER = "job", "worker"
Classes = Mapping[str, tuple[int, Spreads]]
"""By name: how many jobs, and their numbers."""


def summary(
    log: Log,
    as_json: AsJson = False,
    by: Annotated[
        str | None,
        chosen(
            (JOB, WORKER, *(by.value for by in By)),
            "a ledger for each job or worker, or the figures of each class of jobs",
        ),
    ] = None,
) -> None:
    """Summarise a log: makespan, flowtimes, and where the processor time went."""
    with reading(log) as file:
        report = Report.of(file, workers=by == WORKER, jobs=by == JOB)
        lines = list(_told(report, by, as_json))
    show(*lines)


def _told(report: Report, by: str | None, as_json: bool) -> Iterator[str]:
    accounts, classes = _accounts(report, by), _classes(report, by)
    if as_json:
        each: dict[str, object] = {name: amounts(it) for name, it in accounts.items()}
        each |= {name: {"jobs": jobs, **as_data(it)} for name, (jobs, it) in classes.items()}
        yield json.dumps(report.as_json() | ({"by": each} if each else {}), sort_keys=True)
        return
    yield from report.lines()
    if accounts:
        yield from account_table(accounts)
    if classes:
        yield from _class_table(classes)


def _accounts(report: Report, by: str | None) -> dict[str, Account]:
    started, ledger = report.summary.started, report.ledger
    if by == JOB:
        jobs = report.summary.submitted
        return {job: ledger.by_job[job] for job in jobs if job in ledger.by_job}
    if by != WORKER or started is None:
        return {}
    names = started.workers or tuple(map(str, range(started.processors)))
    return {name: ledger.by_worker[k] for k, name in enumerate(names)}


def _classes(report: Report, by: str | None) -> Classes:
    if by in (None, JOB, WORKER):
        return {}
    values = report.jobs.quantities()
    return {
        name: (int(which.sum()), spreads_of({it: all_of[which] for it, all_of in values.items()}))
        for name, which in report.jobs.classes(By(by))
    }


def account_table(accounts: Mapping[str, Account]) -> Iterator[str]:
    """One line per account, one column per use that any of them has."""
    uses = [use for use in Use if any(account[use] for account in accounts.values())]
    heads = ["", *(use.value for use in uses)]
    rows = (
        [name, *(amount_of(float(account[use]), 8) for use in uses)]
        for name, account in accounts.items()
    )
    return _aligned([heads, *rows], [16] * len(uses))


def _class_table(classes: Classes) -> Iterator[str]:
    """One line per class of jobs: how long they waited, and how much that slowed them down."""
    told, blank = ("wait", "bounded_slowdown"), [""] * (len(STATISTICS) - 1)
    above = ["", "", f"{'wait':<12}", *blank, "bounded slowdown", *blank]
    heads = ["", "jobs", *STATISTICS, *STATISTICS]
    rows = []
    for name, (jobs, spreads) in classes.items():
        numbers = (getattr(spreads[it], each, None) for it in told for each in STATISTICS)
        cells = ("-" if number is None else f"{number:,.6g}" for number in numbers)
        rows.append([name, f"{jobs:,}", *cells])
    return _aligned([above, heads, *rows], [9] + [12] * len(told) * len(STATISTICS))


def _aligned(rows: Iterable[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    """Names on the left; right of them columns of such widths."""
    shown = [(visible(name), cells) for name, *cells in rows]
    width = max(16, *(len(name) for name, _ in shown))
    for name, cells in shown:
        columns = zip(cells, widths, strict=True)
        yield f"{name:<{width}}{''.join(f'{cell:>{w}}' for cell, w in columns)}".rstrip()
