"""`holdfast summary`: a log's run in numbers, by job, by worker, or by class of jobs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated

from sims.cli.logs import reading
from sims.errors import show
from sims.ledger import Account
from sims.metrics.jobs import By
from sims.metrics.spread import JobClass
from sims.metrics.spread import table as class_table
from sims.options import AsJson, Log, chosen
from sims.report import Report, amounts, table

JOB, WORKER = "job", "worker"


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
        lines = list(_summarised(report, by, as_json))
    show(*lines)


def _summarised(report: Report, by: str | None, as_json: bool) -> Iterable[str]:
    accounts, classes = _accounts(report, by), _classes(report, by)
    if not as_json:
        tables = (*(table(accounts) if accounts else ()), *class_table(classes))
        return (*report.lines(), *tables)
    each: dict[str, object] = {name: amounts(account) for name, account in accounts.items()}
    each |= {name: one.as_json() for name, one in classes.items()}
    return [json.dumps(report.as_json() | ({"by": each} if each else {}), sort_keys=True)]


def _classes(report: Report, by: str | None) -> dict[str, JobClass]:
    if by is None or by in (JOB, WORKER):
        return {}
    return {name: JobClass.of(report.jobs, which) for name, which in report.jobs.classes(By(by))}


def in_order(accounts: Mapping[str, Account], submitted: Iterable[str]) -> dict[str, Account]:
    """Accounts of jobs in order of submission; where a log tells none, of first use."""
    order = {job: place for place, job in enumerate(submitted)}
    return dict(sorted(accounts.items(), key=lambda it: order.get(it[0], len(order))))


def _accounts(report: Report, by: str | None) -> dict[str, Account]:
    if by == JOB:
        return in_order(report.ledger.by_job, report.summary.submitted)
    started = report.summary.started
    if by != WORKER or started is None:
        return {}
    names = started.workers or tuple(map(str, range(started.processors)))
    return {name: report.ledger.by_worker[k] for k, name in enumerate(names)}
