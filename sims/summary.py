"""Puts the summary of a run into words, and into data for JSON."""

from __future__ import annotations

from collections.abc import Iterator

from actors.events import End, Outcome, RepairOutcome
from sims.history.summary import Faults, Repairs, Summary
from sims.telling import (
    PARTED,
    about,
    amount_of,
    counted,
    differ,
    in_units,
    log_rate,
    title_of,
    units,
)


def summary_title(summary: Summary) -> str:
    """Return one line that names the scenario, the seed and the policy of the run."""
    return title_of(summary.started) if summary.started else "?"


def summary_lines(summary: Summary) -> list[str]:
    """Return the summary as lines for people."""
    return [summary_title(summary), *map(line_of, summary_rows(summary))]


def summary_json(summary: Summary) -> dict[str, object]:
    """Return the summary as data, with the keys that `--json` prints."""
    started = summary.started
    whole = {it: getattr(started, it, None) for it in ("scenario", "seed", "policy", "unit")}
    lists = {it: list(getattr(started, it, ())) for it in ("kinds", "settings")}
    return {
        **whole,
        **lists,
        "makespan": summary.makespan,
        "iterations": summary.iterations,
        "jobs": len(summary.submitted),
        "left_out": summary.left_out,
        "changed": summary.changed,
        **({"doubtful": summary.doubts} if summary.doubts else {}),
        "killed": len(summary.killed),
        "completed": summary.end is End.COMPLETED,
        "end": summary.end.value if summary.end else None,
        "runs": {outcome.value: summary.outcomes[outcome] for outcome in Outcome},
        "events": summary.events,
        "faults": _faults_as_json(summary.faults, summary.time),
        "hangs": {"came": summary.faults.hung, "detected": summary.faults.detected},
        **({"worn_out": summary.faults.worn} if summary.faults.worn else {}),
        **_repairs_as_json(summary.repairs),
    }


def summary_rows(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield the summary for people, as pairs of a name and a text."""
    yield "end", summary.end.value if summary.end else "interrupted: the log stops early"
    makespan = summary.makespan
    yield "makespan", "not reached" if makespan is None else _exactly(makespan, summary.unit)
    killed = f", {len(summary.killed):,} killed" if summary.killed else ""
    yield "jobs", f"{len(summary.completed):,} of {len(summary.submitted):,} completed{killed}"
    if summary.iterations:
        yield "iterations", f"{summary.iterations:,}"
    runs = (f"{summary.outcomes[it]:,} {it.value}" for it in Outcome if summary.outcomes[it])
    yield "runs", ", ".join(runs) or "none ended"
    yield from _fault_rows(summary.faults, summary.time, summary.unit)
    yield from _mechanism_rows(summary.repairs)
    yield "events", f"{summary.events:,}"
    yield from (("left out", f"{jobs:,}: {why}") for why, jobs in summary.left_out.items())
    yield from (("changed", f"{jobs:,}: {how}") for how, jobs in summary.changed.items())
    yield from (("doubtful", doubt) for doubt in summary.doubts)


def _faults_as_json(faults: Faults, time: float) -> dict[str, float] | None:
    """Return as plain data for JSON the number of faults that the laws let expect up to `time`
    (`expected`), and the number of workers that faults have taken DOWN in the log so far
    (`came`). None where the log does not describe expected faults, or changes of workers are
    not read."""
    if not (faults.laws and faults.counted):
        return None
    return {"expected": faults.expected(time), "came": faults.came}


def _fault_rows(faults: Faults, time: float, unit: str) -> Iterator[tuple[str, str]]:
    """Yield the expected and the counted faults up to `time`, and the hangs, for people, as
    pairs of a name and a text."""
    if faults.laws and faults.counted:
        rests = f" ({'; '.join(on)})" if (on := faults.assumed()) else ""
        number = amount_of(faults.expected(time), 4)
        yield "faults", f"{number} expected{rests}, {faults.came:,} came"
    for fit in faults.fits:
        if fit.log_mtbf is not None:
            law = f"a fitted law, shape {fit.shape:.4g}, mean {about(fit.mtbf, unit)}"
            yield "  fitted", f"{law}; in its log {log_rate(fit.mtbf, fit.log_mtbf, unit)}"
            if differ(fit.mtbf, fit.log_mtbf):
                yield "warning", PARTED
    if faults.worn:
        yield "worn out", f"{counted(faults.worn, 'unit')} in the course of time"
    if faults.hung:
        yield "hangs", f"{faults.hung:,} came, {faults.detected:,} detected"


def _mechanism_rows(repairs: Repairs) -> Iterator[tuple[str, str]]:
    """Yield what mechanisms have done, for people, as pairs of a name and a text."""
    if repairs == Repairs():
        return
    from sims.trace.parts.table import ROWS  # few runs need it, and it loads the words of traces

    yield from (row for rows in ROWS for row in rows(repairs))


def _repairs_as_json(repairs: Repairs) -> dict[str, object]:
    """Return the counts as plain data for JSON; empty where nothing is repaired, and no job has
    replicas."""
    drops: dict[str, object] = {"replicas": dict(repairs.drops)} if repairs.drops else {}
    if not repairs.described:
        return drops
    stages = range(1 + max((stage for stage, _ in repairs.ended), default=-1))
    by_stage = [{it.value: repairs.ended[stage, it] for it in RepairOutcome} for stage in stages]
    laws = range(1 + max(repairs.failed, default=-1))
    numbers = {
        "faults": [repairs.failed[law] for law in laws],
        "blamed": dict(repairs.blamed),
        "stages": by_stage,
        "retired": repairs.retired,
        "called": repairs.called,
    }
    return {"repairs": numbers, **drops}


def line_of(row: tuple[str, str]) -> str:
    """Return a row of the summary, a pair of a name and a text, as one line."""
    return "  {:<12}{}".format(*row)


def _exactly(time: float, unit: str) -> str:
    """Return a time in its larger units and as a plain number: `89 d 2 h 8 min 12 s (7,697,292
    s)`."""
    words, whole = in_units(time, unit), counted(time, unit, units(unit))
    return words if words == whole else f"{words} ({whole})"
