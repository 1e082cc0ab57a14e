"""What a case expects of a run of the world: its lists and its ledger."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.oracle.jobs import ZERO, Message, Run
from tests.oracle.parts import Parts
from tests.oracle.words import Outcome, Use


class Ledger:
    """Workers' time by use: in all, and while each job held them."""

    def __init__(self, jobs: int) -> None:
        self.time = dict.fromkeys(Use, ZERO)
        self.held = [dict.fromkeys(Use, ZERO) for _ in range(jobs)]

    def spend(self, job: int | None, use: Use | None, time: Fraction) -> None:
        """One worker's; no use is computing, of which only the end tells."""
        if use is not None:
            self.time[use] += time
            if job is not None:
                self.held[job][use] += time

    def settle(self, run: Run) -> None:
        """What its members computed, when all is known."""
        wasted = Use.REDUNDANT if run.outcome is Outcome.WITHDRAWN else Use.LOST
        for reached, time in run.computed:
            useful = run.useful is not None and reached <= run.useful
            use = Use.USEFUL if useful else wasted
            self.spend(run.job.index, use, time)


def told(parts: Parts, ledger: Ledger) -> dict[str, Any]:
    """The `expected` of a case."""
    for run in parts.runs:
        ledger.settle(run)
    runs = sorted(parts.runs, key=lambda run: (run.job.index, run.number))
    transfers = sorted(parts.transfers, key=lambda message: (message.spans[0][0], message.worker))
    return {
        "makespan": plain(parts.now),
        "completions": [plain(job.completion) for job in parts.jobs if job.completion is not None],
        "runs": [told_run(run) for run in runs],
        "checkpoints": [[j, r, plain(t), plain(w)] for j, r, t, w in sorted(parts.checkpoints)],
        "transfers": [told_transfer(message) for message in transfers],
        "ledger": told_times(ledger.time),
        "images": [[j, r, plain(t), plain(w)] for j, r, t, w in sorted(parts.images)],
        "held": [held_times(times) for times in ledger.held],
        "work": [plain(job.work_done) for job in parts.jobs],
    }


def held_times(times: dict[Use, Fraction]) -> dict[str, int | float]:
    """By use; what a job holds is idle only where it holds whole nodes (G6)."""
    return told_times({use: time for use, time in times.items() if time or use is not Use.IDLE})


def told_times(times: dict[Use, Fraction]) -> dict[str, int | float]:
    """By use; cases from before start-ups say nothing of them."""
    told = {use.value: plain(time) for use, time in times.items()}
    return told if told[Use.STARTUP.value] else {k: it for k, it in told.items() if k != "startup"}


def told_run(run: Run) -> list[Any]:
    """[job, run, members, start, end, outcome, work that it begins from]."""
    assert run.outcome is not None
    times = [plain(run.start), plain(run.end)]
    members = sorted(run.members)
    return [run.job.index, run.number, members, *times, run.outcome.value, plain(run.begun)]


def told_transfer(message: Message) -> list[Any]:
    """[first start, worker, what, job, run, spans, outcome]."""
    spans = [[plain(start), plain(end)] for start, end in message.spans]
    about = [message.worker, message.cargo.value, message.run.job.index, message.run.number]
    return [spans[0][0], *about, spans, message.outcome]


def plain(number: Fraction) -> int | float:
    """An int where whole, else the float (exact for dyadic numbers)."""
    return int(number) if number.denominator == 1 else float(number)
