"""A run, or a log of one, as an object: its numbers, its ledger, its tables, its pictures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import cached_property
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import define

from actors.events import End
from actors.runtime import Record
from sims.audit.audit import audit
from sims.audit.law import Violation
from sims.errors import InputError, visible
from sims.exports.tables import Frame, Library, frame
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.plots.figure import Framing
from sims.plots.pictures import WHOLE, Picture, What, plot
from sims.report import Report, amounts
from sims.scenario import Scenario
from sims.summary import Summary
from sims.trace.read import Trace, find_life

Records = Callable[[], Iterable[Record]]

DRAWN = 100_000
"""Events up to which a picture is drawn unasked: it takes about a second."""


@define(eq=False, slots=False, repr=False)
class Result:
    """One run. Numbers are folds over its events, the same as the commands print.

    A property that needs what the run did not keep raises InputError.
    """

    records: Records
    """Gives its events, from the first on."""
    log: Path | None = None
    """Where they are on disk."""
    scenario: Scenario | None = None
    """What was run; None: only the log is known."""
    _report: Report | None = None

    @classmethod
    def of_log(cls, path: str | Path) -> Result:
        """The run that a log tells. Raises InputError, here or later, where it is none."""
        file = Path(path)
        for _ in LogFile(file):  # what is no log is refused here, and not far from here
            break
        return cls(lambda: LogFile(file), file)

    @cached_property
    def report(self) -> Report:
        """All numbers at once."""
        return self._report or Report.of(self.records())

    @property
    def summary(self) -> Summary:
        """What `holdfast run` prints."""
        return self.report.summary

    @property
    def makespan(self) -> float | None:
        """When the last job was completed or killed, in `unit`; None where one is left."""
        return self.summary.makespan

    @property
    def end(self) -> End | None:
        """How it ended; None: the log stops early."""
        return self.summary.end

    @property
    def unit(self) -> str:
        """Of all times: `s` or `slot`."""
        return self.summary.unit

    @property
    def numbers(self) -> dict[str, object]:
        """What `holdfast summary --json` prints."""
        return self.report.as_json()

    @property
    def ledger(self) -> dict[str, float]:
        """Where the processor-time went: use -> processors x `unit`, where there is any."""
        return amounts(self.report.ledger.total)

    @property
    def jobs(self) -> Any:
        """A row per job, as a frame of polars (pandas where there is no polars)."""
        return self.frame(Frame.JOBS)

    @property
    def events(self) -> Any:
        """A row per event, likewise."""
        return self.frame(Frame.EVENTS)

    def frame(self, what: Frame | str, library: Library | str | None = None) -> Any:
        """`jobs` or `events` as a frame of `polars` or `pandas`. Raises InputError for another,
        and where the library is missing."""
        return frame(self.records(), chosen(Frame, what), library)

    def trace(self, job: str) -> Trace:
        """One job's life: print it. Raises InputError where there is no such job."""
        with self.on_disk() as path:
            return find_life(LogFile(path), job)

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Its log: where it lies, or written for the time being."""
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
        """Draw the run: to `path`, or for the notebook to show. `what` alone may be the path of a
        Gantt chart, `run.png` say; `framing` has title, window of time, unit and size. Raises
        InputError as `pictures.plot`."""
        if path is None and isinstance(what, str | Path) and Path(what).suffix:
            which, path = What.GANTT, Path(what)
        else:
            which = chosen(What, what)
        if path is None:
            return Picture.of(self.records(), which, framing)
        return plot(self.records(), which, Path(path), framing)

    def audit(self) -> list[Violation]:
        """The world's laws that it breaks."""
        return list(audit(iter(self.records())))

    def __repr__(self) -> str:
        return "\n".join(self.summary.lines())

    def _repr_html_(self) -> str:
        return _as_html(self.report, self.records)


def not_kept() -> Iterable[Record]:
    """The events of a run that kept none. Raises InputError."""
    raise InputError("result", "", "the run kept no events", "run(..., keep=True), or a log")


def chosen(kind: type[Enum], word: Any) -> Any:
    """The member of an enum that `word` is or names. Raises InputError for another."""
    try:
        return kind(word)
    except ValueError:
        accepted = ", ".join(str(it.value) for it in kind)
        raise InputError("call", kind.__name__.lower(), f"{word!r} is none", accepted) from None


# --- as a notebook shows it ---------------------------------------------------------------------


def _as_html(report: Report, records: Records) -> str:
    """What was run, its picture where there can be one, and its numbers."""
    cells = (
        f"<tr><th>{_indented(name)}</th><td>{escape(visible(text.strip()))}</td></tr>"
        for name, text in report.rows()
    )
    title, table = escape(report.summary.title), f"<table>{''.join(cells)}</table>"
    return f"<b>{title}</b>{_picture(report, records)}{table}"


def _indented(name: str) -> str:
    indent = "\u2003" if name.startswith(" ") else ""
    return indent + name.strip()


def _picture(report: Report, records: Records) -> str:
    if report.summary.events > DRAWN:
        return f"<p>no picture unasked of more than {DRAWN:,} events: see .plot()</p>"
    try:
        png = Picture.of(records(), What.GANTT).png
    except InputError as error:
        return f"<p>{escape(f'no picture: {error}')}</p>"
    return (
        f'<p><img style="max-width:100%" src="data:image/png;base64,{b64encode(png).decode()}"></p>'
    )
