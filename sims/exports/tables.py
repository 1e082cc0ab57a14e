"""Tables of events and of jobs, as CSV or Parquet, streamed in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import attrs
import orjson
from attrs import define, field

from actors.events import JobCompleted, JobKilled, JobSubmitted, Outcome
from actors.runtime import Record
from sims.errors import InputError
from sims.ledger.runs import Run, Runs
from sims.ledger.slices import count
from sims.parts import parted
from sims.writing import replacing

if TYPE_CHECKING:
    import polars as pl

BATCH = 50_000
"""Rows in memory at once."""

SUFFIXES = (".csv", ".parquet")

Value = str | int | float | bool | None
Row = tuple[Value, ...]

EVENTS: dict[str, type] = {
    "seq": int,
    "t": float,
    "cause": int,
    "event": str,
    "job": str,
    "run": int,
    "worker": str,
    "fields": str,
}
"""Columns of the table of events; `fields` is JSON of all that the event's class has."""

JOBS: dict[str, type] = {
    "job": str,
    "submitted": float,
    "started": float,
    "ended": float,
    "completed": bool,
    "waited": float,
    "flowtime": float,
    "runs": int,
    **{f"runs_{outcome.value}": int for outcome in Outcome},
    "processor_time": float,
}
"""Columns of the table of jobs; empty where the log ends before. `waited` is until the first run,
outcomes count runs, `processor_time` is what all runs held."""


def write_events(records: Iterable[Record], path: Path) -> int:
    """One row per event; returns how many. Raises as `write_table` does."""
    return write_table(map(_event, records), EVENTS, path)


def write_jobs(records: Iterable[Record], path: Path) -> int:
    """One row per job that left the system, in that order, then of those still in it; returns how
    many. Raises as `write_table` does."""
    return write_table(_jobs(records), JOBS, path)


def write_table(rows: Iterable[Row], columns: dict[str, type], path: Path) -> int:
    """Write `rows`; the suffix says how: .csv or .parquet. Returns how many.

    Raises InputError for another suffix, where polars is missing, and where the file cannot be
    written.
    """
    check_suffix(path)
    polars = _polars()
    told, written = iter(rows), 0
    schema = polars.Schema(columns)
    failed: list[BaseException] = []

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        nonlocal written
        while batch := _batch(told, failed):
            written += len(batch)
            yield polars.DataFrame(batch, schema, orient="row")

    lazy = polars.io.plugins.register_io_source(frames, schema=schema)
    with replacing(path) as new:
        try:
            (lazy.sink_csv if path.suffix == ".csv" else lazy.sink_parquet)(new)
        except polars.exceptions.ComputeError as error:
            # What writes Parquet tells of a full disk in words of its own.
            if "IO error: " not in str(error):
                raise
            raise OSError(str(error).partition("IO error: ")[2]) from None
        if failed:
            raise failed[0]
    return written


def _batch(rows: Iterator[Row], failed: list[BaseException]) -> list[Row]:
    """The next rows; none where `rows` raises, which goes to `failed`.

    polars hands on what its source raises while threads of its own still write the file, which
    must be removed: so it is to see a table that ends.
    """
    try:
        return list(islice(rows, BATCH))
    except BaseException as error:
        failed.append(error)
        return []


def check_suffix(path: Path) -> None:
    """Raises InputError unless `path` ends as a table that can be written."""
    if path.suffix not in SUFFIXES:
        raise InputError(str(path), "", f"{path.suffix!r} is no table", ", ".join(SUFFIXES))


def _polars() -> ModuleType:
    try:
        import polars.io.plugins
    except ImportError:
        problem, accepted = "polars is missing", "pip install 'holdfast[results]'"
        raise InputError("tables", "", problem, accepted) from None
    return polars


# --- rows ---------------------------------------------------------------------------------------


def _event(record: Record) -> Row:
    event = record.event
    values = {name: getattr(event, name) for name in attrs.fields_dict(type(event))}
    fields = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    return (
        *(record.seq, float(record.t), record.cause, type(event).__name__),
        *(values.get("job"), values.get("run"), values.get("worker"), fields),
    )


@define
class _Life:
    """A job so far."""

    job: str
    submitted: float
    started: float | None = None
    ended: float | None = None
    completed: bool = False
    outcomes: Counter[Outcome] = field(factory=Counter)
    runs: int = 0
    processor_time: float = 0

    def enter(self, run: Run) -> None:
        """A run ended."""
        self.runs += 1
        self.started = run.start if self.started is None else min(self.started, run.start)
        self.processor_time += count(run.processors) * (run.end - run.start)
        if run.outcome is not None:
            self.outcomes[run.outcome] += 1

    def row(self) -> Row:
        """Its row."""
        waited = None if self.started is None else self.started - self.submitted
        flowtime = None if self.ended is None else self.ended - self.submitted
        return (
            *(self.job, self.submitted, self.started, self.ended, self.completed),
            *(waited, flowtime, self.runs),
            *(self.outcomes[outcome] for outcome in Outcome),
            self.processor_time,
        )


def _jobs(records: Iterable[Record]) -> Iterator[Row]:
    runs, lives, left, now = Runs(), dict[str, _Life](), list[str](), 0.0
    for record in parted(records):
        # Copies end at the instant of their job's end, some of them after it.
        if record.t > now:
            yield from (lives.pop(job).row() for job in left)
            left.clear()
        now = record.t
        for run in runs(record):
            lives[run.job].enter(run)
        match record.event:
            case JobSubmitted(job=job):
                lives[job] = _Life(job, float(now))
            case JobCompleted(job=job) | JobKilled(job=job):
                lives[job].ended = float(now)
                lives[job].completed = isinstance(record.event, JobCompleted)
                left.append(job)
    for run in runs.close(now):
        lives[run.job].enter(run)
    yield from (lives.pop(job).row() for job in left)
    yield from (life.row() for life in lives.values())
