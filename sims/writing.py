"""Files that commands write: whole or not at all, with one error for all mishaps; a log's name,
which is one run's; and Ctrl-C, held back meanwhile."""

from __future__ import annotations

import filecmp
import itertools
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType, TracebackType
from typing import Any, BinaryIO

from attrs import define, field

from sims.errors import InputError
from sims.packing import pack
from sims.readers.files import ARCHIVES

PACKED = (".gz", ".xz", ".zst")
"""How a log can be packed."""

FOREIGN = frozenset(
    (".br", ".bz2", ".lz", ".lz4", ".lzma", ".lzo", ".rar", ".sz", ".tbz", ".tbz2", ".z", ".zstd")
)
"""Packings that would be looked for in a file called so, and are not written."""


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """What goes wrong in writing `path` is one InputError that names it.

    But a reader of a pipe who has seen enough is no error of the user's: BrokenPipeError stays.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise InputError(str(path), "", problem, "a file in a folder of yours") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write what will be `path`: a new file, which takes its place where all went well.

    Otherwise the new one is removed, and an older one stays as it was. Folders are made; links are
    followed; a device or a pipe is written directly. Raises InputError where it cannot be written.
    """
    with refusing(path):
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():
            yield path
            return
        # A folder for it: its name, and with it its suffix, can be the old one's.
        with TemporaryDirectory(dir=target.parent, prefix=".holdfast-") as folder:
            new = Path(folder) / path.name
            yield new
            _take_place(new, target)


def _claim(path: Path) -> tuple[Path, Path | None, int]:
    """A name for a new log: (its path, where an older log of this name now lies, a descriptor).

    The file is there, empty, and nobody else's while the descriptor is open: a log that another run
    is writing stays where it is, and this one's name is NAME.1.jsonl, or the next number that is
    free. That is an older log's new name, too. Raises OSError where it cannot be written.
    """
    with _locked(path.parent):
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o666)
        if not _lock(descriptor):
            os.close(descriptor)
            path = _free(path)
            return path, None, _created(path)
        if os.fstat(descriptor).st_size == 0:
            return path, None, descriptor
        os.close(descriptor)
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
    _lock(descriptor)
    return descriptor


def _lock(descriptor: int, wait: bool = False) -> bool:
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
        _lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def _forget_twin(older: Path | None, newer: Path) -> Path | None:
    """`older`, unless there is none or it says the same, byte for byte: then it goes."""
    if older is None or not filecmp.cmp(older, newer, shallow=False):
        return older
    older.unlink()
    return None


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


def refuse_inputs(output: Path, option: str, *inputs: Path) -> None:
    """Raises InputError where what would be written is what was read."""
    if any(output.exists() and it.exists() and output.samefile(it) for it in inputs):
        problem = f"{output} is what is read, and would be lost"
        raise InputError("command line", option, problem, "another name")


def _take_place(new: Path, old: Path) -> None:
    if old.exists():
        # Renaming asks for no leave to write the old file.
        old.open("ab").close()
        shutil.copymode(old, new)
    new.replace(old)


def check_suffix(path: Path, kind: str, suffixes: Sequence[str]) -> None:
    """Raises InputError unless `path` ends as something of this kind that can be written."""
    if path.suffix not in suffixes:
        raise InputError(str(path), "", f"{path.suffix!r} is no {kind}", ", ".join(suffixes))


def check_packing(path: Path) -> None:
    """Raises InputError where a log called so would be written plain, and not be read so again."""
    last = path.suffix.lower()
    misspelt = last in PACKED and path.suffix not in PACKED
    if misspelt or last in FOREIGN or ARCHIVES.intersection(path.suffixes):
        problem = "its name says that it is packed as no log is"
        raise InputError(str(path), "", problem, f"{', '.join(PACKED)}, or plain: .jsonl")


class HeldBack:
    """Context manager: while `busy`, Ctrl-C and SIGTERM wait for `settle`; otherwise they are
    handled at once, as before.

    Writing a log is such a thing: what a signal raises while orjson asks an enum for its value does
    not interrupt, it kills (orjson 3.13).
    In another thread than the main one, where signals never arrive, it does nothing; nor where one
    is ignored, or ends the process.
    """

    def __init__(self) -> None:
        self.busy = False
        """Set while they must not interrupt."""
        self._pressed: int | None = None
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def settle(self) -> None:
        """They may interrupt again. Raises what one that came meanwhile does, KeyboardInterrupt."""
        self.busy = False
        if self._pressed is not None:
            number, self._pressed = self._pressed, None
            self._before[number](number, None)

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.busy:
            self._pressed = number
        else:
            self._before[number](number, frame)

    def __enter__(self) -> HeldBack:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                before = signal.getsignal(number)
                if callable(before):
                    self._before[number] = before
                    signal.signal(number, self._press)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
