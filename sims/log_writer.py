"""Logs on disk, written: as JSON Lines, under a name that is one run's."""

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
from sims.errors import InputError
from sims.log import is_log
from sims.readers.files import ARCHIVES
from sims.writing import HeldBack, is_device, pack, refusing, save

BATCH = 64
"""Records that wait to be rendered, at most. Written 16 to 128 at a time a
line costs 0.6 us less than one by one (of 3); more of them, and Python's garbage collector takes
those that wait for long-lived: 2 us more."""
TICK = 0.45
"""Seconds of the day after which what waits is saved; what began to wait in between, after twice
that time."""

PACKED = (".gz", ".xz", ".zst")
"""How a log can be packed."""

FOREIGN = frozenset(
    (".br", ".bz2", ".lz", ".lz4", ".lzma", ".lzo", ".rar", ".sz", ".tbz", ".tbz2", ".z", ".zstd")
)
"""Packings that would be looked for in a file called so, and are not written."""


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
        check_replaceable(path)
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

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
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


# --- its name ---------------------------------------------------------------------------------


@define(eq=False)
class Late:
    """A file that takes an older one's place when it is first written."""

    asked: Path
    path: Path = field(init=False)
    """Where it lies: beside what was asked for, while another run writes that."""
    file: BinaryIO | None = None
    kept: Path | None = None
    """Where an older log of this name now lies; one that says the same is not kept."""
    unwanted: bool = False
    """Whether it goes when it is closed."""
    _made: bool = False
    """Whether its folder was made for it."""
    _held: int | None = None
    """While it is open, no other run takes the name."""

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
                self.kept = _forget_twin(self.kept, self.path)
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
    """A name for a new log: (its path, where an older log of this name now lies, a descriptor).

    The file is there, empty, and nobody else's while the descriptor is open: a log that another run
    is writing stays where it is, and this one's name is NAME.1.jsonl, or the next number that is
    free. That is an older log's new name, too. Raises OSError where it cannot be written.
    """
    with _locked(path.parent):
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o666)
        if not take(descriptor):
            os.close(descriptor)
            path = _free(path)
            return path, None, _created(path)
        if os.fstat(descriptor).st_size == 0:
            return path, None, descriptor
        os.close(descriptor)
        check_replaceable(path)
        aside = _free(path)
        os.close(_created(aside))
        path.replace(aside)
        return path, aside, _created(path)


def _free(path: Path) -> Path:
    stem, dot, suffixes = path.name.partition(".")
    names = (path.with_name(f"{stem}.{n}{dot}{suffixes}") for n in itertools.count(1))
    return next(it for it in names if not it.exists())


def _created(path: Path) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0o666)
    take(descriptor)
    return descriptor


def take(descriptor: int, wait: bool = False) -> bool:
    """Whether nobody else has it. Where files have no locks, who creates one has it."""
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
    """Within, no other run claims a name in it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        take(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def _forget_twin(older: Path | None, newer: Path) -> Path | None:
    """`older`, unless there is none or it says the same, byte for byte: then it goes."""
    if older is None or not filecmp.cmp(older, newer, shallow=False):
        return older
    older.unlink()
    return None


def check_replaceable(path: Path) -> None:
    """Raises InputError where a new log would be written over what is no log, or through a link."""
    if is_device(path):
        return
    if path.is_symlink():
        target = os.path.realpath(path)
        raise InputError(str(path), "", f"is a link to {target}", f"a new name, or {target} itself")
    if path.exists() and path.stat().st_size > 0 and not is_log(path):
        problem = "is there already, and is no log: it is not replaced"
        raise InputError(str(path), "", problem, "a new name, or that of a log of `holdfast run`")


def check_packing(path: Path) -> None:
    """Raises InputError where a log called so would be written plain, and not be read so again."""
    last = path.suffix.lower()
    misspelt = last in PACKED and path.suffix not in PACKED
    if misspelt or last in FOREIGN or ARCHIVES.intersection(path.suffixes):
        problem = "its name says that it is packed as no log is"
        raise InputError(str(path), "", problem, f"{', '.join(PACKED)}, or plain: .jsonl")
