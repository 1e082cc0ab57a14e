"""Files that commands write: whole or not at all, with one error for all mishaps, packed by suffix;
and Ctrl-C, held back meanwhile."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, BinaryIO, cast

from sims.errors import COMMAND_LINE, InputError
from sims.readers.files import CHUNK, zstandard


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

    Otherwise the new one is removed, and an older one stays as it was. Folders are made; a link is
    followed within its own folder; a device or a pipe is written directly. Raises InputError where
    it cannot be written, and for a link that leads out of its folder.
    """
    with refusing(path):
        target = Path(os.path.realpath(path))
        if path.is_symlink() and not is_device(path) and not _below(target, path.parent):
            problem = f"is a link that leads out of its folder, to {target}"
            raise InputError(str(path), "", problem, f"another name, or {target} itself")
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_device(target):
            yield path
            return
        # A folder for it: its name, and with it its suffix, can be the old one's.
        with TemporaryDirectory(dir=target.parent, prefix=".holdfast-") as folder:
            new = Path(folder) / path.name
            yield new
            _take_place(new, target)


def is_device(path: Path) -> bool:
    """Whether it is there, and is no regular file: a device, a pipe or a folder."""
    return path.exists() and not path.is_file()


def _below(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def unlinked(path: Path, option: str) -> Path:
    """The relative path, whose name comes from a file: it leads where it says. Raises InputError,
    naming the command line's option, where a link in it leads elsewhere."""
    target = Path(os.path.realpath(path))
    if target != Path(os.path.realpath(os.curdir)) / path:
        raise InputError(
            str(path), "", f"a link leads from there to {target}", f"{option} {target}"
        )
    return path


def _take_place(new: Path, old: Path) -> None:
    if old.exists():
        # Renaming asks for no leave to write the old file.
        old.open("ab").close()
        shutil.copymode(old, new)
    new.replace(old)


def refuse_inputs(output: Path, option: str, *inputs: Path) -> None:
    """Raises InputError where what would be written is what was read."""
    if any(output.exists() and it.exists() and output.samefile(it) for it in inputs):
        problem = f"{output} is what is read, and would be lost"
        raise InputError(COMMAND_LINE, option, problem, "another name")


def check_suffix(path: Path, kind: str, suffixes: Sequence[str]) -> None:
    """Raises InputError unless `path` ends as something of this kind that can be written."""
    if path.suffix not in suffixes:
        raise InputError(str(path), "", f"{path.suffix!r} is no {kind}", ", ".join(suffixes))


# --- packed files -------------------------------------------------------------------------------

Pack = Callable[[bytearray], bytes]
"""Compresses a whole stream."""


class Segments(io.RawIOBase):
    """A file of compressed streams one after the other: a flush ends one.

    That is a valid file of its format, and what was flushed can be read even if the process is
    killed: xz has no other way, and a Zstandard frame that is whole has its checksum.
    """

    def __init__(self, path: Path, pack: Pack, draft: Pack) -> None:
        self._file = path.open("wb")
        self._pack, self._draft = pack, draft
        self._rest = bytearray()
        """What no stream holds yet."""
        self._end = 0
        """Of the streams."""
        self._drafted = self._fresh = False

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        self._rest += data
        return len(data)

    def flush(self) -> None:
        if self._rest:
            self._put(self._pack)
            self._end = self._file.tell() if self._file.seekable() else 0
            self._rest.clear()
            self._fresh = True

    def save(self) -> None:
        """Put the rest behind the streams for now: the next one takes its place, so that the file
        is the same in the end whenever, and however often, this was asked for. But not where a
        stream has ended since it was asked last: then the rest is younger."""
        if self._rest and not self._fresh and self._file.seekable():
            self._put(self._draft)
            self._drafted = True
        self._fresh = False

    def _put(self, pack: Pack) -> None:
        packed = pack(self._rest)
        if self._drafted:
            self._file.seek(self._end)
        self._file.write(packed)
        if self._drafted:
            self._file.truncate()
        self._drafted = False
        self._file.flush()

    def close(self) -> None:
        if not self.closed:
            try:
                super().close()  # flushes
            finally:
                self._file.close()


def pack(path: Path) -> BinaryIO:
    """A new file, packed as its suffix says: .gz, .xz, .zst; otherwise plain.

    Raises OSError where it cannot be written, InputError where what packs it is not installed.
    """
    match path.suffix:
        case ".gz":
            # Without the time of day: the same log is the same file.
            tight, quick = (partial(gzip.compress, compresslevel=k, mtime=0) for k in (9, 1))
            return cast(BinaryIO, Segments(path, tight, quick))
        case ".xz":
            return cast(BinaryIO, Segments(path, lzma.compress, partial(lzma.compress, preset=0)))
        case ".zst":
            packed = zstandard(path).ZstdCompressor(write_checksum=True).compress
            return cast(BinaryIO, Segments(path, packed, packed))
        case _:
            return path.open("wb", buffering=CHUNK)


def save(file: BinaryIO) -> None:
    """Let a process that is killed not lose what was written so far to what `pack` made."""
    if isinstance(file, Segments):
        file.save()
    else:
        file.flush()


# --- Ctrl-C -------------------------------------------------------------------------------------


ENDING = tuple(getattr(signal, it) for it in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, it))
"""Signals that end a command."""


class HeldBack:
    """Context manager: while `busy`, those signals wait for `settle`; otherwise they are
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
            for number in ENDING:
                before = signal.getsignal(number)
                if callable(before):
                    self._before[number] = before
                    signal.signal(number, self._press)
        return self

    def __exit__(self, *raised: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
