"""Logs on disk: written as JSON Lines, read back into the records that the run journalled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import BinaryIO, cast

import orjson

from actors.events import SCHEMA, ScenarioEnded, ScenarioStarted
from actors.runtime import JsonLines, Record
from sims.decoding import Misfit, decode
from sims.errors import InputError
from sims.packing import save
from sims.readers.files import UNREADABLE, open_binary
from sims.writing import HeldBack, Late, check_packing, refusing

BATCH = 64
"""Records that wait to be rendered, at most. Written 16 to 128 at a time a
line costs 0.6 us less than one by one (of 3); more of them, and Python's garbage collector takes
those that wait for long-lived: 2 us more."""
OLDER = {"2": "Holdfast 0.1.0"}
"""Who reads logs of former formats."""
TICK = 0.45
"""Seconds of the day after which what waits is saved; what began to wait in between, after twice
that time."""


class LogWriter:
    """Sink and context manager: writes records to `path`, compressed by suffix.

    What fails, or is interrupted, before virtual time has advanced leaves an older log as it was
    and no half of a new one.
    A run that is killed loses at most 10,000 events, and none that is older than a second: a thread
    saves what waits, and when it does so leaves no trace in the end. (While virtual time has not
    advanced that holds where there is no older log.)
    Raises InputError where the file cannot be written, in leaving too: what is raised within
    stops the run.
    """

    def __init__(self, path: Path) -> None:
        check_packing(path)
        self._waiting: list[Record] = []
        self._since = 0.0
        """When time has advanced: after this; inf: it has."""
        self._file = Late(path)
        self._lines = JsonLines(cast(BinaryIO, self._file))
        self._failed: Exception | None = None
        self._interrupt = HeldBack()
        self._lock, self._over = Lock(), Event()
        self._saver = Thread(target=self._save_in_time, daemon=True)

    @property
    def path(self) -> Path:
        """Where it is written: beside what was asked for, while another run writes that."""
        return self._file.path

    @property
    def note(self) -> str | None:
        """What its user has to know of other logs of this name."""
        late = self._file
        if late.path != late.asked:
            return f"another run is writing {late.asked}: this log is {late.path}"
        return None if late.kept is None else f"the earlier {late.path} is now {late.kept}"

    def __call__(self, record: Record) -> None:
        self._waiting.append(record)
        if record.t > self._since or (len(self._waiting) >= BATCH and self._file.file is not None):
            # A packed log that is broken off inside a line cannot be read at all.
            self._interrupt.busy = True
            with self._lock:
                self._write()
            if record.t > 0:
                self._since = math.inf
            self._interrupt.settle()

    def _write(self) -> None:
        """Write what waits, but for what comes meanwhile. Raises what went wrong, now or before."""
        if self._failed is not None:
            raise self._failed
        records = self._waiting[:]
        try:
            self._lines.write(records)
        except Exception as error:
            self._failed = error
            raise
        del self._waiting[: len(records)]

    def _save_in_time(self) -> None:
        while not self._over.wait(TICK):
            if self._file.file is None and self.path.exists():
                continue
            with self._lock, suppress(Exception):  # whoever writes next raises it
                self._write()
                save(self._file.open())

    def __enter__(self) -> LogWriter:
        self._interrupt.__enter__()
        self._saver.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._interrupt.busy = True
        try:
            self._over.set()
            self._saver.join()
            with refusing(self.path):
                self._close(error)
        finally:
            self._interrupt.__exit__(kind, error, trace)

    def _close(self, error: BaseException | None) -> None:
        self._file.unwanted = error is not None and self._since == 0
        with closing(self._file):
            if self._failed is not None:
                if error is None or not isinstance(self._failed, TypeError):
                    raise self._failed
            elif error is None or self._since > 0:
                self._write()


class LogFile:
    """A log on disk: iterate for its records.

    A last line that an interruption cut short is left out, and `cut` is True once the end was
    reached. Raises InputError for anything else that is not a log of a known version.
    """

    def __init__(self, path: Path, ordered: bool = True) -> None:
        self.path = path
        self.ordered = ordered
        """Whether numbers, times and causes out of order are refused; the audit reports them, and
        what no line of a log holds, which is raised as Misfit."""
        self.cut = False
        self.read = 0
        """Number of the line that was decoded last, from 1."""
        self.last: Record | None = None
        """What it holds."""

    @property
    def ended(self) -> bool:
        """Whether the log, once read, is that of a run that was not interrupted."""
        return self.last is not None and isinstance(self.last.event, ScenarioEnded)

    def __iter__(self) -> Iterator[Record]:
        number, after = 0, -math.inf
        for number, line in enumerate(self.lines(), start=1):
            record = self.decoded(number, line, after)
            if record is None:
                return
            yield record
            after = record.t
        if number == 0:
            self.decoded(1, b"")

    def lines(self) -> Iterator[bytes]:
        """The file's lines, unpacked, as they are; event n is line n, counting from 0."""
        try:
            with open_binary(self.path) as file:
                yield from file
        except EOFError:
            self.cut = True  # a compressed log, interrupted
        except UNREADABLE as error:
            problem = f"cannot be read ({error})"
            raise InputError(str(self.path), "", problem, "a log of `holdfast run`") from None

    def decoded(self, number: int, line: bytes, after: float = -math.inf) -> Record | None:
        """The record of line `number` (from 1), not before time `after`; None for a last line that
        is cut. Raises InputError, also for b"": what there is of line 1 in an empty log."""
        try:
            parsed = orjson.loads(line)
            if number == 1:
                self._check_first(parsed)
            record = decode(parsed, whole=not self.ordered)
        except ValueError as error:
            if not line:
                raise self._empty() from None
            if number > 1 and not line.endswith(b"\n"):
                self.cut = True
                return None
            accepted = "one JSON object a line, as `holdfast run` writes them"
            raise self._wrong(number, "", f"no record of a log: {error}", accepted) from None
        except Misfit as misfit:
            if not self.ordered and number > 1:
                raise
            raise self._wrong(number, misfit.key, misfit.problem, misfit.accepted) from None
        cause = -1 if record.cause is None else record.cause
        if not 0 <= cause < record.seq == number - 1 or record.t < after:
            self._check_order(number, record, after)  # refuses, but for the first record
        self.read, self.last = number, record
        return record

    @contextmanager
    def skimmed(self) -> Iterator[None]:
        """For who decodes some lines only: what is refused is the first line that is wrong.

        A missing line shows in the number of the next that is decoded, maybe a million later.
        """
        try:
            yield
        except InputError:
            for _ in self:
                pass
            raise

    def _check_order(self, number: int, record: Record, after: float) -> None:
        if not self.ordered:
            return
        seq, t, cause = record.seq, record.t, record.cause
        if seq != number - 1:
            problem = f"{seq} is not the line's number, counted from 0"
            raise self._wrong(number, "seq", problem, str(number - 1))
        if t < after:
            raise self._wrong(number, "t", f"{t} is before {after}", f"{after} or later")
        if cause is None:
            if number > 1:
                raise self._wrong(number, "cause", "missing", f"0 to {seq - 1}")
        elif not 0 <= cause < seq:
            accepted = f"0 to {seq - 1}" if seq else "none"
            raise self._wrong(number, "cause", f"{cause} is not an event before #{seq}", accepted)

    def _check_first(self, first: object) -> None:
        # Before it is decoded: another version may have other fields.
        if not isinstance(first, dict) or "event" not in first:
            return  # whatever it is, decoding tells
        if first["event"] != ScenarioStarted.__name__:
            problem = f"the first record is {first['event']}"
            raise self._wrong(1, "event", problem, ScenarioStarted.__name__)
        if "schema" not in first:
            raise self._wrong(1, "schema", "missing", str(SCHEMA))
        if first["schema"] != SCHEMA:
            whose = OLDER.get(str(first["schema"]), "another version")
            problem = f"{first['schema']} is {whose}'s format; run the scenario again"
            raise self._wrong(1, "schema", problem, str(SCHEMA))

    def _empty(self) -> InputError:
        problem = "it is cut within its first records" if self.cut else "the file is empty"
        return InputError(str(self.path), "", problem, "a log of `holdfast run`")

    def _wrong(self, number: int, key: str, problem: str, accepted: str) -> InputError:
        where = f"line {number}: {key}" if key else f"line {number}"
        return InputError(str(self.path), where, problem, accepted)
