"""Writes logs to disk as JSON Lines, under a name that no other run uses."""

from __future__ import annotations

import filecmp
import itertools
import math
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import BinaryIO, cast

from attrs import define, field

from actors.runtime import JsonLines, Record
from actors.runtime.errors import Unloggable
from sims.errors import FAILED, InputError
from sims.log import is_log
from sims.readers.files import ARCHIVES
from sims.writing import HeldBack, is_device, pack, refuse_link, refusing, save

BATCH = 64
"""Largest number of records that wait to be rendered.

Written 16 to 128 at a time, a line costs 0.6 us less (of 3) than one by one; with more, Python's
garbage collector takes the waiting records for long-lived, which costs 2 us.
"""
TICK = 0.45
"""Seconds between two saves of the records that wait; a record is saved after twice this time at
most."""

PACKED = (".gz", ".xz", ".zst")
"""Suffixes of the compressed formats in which a log can be written."""

FOREIGN = frozenset(
    (".br", ".bz2", ".lz", ".lz4", ".lzma", ".lzo", ".rar", ".sz", ".tbz", ".tbz2", ".z", ".zstd")
)
"""Suffixes of compressed formats that cannot be written, although a file's name may ask for
them."""


READABLE = "; what was logged so far is readable"
"""The end of the message of an interrupted run that leaves a log."""


class LogWriter:
    """Sink and context manager that writes records to `path`, compressed by suffix.

    A run that fails or is interrupted before virtual time has advanced leaves an older log as it
    was and no part of a new one. A run that is killed loses at most 10,000 events, and none that is
    older than a second: a thread saves waiting records, without any effect on the finished log.
    (Before virtual time has advanced, this holds only where there is no older log.)

    Raises InputError where the file cannot be written, also on leaving the context; an error raised
    while writing stops the run.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        check_packing(path)
        check_replaceable(path)
        self._began = os.getpid()
        """Number of the process that writes the log. Another one is a copy of it that a policy has
        made (`os.fork`), and whose run ends."""
        self._waiting: list[Record] = []
        self._since = 0.0
        """Time that a record must exceed for virtual time to have advanced; inf once it has."""
        self._file = Late(path)
        self._lines = JsonLines(cast(BinaryIO, self._file))
        self._failed: Exception | None = None
        self._interrupt = HeldBack()
        self._lock, self._stopped = Lock(), Event()
        self._saver = Thread(target=self._save_in_time, daemon=True)

    @property
    def path(self) -> Path:
        """Path of the log: another than the one asked for while another run writes that one."""
        return self._file.path

    @property
    def older(self) -> Path | None:
        """Path that an older log of this name has now; None: there was none, or it had the same
        contents."""
        return self._file.kept

    @property
    def note(self) -> str | None:
        """Message for the user about other logs of this name; None: there are none."""
        late = self._file
        if late.path != late.asked:
            return f"another run is writing {late.asked}: this log is {late.path}"
        return None if late.kept is None else f"the earlier {late.path} is now {late.kept}"

    def __call__(self, record: Record) -> None:
        if os.getpid() != self._began:
            os._exit(FAILED)
        self._waiting.append(record)
        if record.t > self._since or (len(self._waiting) >= BATCH and self._file.file is not None):
            # Only between lines: a compressed log that ends within a line cannot be read at all.
            self._interrupt.busy = True
            with self._lock:
                self._write()
            if record.t > 0:
                self._since = math.inf
            self._interrupt.settle()

    def _write(self) -> None:
        """Write the waiting records, but not those that arrive meanwhile.

        Raises an error of this or of an earlier write.
        """
        if self._failed is not None:
            raise self._failed
        records = self._waiting[:]
        try:
            self._lines.write(records)
        except Exception as error:
            self._failed = error
            if isinstance(error, Unloggable) and self._file.file is not None:
                self._since = math.inf  # the lines before it are kept
            raise
        del self._waiting[: len(records)]

    def _save_in_time(self) -> None:
        while not self._stopped.wait(TICK):
            if self._file.file is None and self.path.exists():
                continue
            with self._lock, suppress(Exception):  # the next write of the run raises the error
                self._write()
                save(self._file.open())

    def __enter__(self) -> LogWriter:
        self._interrupt.__enter__()
        self._saver.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._interrupt.busy = True
        try:
            self._stopped.set()
            self._saver.join()
            with refusing(self.path):
                self._close(error)
        finally:
            self._interrupt.__exit__(kind, error, trace)

    def _close(self, error: BaseException | None) -> None:
        self._file.unwanted = error is not None and self._since == 0
        with closing(self._file):
            if self._failed is not None:
                if error is None or not isinstance(self._failed, Unloggable):
                    raise self._failed
            elif error is None or self._since > 0:
                self._write()
                if isinstance(error, KeyboardInterrupt) and not error.args:
                    error.args = (READABLE,)


# --- its name ---------------------------------------------------------------------------------


@define(eq=False)
class Late:
    """A file to be written that takes an older one's place at its first write, not before."""

    asked: Path
    path: Path = field(init=False)
    """Path of the file: another than the one asked for while another run writes that one."""
    file: BinaryIO | None = None
    kept: Path | None = None
    """New path of an older log of this name; None: there was none, or it had the same contents."""
    unwanted: bool = False
    """Whether the file is removed when it is closed."""
    _made: bool = False
    """Whether the folder was made for this file, so that it may be removed too."""
    _held: int | None = None
    """Descriptor that keeps other runs from the name while it is open."""

    def __attrs_post_init__(self) -> None:
        self.path = self.asked

    def open(self) -> BinaryIO:
        if self.file is None:
            self._made = not self.path.parent.exists()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.is_file() or not self.path.exists():
                self.path, self.kept, self._held = _claim(self.path)
            self.file = pack(self.path)
        return self.file

    def write(self, data: bytes) -> None:
        self.open().write(data)

    def flush(self) -> None:
        self.open().flush()

    def close(self) -> None:
        try:
            if self.file is not None:
                self.file.close()
                self.kept = _remove_if_equal(self.kept, self.path)
                if self.unwanted:
                    self.path.unlink()
                    if self._made:
                        with suppress(OSError):  # another run may write there by now
                            self.path.parent.rmdir()
        finally:
            if self._held is not None:
                os.close(self._held)
                self._held = None


