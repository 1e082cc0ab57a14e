"""Tell a log's run in numbers: makespan, flowtimes, and where the processor-time went."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from sims.cli.logs import reading
from sims.ledger import Account
from sims.report import Report, amounts, table

JOB, WORKER = "job", "worker"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--by", choices=(JOB, WORKER), help="also one ledger for each job, or for each worker"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    with reading(arguments.log) as log:
        report = Report.of(log, workers=arguments.by == WORKER)
    accounts = _accounts(report, arguments.by)
    if arguments.json:
        by = {name: amounts(account) for name, account in accounts.items()}
        print(json.dumps(report.as_json() | ({"by": by} if by else {}), sort_keys=True))
    else:
        print("\n".join((*report.lines(), *(table(accounts) if accounts else ()))))
    return 0


def in_order(accounts: Mapping[str, Account], submitted: Iterable[str]) -> dict[str, Account]:
    """Accounts of jobs in order of submission; where a log tells none, of first use."""
    order = {job: place for place, job in enumerate(submitted)}
    return dict(sorted(accounts.items(), key=lambda it: order.get(it[0], len(order))))


def _accounts(report: Report, by: str | None) -> dict[str, Account]:
    if by == JOB:
        return in_order(report.ledger.by_job, report.summary.submitted)
    started = report.summary.started
    if by is None or started is None:
        return {}
    names = started.workers or tuple(map(str, range(started.processors)))
    return {name: report.ledger.by_worker[k] for k, name in enumerate(names)}
