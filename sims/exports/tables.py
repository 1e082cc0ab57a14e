"""Write tables of events and of a history's rows as CSV or Parquet, streamed in batches."""

from __future__ import annotations

import enum
import signal
import threading
from collections.abc import Iterable, Iterator
from fractions import Fraction
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import attrs
import orjson

from actors.events import JobDescribed, JobSubmitted, Outcome
from actors.runtime import Record
from policies.availability import WorkerState
from sims.errors import InputError, chosen, imported, visible
from sims.history.reader import TABLES, History
from sims.history.rows import JobRow
from sims.log import VOCABULARY
from sims.metrics.jobs import BOUND
from sims.tables.fields import members_of
from sims.writing import check_suffix, refusing, replacing

if TYPE_CHECKING:
    import polars as pl

BATCH = 50_000
"""Number of rows in memory at once."""

SUFFIXES = (".csv", ".parquet")
UNPRINTABLE = r"[\p{C}\p{Z}--\x20]"
"""Pattern of a character that a terminal does not show as it is."""
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
JSON, since each class of events has its own (as columns: `kind_frame`)."""


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


def _cell_type(hint: Any) -> type:
    """Return the type of the cells for values of a type."""
    kinds = members_of(hint)
    plain = (it for it in (bool, int, float) if it in kinds)
    return float if float in kinds else next(plain, str)


FACTS: dict[str, str] = {
    "job": "name",
    **{name: name for name in ("submitted", "started", "ended", "completed")},
    "waited": "wait",
    **{name: name for name in ("flowtime", "runs")},
    **{f"runs_{it.value}": "runs" for it in Outcome},
    **{name: name for name in ("processor_time", "processors", "stretch", "bounded_slowdown")},
}
"""Maps each computed column of the table of jobs to the attribute of `JobRow` that has its type,
its unit and its meaning. Those of runs by outcome count some of the runs."""


def hint_of(attribute: str, units: bool = False) -> Any:
    """Return the type of an attribute of `JobRow`, with its unit if `units`: of a field, or of what
    a property or a method returns."""
    found = getattr(JobRow, attribute)
    made = found.fget if isinstance(found, property) else found
    kinds = made if callable(made) else JobRow
    hints = get_type_hints(kinds, include_extras=units)
    return hints["return" if kinds is made else attribute]


JOBS: dict[str, type] = {
    **{column: _cell_type(hint_of(name)) for column, name in FACTS.items()},
    **DESCRIBED,
}
"""Maps each column of the table of jobs to its type. Cells are empty where the log ends too early
or does not know. The last columns are the fields of the events that describe the job."""


def streamed(records: Iterable[Record], history: History, rows: list[Any]) -> Iterator[Any]:
    """Apply the records to `history` one by one, close it, and meanwhile yield the rows that its
    listeners append to `rows`, which is emptied."""
    for record in records:
        history.apply(record)
        yield from rows
        rows.clear()
    history.close()
    yield from rows


def write_rows(records: Iterable[Record], path: Path, what: Frame) -> int:
    """Write the table `what` as CSV or Parquet, and return the number of rows.

    Rows are in the order in which they are complete; those of what is still open where the log ends
    come last. Raises as `write_table` does.
    """
    return write_table(rows_of(records, what), columns_of(what), path)


def write_all(records: Iterable[Record], path: Path) -> int:
    """Write each table of a history's rows that is not empty into the folder `path`, as
    NAME.parquet, and return the number of rows. The records are read once for each table.

    Raises InputError where polars is missing, and where a file cannot be written.
    """
    with refusing(path):
        path.mkdir(parents=True, exist_ok=True)
    written = 0
    for what in ROWS:
        rows = rows_of(records, what)
        first = list(islice(rows, 1))
        if first:
            file = path / f"{what.value}.parquet"
            written += write_table(chain(first, rows), columns_of(what), file)
    return written


class Library(enum.Enum):
    """Libraries whose data frames are supported."""

    POLARS = "polars"
    PANDAS = "pandas"


class Frame(enum.Enum):
    """Tables that are available as a data frame: one with a row for each event, and those of a
    history's rows (`sims.history.reader.TABLES`)."""

    EVENTS = "events"
    JOBS = "jobs"
    RUNS = "runs"
    SPANS = "spans"
    STATES = "states"
    SPARES = "spares"
    TRANSFERS = "transfers"
    CHECKPOINTS = "checkpoints"
    ITERATIONS = "iterations"
    PROMISES = "promises"
    REPAIRS = "repairs"
    QUEUE = "queue"
    STORAGE = "storage"
    MEASURED = "measured"


ROWS = {Frame(name): writer.row for name, writer in TABLES.items()}
"""Maps each table of a history's rows to their class."""


