"""Write tables of events and of jobs as CSV or Parquet, streamed in batches."""

from __future__ import annotations

import enum
import signal
import threading
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import attrs
import orjson
from attrs import define, field

from actors.events import JobDescribed, JobSubmitted, MeasuresDescribed, Outcome
from actors.runtime import Record
from sims.errors import chosen, imported
from sims.history import History, JobRow, Listener
from sims.metrics.jobs import BOUND
from sims.tables.fields import members_of
from sims.writing import check_suffix, replacing

if TYPE_CHECKING:
    import polars as pl

BATCH = 50_000
"""Number of rows in memory at once."""

SUFFIXES = (".csv", ".parquet")
FORMULA = r"^([=+\-@\t\r])"
"""Pattern of the beginning of a cell that a spreadsheet would compute; a quotation mark before it
makes the cell a text."""

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
"""Maps each column of the table of events to its type; `fields` has all fields of the event as
JSON."""


def _described() -> Iterator[tuple[str, type]]:
    """Yield the name and the type of each field of the events that describe a job."""
    for event in (JobSubmitted, JobDescribed):
        hints = get_type_hints(event)  # without their units
        for name in attrs.fields_dict(event):
            if name != "job":
                kind = members_of(hints[name])[0]
                yield name, str if issubclass(kind, str) else kind


DESCRIBED = dict(_described())
"""Columns for the facts that the log gives of a job before it starts."""

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
"""Maps each column of the table of jobs to its type.

Cells are empty where the log ends too early or does not know. `waited` is the time until the first
run, `runs_...` count runs by outcome, `processor_time` is what the job held over time, `processors`
is the largest number held at one time, and `stretch` is the flowtime over the job's own time;
`bounded_slowdown` takes this time as at least 10 s, or the scenario's bound. The last columns are
the fields of the events that describe the job.
"""


def streamed(records: Iterable[Record], history: History, rows: list[Any]) -> Iterator[Any]:
    """Apply the records to `history` one by one, close it, and meanwhile yield the rows that its
    listeners append to `rows`, which is emptied."""
    for record in records:
        history.apply(record)
        yield from rows
        rows.clear()
    history.close()
    yield from rows


def write_events(records: Iterable[Record], path: Path) -> int:
    """Write a table with one row per event and the columns EVENTS, as CSV or Parquet, and return
    the number of rows. Raises as `write_table` does."""
    return write_table(map(_event, records), EVENTS, path)


def write_jobs(records: Iterable[Record], path: Path) -> int:
    """Write a table with one row per job and the columns JOBS, as CSV or Parquet, and return the
    number of rows.

    Jobs are in the order in which they left the system, then come those that are still in it.
    Raises as `write_table` does.
    """
    return write_table(_Jobs().all_rows(records), JOBS, path)


class Library(enum.Enum):
    """Libraries whose data frames are supported."""

    POLARS = "polars"
    PANDAS = "pandas"


class Frame(enum.Enum):
    """Tables that are available as a data frame."""

    EVENTS = "events"
    """A row per event."""
    JOBS = "jobs"
    """A row per job."""


def frame(records: Iterable[Record], what: Frame, library: Library | str | None = None) -> Any:
    """Return the table of events or of jobs as a data frame in memory, of `library`; by default of
    polars, or of pandas if only that is installed.

    Raises InputError where the library is missing.
    """
    if what is Frame.EVENTS:
        rows, columns = list(map(_event, records)), EVENTS
    else:
        rows, columns = list(_Jobs().all_rows(records)), JOBS
    if library_or_default(library) is Library.POLARS:
        return polars_or_error().DataFrame(rows, columns, orient="row")
    pandas = imported("pandas", "tables", "pip install pandas")
    table = pandas.DataFrame.from_records(rows, columns=list(columns))
    return table.astype({name: NULLABLE[kind] for name, kind in columns.items()})


def library_or_default(library: Library | str | None) -> Library:
    """Return the library of the given name; for None polars, or pandas if only that is installed.

    Raises InputError for an unknown name.
    """
    if library is None:
        lacking = find_spec("polars") is None and find_spec("pandas") is not None
        return Library.PANDAS if lacking else Library.POLARS
    return chosen(Library, library)


NULLABLE = {int: "Int64", float: "Float64", str: "string", bool: "boolean"}
"""Maps types to pandas' nullable types: its plain ones would turn the numbers of events into
floats."""