def _claim(path: Path) -> tuple[Path, Path | None, int]:
    """Claim a name for a new log; return its path, the new path of an older log of that name, and a
    descriptor.

    The file exists, is empty, and belongs to this run while the descriptor is open. A log that
    another run is writing stays where it is, and this one is called NAME.1.jsonl, or by the next
    free number. An older log that is complete is renamed in the same way. Raises OSError where the
    file cannot be written.
    """
    with _locked(path.parent):
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o666)
        if not take(descriptor):
            os.close(descriptor)
            path = _free_name(path)
            return path, None, _create(path)
        if os.fstat(descriptor).st_size == 0:
            return path, None, descriptor
        os.close(descriptor)
        check_replaceable(path)
        aside = _free_name(path)
        os.close(_create(aside))
        path.replace(aside)
        return path, aside, _create(path)


def _free_name(path: Path) -> Path:
    stem, dot, suffixes = path.name.partition(".")
    names = (path.with_name(f"{stem}.{n}{dot}{suffixes}") for n in itertools.count(1))
    return next(it for it in names if not it.exists())


def _create(path: Path) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0o666)
    take(descriptor)
    return descriptor


def take(descriptor: int, wait: bool = False) -> bool:
    """Lock an open file for this process; return whether it has the lock.

    While another process has the lock, the answer is False, or with `wait` the call waits. Where
    files have no locks the answer is always True: the process that creates a file owns it.
    """
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Return a context in which no other run claims a name for its log in the folder; wait until no
    other is in such a context."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        take(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def _remove_if_equal(older: Path | None, newer: Path) -> Path | None:
    """Remove `older` if its contents equal those of `newer`; return it if it stays."""
    if older is None or not filecmp.cmp(older, newer, shallow=False):
        return older
    older.unlink()
    return None


def check_replaceable(path: Path) -> None:
    """Raise InputError where a new log would replace a file that is no log, or be written through a
    link."""
    if is_device(path):
        return
    refuse_link(path)
    if path.exists() and path.stat().st_size > 0 and not is_log(path):
        problem = "is there already, and is no log: it is not replaced"
        raise InputError(str(path), "", problem, "a new name, or that of a log of `holdfast run`")


def check_packing(path: Path) -> None:
    """Raise InputError for a suffix of a compressed format in which no log is written; the log
    would be plain, and would not be read as such."""
    last = path.suffix.lower()
    misspelt = last in PACKED and path.suffix not in PACKED
    if misspelt or last in FOREIGN or ARCHIVES.intersection(path.suffixes):
        problem = "its name says that it is packed as no log is"
        raise InputError(str(path), "", problem, f"{', '.join(PACKED)}, or plain: .jsonl")
