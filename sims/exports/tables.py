"""Tables of events and of jobs, as CSV or Parquet, streamed in batches."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_type_hints

import attrs
import orjson
from attrs import define, field

from actors.events import (
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    MeasuresDescribed,
    Outcome,
)
from actors.runtime import Event, Record
from sims.attribute_docs import members_of
from sims.errors import InputError
from sims.ledger.runs import EndedRun, RunFold
from sims.ledger.slices import count
from sims.metrics.jobs import BOUND, bounded
from sims.metrics.stretch import OwnTimes
from sims.parts import parted
from sims.writing import check_suffix, replacing

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


def _described() -> Iterator[tuple[str, type]]:
    for event in (JobSubmitted, JobDescribed):
        hints = get_type_hints(event)  # without their units
        for name in attrs.fields_dict(event):
            if name != "job":
                yield name, members_of(hints[name])[0]


DESCRIBED = dict(_described())
"""What the log says of a job beforehand."""

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
    "processors": int,
    "stretch": float,
    "bounded_slowdown": float,
    **DESCRIBED,
}
"""Columns of the table of jobs; empty where the log ends before, or does not know. `waited` is
until the first run, outcomes count runs, `processor_time` is what all runs held, `processors` are
those of its largest run, `stretch` is flowtime over the job's own error-free time, in
`bounded_slowdown` at least 10 s, or the scenario's bound; then what its first events say."""


def write_events(records: Iterable[Record], path: Path) -> int:
    """One row per event; returns how many. Raises as `write_table` does."""
    return write_table(map(_event, records), EVENTS, path)


def write_jobs(records: Iterable[Record], path: Path) -> int:
    """One row per job that left the system, in that order, then of those still in it; returns how
    many. Raises as `write_table` does."""
    return write_table(_jobs(records), JOBS, path)


class Library(enum.Enum):
    """Whose frames."""

    POLARS = "polars"
    PANDAS = "pandas"


class Frame(enum.Enum):
    """What can be had as a frame."""

    EVENTS = "events"
    """A row per event."""
    JOBS = "jobs"
    """A row per job."""


def frame(records: Iterable[Record], what: Frame, library: Library | None = None) -> Any:
    """The table as a frame in memory, of pandas only if asked or where polars is missing.

    Raises InputError where the library is missing.
    """
    rows, columns = (
        (map(_event, records), EVENTS) if what is Frame.EVENTS else (_jobs(records), JOBS)
    )
    there = {it: find_spec(it.value) is not None for it in Library}
    if library is Library.PANDAS or (
        library is None and there[Library.PANDAS] > there[Library.POLARS]
    ):
        return _pandas_frame(rows, columns)
    polars = _polars()
    return polars.DataFrame(list(rows), polars.Schema(columns), orient="row")


NULLABLE = {int: "Int64", float: "Float64", str: "string", bool: "boolean"}
"""pandas' types that can lack a value: its plain ones would make numbers of events floats."""


def _pandas_frame(rows: Iterable[Row], columns: dict[str, type]) -> Any:
    try:
        import pandas
    except ImportError:
        problem, accepted = "pandas is missing", "pip install pandas"
        raise InputError("tables", "", problem, accepted) from None
    table = pandas.DataFrame.from_records(list(rows), columns=list(columns))
    return table.astype({name: NULLABLE[kind] for name, kind in columns.items()})


def write_table(rows: Iterable[Row], columns: dict[str, type], path: Path) -> int:
    """Write `rows`; the suffix says how: .csv or .parquet. Returns how many.

    Raises InputError for another suffix, where polars is missing, and where the file cannot be
    written.
    """
    check_suffix(path, "table", SUFFIXES)
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


def _polars() -> ModuleType:
    try:
        import polars.io.plugins
    except ImportError:
        problem, accepted = "polars is missing", "pip install 'holdfast[results]'"
        raise InputError("tables", "", problem, accepted) from None
    return polars


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
    processors: int | None = None
    said: dict[str, Value] = field(factory=dict)

    def enter(self, run: EndedRun) -> None:
        """A run ended."""
        self.runs += 1
        self.started = run.start if self.started is None else min(self.started, run.start)
        members = count(run.processors)
        self.processors = max(self.processors or 0, members)
        self.processor_time += members * (run.end - run.start)
        if run.outcome is not None:
            self.outcomes[run.outcome] += 1

    def row(self, own: float | None, bound: float) -> Row:
        """Its row; `own`: its error-free time, if it has one; `bound`: of bounded slowdown."""
        waited = None if self.started is None else self.started - self.submitted
        flowtime = None if self.ended is None else self.ended - self.submitted
        return (
            *(self.job, self.submitted, self.started, self.ended, self.completed),
            *(waited, flowtime, self.runs),
            *(self.outcomes[outcome] for outcome in Outcome),
            *(self.processor_time, self.processors),
            flowtime / own if flowtime is not None and own else None,
            float(bounded(flowtime, own, bound)) if flowtime is not None and own else None,
            *(self.said.get(name) for name in DESCRIBED),
        )


def _jobs(records: Iterable[Record]) -> Iterator[Row]:
    runs, own, lives, left, now = RunFold(), OwnTimes(), dict[str, _Life](), list[str](), 0.0
    bound = BOUND
    for record in parted(records):
        # Copies end at the instant of their job's end, some of them after it.
        if record.t > now:
            yield from (lives.pop(job).row(own.times.pop(job, None), bound) for job in left)
            left.clear()
        now = record.t
        for run in runs(record):
            lives[run.job].enter(run)
        if type(record.event) in own.wants:
            own(record)
        elif isinstance(record.event, MeasuresDescribed):
            bound = record.event.bound
        left += _told(record.event, lives, float(now))
    for run in runs.close(now):
        lives[run.job].enter(run)
    yield from (lives.pop(job).row(own.times.get(job), bound) for job in left)
    yield from (life.row(own.times.get(life.job), bound) for life in lives.values())


def _told(event: Event, lives: dict[str, _Life], now: float) -> Iterator[str]:
    """The job that leaves, if one does."""
    if isinstance(event, JobSubmitted):
        lives[event.job] = _Life(event.job, now)
    if isinstance(event, JobSubmitted | JobDescribed):
        lives[event.job].said |= {name: _plain(it) for name, it in attrs.asdict(event).items()}
    elif isinstance(event, JobCompleted | JobKilled):
        life = lives[event.job]
        life.ended, life.completed = now, isinstance(event, JobCompleted)
        yield event.job


def _plain(value: Any) -> Any:
    if value == "":
        return None
    return value.value if isinstance(value, enum.Enum) else value
