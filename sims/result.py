"""A simulation run, or a log of one, as an object with its numbers, ledger, tables and pictures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from attrs import define

from actors.events import End
from actors.runtime import Record
from sims.errors import InputError, chosen
from sims.exports.tables import Frame, Library, frame, kind_frame
from sims.history.summary import Summary
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.metrics.report import Report, amounts
from sims.plots.figure import Framing
from sims.plots.pictures import WHOLE, Picture, What, plot
from sims.scenario import Scenario
from sims.summary import summary_lines, summary_title
from sims.telling import NO_FORMULAS, as_markup

if TYPE_CHECKING:
    from sims.audit.law import Violation
    from sims.trace.read import Trace

Records = Callable[[], Iterable[Record]]

DRAWN = 100_000
"""Largest number of events for which a notebook draws a picture unasked; drawing so many takes
about a second."""


@define(eq=False, slots=False, repr=False)
class Result:
    """One run of a simulation; its numbers are computed from its events, as the commands do.

    A property that needs events which the run did not keep raises InputError.
    """

    records: Records
    """Function that returns the run's events, from the first on."""
    log: Path | None = None
    """Path of the run's log; None: it has none on disk."""
    scenario: Scenario | None = None
    """Scenario of the run; None: only the log is known."""
    _report: Report | None = None

    @classmethod
    def of_log(cls, path: str | Path) -> Result:
        """Return the run of a log.

        Raises InputError, here or at the first use of a damaged part, where the file is no log.
        """
        file = Path(path)
        for _ in LogFile(file):  # so that what is no log is refused here, not at the first use
            break
        return cls(lambda: LogFile(file), file)

    @cached_property
    def report(self) -> Report:
        """All numbers of the run: summary, ledger and metrics."""
        return self._report or Report.of(self.records())

    @property
    def summary(self) -> Summary:
        """The numbers that `holdfast run` prints."""
        return self.report.summary

    @property
    def makespan(self) -> float | None:
        """Time at which the last job was completed or killed, in `unit`; None where a job is
        left."""
        return self.summary.makespan

    @property
    def end(self) -> End | None:
        """How the run ended; None: the log stops early."""
        return self.summary.end

    @property
    def unit(self) -> str:
        """Unit of all times: `s` or `slot`."""
        return self.summary.unit

    @property
    def numbers(self) -> dict[str, object]:
        """The numbers that `holdfast summary --json` prints."""
        return self.report.as_json()

    @property
    def ledger(self) -> dict[str, float]:
        """Processor-time by use (`useful`, `lost`, `idle` and so on), in processors x `unit`; uses
        that have none are left out."""
        return amounts(self.report.ledger.total)

    @property
    def jobs(self) -> Any:
        """Frame with a row for each job, of polars (of pandas where polars is missing)."""
        return self.rows(Frame.JOBS)

    @property
    def events(self) -> Any:
        """Frame with a row for each event, of polars (of pandas where polars is missing).

        Its column `fields` is JSON, as each class of events has fields of its own:
        `rows("RunStarted")` has those of one class as columns.
        """
        return self.rows(Frame.EVENTS)

    def rows(self, what: Frame | str, library: Library | str | None = None) -> Any:
        """Return the run's events, or one kind of its facts, as a frame with a row each.

        `what` is `events`, `jobs`, `runs`, `spans` (of processor time, each with its category of
        the ledger), `states` (of workers), `spares` (that wait), `transfers`, `checkpoints`,
        `iterations`, `promises`, `repairs`, `queue`, `storage` or `measured` (parts of live runs).
        Or it is the name of a class of events, such as `RunStarted`: their fields are columns then.
        `library` is `polars` or `pandas`; None takes polars, or pandas where polars is missing.
        Raises InputError for another name, and where the library is missing.
        """
        if isinstance(what, str) and what not in {it.value for it in Frame}:
            return kind_frame(self.records(), what, library)
        return frame(self.records(), chosen(Frame, what), library)

    def trace(self, job: str) -> Trace:
        """Return the life of one job, given by its name or, where names are J1, J2, ..., by its
        number; printing it shows the text.

        Raises InputError where the run has no such job.
        """
        from sims.trace.read import find_life

        with self.on_disk() as path:
            return find_life(LogFile(path), job)

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Give the path of the run's log within a `with` block; a run that is only in memory is
        written to a temporary file for that time."""
        if self.log is not None:
            yield self.log
            return
        with TemporaryDirectory(prefix="holdfast-") as folder:
            path = Path(folder) / "run.jsonl"
            with LogWriter(path) as write:
                for record in self.records():
                    write(record)
            yield path

    def plot(
        self,
        what: What | str | Path = What.GANTT,
        path: str | Path | None = None,
        framing: Framing = WHOLE,
    ) -> Picture | Path:
        """Draw the run into the file `path` and return its path, or, where `path` is None, return a
        picture that a notebook shows.

        `what` names the picture: `gantt`, `jobs`, `ledger`, `bandwidth`, `queue` or `repairs`.
        Alone, it may be the path of a Gantt chart instead, such as `run.png`. `framing` sets title,
        window of time, unit and size. Raises InputError for another name or suffix, where
        matplotlib is missing, and where the file cannot be written.
        """
        if path is None and isinstance(what, str | Path) and Path(what).suffix:
            which, path = What.GANTT, Path(what)
        else:
            which = chosen(What, what)
        if path is None:
            return Picture.of(self.records(), which, framing)
        return plot(self.records(), which, Path(path), framing)

    def audit(self) -> list[Violation]:
        """Return the violations of the simulation's laws that an audit of the run finds."""
        from sims.audit.audit import audit  # most programs never ask, and it takes 0.15 s to load

        return list(audit(iter(self.records())))

    def __getitem__(self, name: str) -> object:
        """Return the number called `name` of `numbers`, such as `makespan`. Raises KeyError, naming
        all, where there is none."""
        numbers = self.numbers
        if name not in numbers:
            raise KeyError(f"{name!r} is none; accepted: {', '.join(numbers)}")
        return numbers[name]

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]

    def __repr__(self) -> str:
        return "\n".join(summary_lines(self.summary))

    def _repr_html_(self) -> str:
        return _as_html(self.report, self.records)


def not_kept() -> Iterable[Record]:
    """Raise InputError in place of returning a run's events, as the run kept none."""
    raise InputError("result", "", "the run kept no events", "run(..., keep=True), or a log")


# --- as a notebook shows it ---------------------------------------------------------------------


def _as_html(report: Report, records: Records) -> str:
    """Return the run's title, its picture if it can be drawn, and its numbers as HTML."""
    cells = (
        f"<tr><th>{_indented(name)}</th><td>{as_markup(text.strip())}</td></tr>"
        for name, text in report.rows()
    )
    title, table = as_markup(summary_title(report.summary)), f"<table>{''.join(cells)}</table>"
    shown = f"<b>{title}</b>{_picture(report, records)}{table}"
    return f'<div class="{NO_FORMULAS}">{shown}</div>'


def _indented(name: str) -> str:
    indent = "\u2003" if name.startswith(" ") else ""
    return indent + name.strip()


def _picture(report: Report, records: Records) -> str:
    if report.summary.events > DRAWN:
        return f"<p>no picture unasked of more than {DRAWN:,} events: see .plot()</p>"
    try:
        png = Picture.of(records(), What.GANTT).png
    except InputError as error:
        return f"<p>{as_markup(f'no picture: {error}')}</p>"
    return (
        f'<p><img style="max-width:100%" src="data:image/png;base64,{b64encode(png).decode()}"></p>'
    )