def columns_of(what: Frame) -> dict[str, type]:
    """Map each column of a table, in order, to the type of its cells."""
    if what in (Frame.EVENTS, Frame.JOBS):
        return EVENTS if what is Frame.EVENTS else JOBS
    kind = ROWS[what]
    hints = get_type_hints(kind)  # without their units
    return {name: _cell_type(hints[name]) for name in attrs.fields_dict(kind)}


def _bound(history: History) -> float:
    """Return the least run time for bounded slowdown, as the log's scenario has it."""
    measures = history.head.measures
    return measures.bound if measures else BOUND


def rows_of(records: Iterable[Record], what: Frame) -> Iterator[Row]:
    """Yield the rows of a table, each with the cells of `columns_of`, as the records are read."""
    if what is Frame.EVENTS:
        return map(_event, records)
    history, rows = History(), list[Any]()
    history.take(ROWS[what], rows.append)
    found = streamed(records, history, rows)
    if what is Frame.JOBS:
        return (_job(row, _bound(history)) for row in found)
    names = tuple(attrs.fields_dict(ROWS[what]))
    return (tuple(_plain(getattr(row, name)) for name in names) for row in found)


def frame(records: Iterable[Record], what: Frame, library: Library | str | None = None) -> Any:
    """Return a table as a data frame in memory, of `library`; by default of polars, or of pandas if
    only that is installed.

    Raises InputError where the library is missing.
    """
    rows, columns = list(rows_of(records, what)), columns_of(what)
    if library_or_default(library) is Library.POLARS:
        return polars_or_error().DataFrame(rows, columns, orient="row")
    pandas = imported("pandas", "tables", "pip install pandas")
    table = pandas.DataFrame.from_records(rows, columns=list(columns))
    return table.astype({name: NULLABLE[kind] for name, kind in columns.items()})


def kind_frame(records: Iterable[Record], name: str, library: Library | str | None = None) -> Any:
    """Return the events of one class, such as `RunStarted`, as a data frame: `seq`, `t`, `cause`,
    and a column for each field, as the log has it; a field of several values is a list or a
    structure.

    Raises InputError for another name, and where the library is missing.
    """
    kind = VOCABULARY.get(name)
    if kind is None:
        accepted = f"{', '.join(it.value for it in Frame)}, or an event's name, such as RunStarted"
        raise InputError("call", "what", f"{name!r} is none", accepted)
    hints = {it: hint for it, hint in get_type_hints(kind).items() if it in attrs.fields_dict(kind)}
    columns: dict[str, list[Any]] = {it: [] for it in ("seq", "t", "cause", *hints)}
    for record in records:
        if type(record.event) is kind:
            values = {it: getattr(record.event, it) for it in hints}
            plain = orjson.loads(orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY))
            plain |= {"seq": record.seq, "t": float(record.t), "cause": record.cause}
            for it, column in columns.items():
                column.append(plain[it])
    if library_or_default(library) is Library.PANDAS:
        return imported("pandas", "tables", "pip install pandas").DataFrame(columns)
    types = {"seq": int, "t": float, "cause": int}
    types |= {it: _cell_type(hint) for it, hint in hints.items() if _is_plain(hint)}
    return polars_or_error().DataFrame(columns, schema_overrides=types, strict=False)


def _is_plain(hint: Any) -> bool:
    return all(issubclass(it, bool | int | float | str | enum.Enum) for it in members_of(hint))


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
    """Return the table for a CSV file, which terminals and spreadsheets show: unprintable
    characters are escaped, and a quotation mark is before every text that a spreadsheet would
    compute as a formula."""
    polars = polars_or_error()
    for name in table.columns:
        column = table[name]
        if column.dtype == polars.String and column.str.contains(UNPRINTABLE).any():
            shown = column.map_elements(visible, return_dtype=polars.String)
            table = table.with_columns(shown.alias(name))
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


def _job(row: JobRow, bound: float) -> Row:
    """Return the cells of a job in the table of jobs, with the columns JOBS; `bound` is the
    smallest own time of bounded slowdown, in time units."""
    said = {} if row.described is None else attrs.asdict(row.described)
    said |= attrs.asdict(row.event)
    counts = {f"runs_{it.value}": row.outcomes.get(it, 0) for it in Outcome}
    cells: dict[str, Value] = {
        **{column: getattr(row, name) for column, name in FACTS.items() if column not in counts},
        **counts,
        "processors": row.processors or None,
        "bounded_slowdown": row.bounded_slowdown(bound),
    }
    return (*(cells[column] for column in FACTS), *(_plain(said.get(name)) for name in DESCRIBED))


def _plain(value: Any) -> Any:
    """Return a field's value as a cell has it: None for an empty text, the value of an enum, the
    name of a worker's state, a float for a fraction."""
    match value:
        case "":
            return None
        case WorkerState():
            return value.name.lower()
        case enum.Enum():
            return value.value
        case Fraction():
            return float(value)
    return value