def guarded(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with a quotation mark before every text that a spreadsheet would compute as
    a formula, for a CSV file."""
    polars = polars_or_error()
    return table.with_columns(polars.col(polars.String).str.replace(FORMULA, "'$1"))


def write_table(rows: Iterable[Row], columns: dict[str, type], path: Path) -> int:
    """Write `rows` as CSV or Parquet, according to the file's suffix, and return the number of
    rows. `columns` maps each column, in order, to the type of its cells.

    Raises InputError for another suffix, where polars is missing, and where the file cannot be
    written.
    """
    check_suffix(path, "table", SUFFIXES)
    polars = polars_or_error()
    from polars.io.plugins import register_io_source

    remaining, written = iter(rows), 0
    schema = polars.Schema(columns)
    failed: list[BaseException] = []

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        # If its source raises, polars passes the error on while threads of its own still write the
        # file, which must then be removed. So an error ends the table here, and is raised
        # afterwards.
        nonlocal written
        try:
            while batch := list(islice(remaining, BATCH)):
                written += len(batch)
                table = polars.DataFrame(batch, schema, orient="row")
                yield guarded(table) if path.suffix == ".csv" else table
        except (Exception, KeyboardInterrupt) as error:
            failed.append(error)

    lazy = register_io_source(frames, schema=schema)
    with replacing(path) as new:
        try:
            (lazy.sink_csv if path.suffix == ".csv" else lazy.sink_parquet)(new)
        except polars.exceptions.ComputeError:
            # The error of a full disk may not say so: writing a little more raises the system's
            # own.
            with new.open("ab") as file:
                file.write(bytes(BATCH))
            raise
        if failed:
            raise failed[0]
    return written


def polars_or_error() -> Any:
    """Return the module polars. Raises InputError, naming the pip command, where it is missing."""
    polars = imported("polars", "tables", "pip install 'holdfast[results]'")
    restore_interrupts()
    return polars


def restore_interrupts() -> None:
    """Install Python's present handler of Ctrl-C again.

    When polars is imported, or first computes, it installs a handler under which a wait for a
    result goes on through Ctrl-C.
    """
    ours = signal.getsignal(signal.SIGINT)
    if ours is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, ours)


def _event(record: Record) -> Row:
    """Return the row of an event in the table of events, with the columns EVENTS."""
    event = record.event
    values = {name: getattr(event, name) for name in attrs.fields_dict(type(event))}
    # The log leaves out an optional field that is None, and so does this column.
    if values.get(event.optional, event) is None:
        del values[event.optional]
    fields = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    return (
        *(record.seq, float(record.t), record.cause, type(event).__name__),
        *(values.get("job"), values.get("run"), values.get("worker"), fields),
    )


@define(eq=False)
class _Jobs(Listener):
    """Listener that makes the table's row of each job once the job is over."""

    bound: float = BOUND
    """Smallest own time of bounded slowdown, in time units."""
    rows: list[Row] = field(factory=list)
    """Rows that are not written yet."""

    def all_rows(self, records: Iterable[Record]) -> Iterator[Row]:
        """Apply the records, and yield the row of each job with the columns JOBS: first of jobs in
        the order in which they are over, then of the others."""
        history = History()
        history.listen(self)
        history.on(MeasuresDescribed, self._measure)
        return streamed(records, history, self.rows)

    def _measure(self, record: Record, event: MeasuresDescribed) -> None:
        self.bound = event.bound

    def job_over(self, row: JobRow) -> None:
        facts = {} if row.described is None else attrs.asdict(row.described)
        facts |= attrs.asdict(row.event)
        cells = (
            *(row.name, row.submitted, row.started, row.ended, row.completed),
            *(row.wait, row.flowtime, row.runs),
            *(row.outcomes.get(outcome, 0) for outcome in Outcome),
            *(row.processor_time, row.processors or None),
            *(row.stretch, row.bounded_slowdown(self.bound)),
            *(_plain(facts.get(name)) for name in DESCRIBED),
        )
        self.rows.append(cells)


def _plain(value: Any) -> Any:
    """Return a field's value as a cell has it: None for an empty text, the value of an enum."""
    if value == "":
        return None
    return value.value if isinstance(value, enum.Enum) else value
