"""Writes files for commands: whole or not at all, compressed by suffix, with one kind of error; and
holds back Ctrl-C meanwhile."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, BinaryIO, cast

from sims.errors import COMMAND_LINE, InputError
from sims.readers.files import CHUNK, zstandard

UNFINISHED = ".holdfast-"
"""Beginning of the names of folders in which files are until they are whole."""
DAY = 86_400.0
"""Age in seconds from which on such a folder counts as left behind."""


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Return a context in which an OSError becomes an InputError that says that `path` cannot be
    written.

    BrokenPipeError stays: a reader who closes a pipe early is no mistake of the user's.
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
    """Return a context with the path of a new file to write, which replaces `path` if the block
    raises no error.

    Otherwise the new file is removed, and an older one stays as it was. Missing folders are made; a
    device or a pipe is written directly. What a killed command has left in the folder is removed
    after a day. Raises InputError where the file cannot be written, and for a link.
    """
    with refusing(path):
        refuse_link(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_device(path):
            yield path
            return
        _sweep(path.parent)
        # A folder for the new file lets it keep the old one's name, and so its suffix.
        with HeldBack() as signals:
            signals.busy = True  # a folder that is made, and not yet known, would stay
            temporary = TemporaryDirectory(dir=path.parent, prefix=UNFINISHED)
            signals.settle()
        with temporary as folder:
            new = Path(folder) / path.name
            yield new
            _take_place(new, path)


def is_device(path: Path) -> bool:
    """Return whether the path exists and is no regular file: a device, a pipe or a folder."""
    return path.exists() and not path.is_file()


def refuse_link(path: Path) -> None:
    """Raise InputError for a link to anything but a device or a pipe: no output is written through
    a link, and none takes its place."""
    if path.is_symlink() and not is_device(path):
        target = os.path.realpath(path)
        raise InputError(str(path), "", f"is a link to {target}", f"a new name, or {target} itself")


def _sweep(folder: Path) -> None:
    """Remove the folders of unfinished files in `folder` that are older than a day: what a command
    leaves that is killed without notice."""
    with os.scandir(folder) as entries:
        for it in entries:
            if it.name.startswith(UNFINISHED) and it.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    if time.time() - it.stat(follow_symlinks=False).st_mtime > DAY:
                        shutil.rmtree(it.path, ignore_errors=True)


def unlinked(path: Path, option: str) -> Path:
    """Return `path`, a relative path that a file names, if no link in it leads elsewhere.

    Raises InputError if one does. The error says that `option` of the command line accepts the
    target.
    """
    target = Path(os.path.realpath(path))
    if target != Path(os.path.realpath(os.curdir)) / path:
        raise InputError(
            str(path), "", f"a link leads from there to {target}", f"{option} {target}"
        )
    return path


def _take_place(new: Path, old: Path) -> None:
    if old.exists():
        # Renaming works without the right to write the old file; opening it checks that right.
        old.open("ab").close()
        shutil.copymode(old, new)
    new.replace(old)


def refuse_inputs(output: Path, option: str, *inputs: Path) -> None:
    """Raise InputError, naming the `option` that sets `output`, where the file to be written is one
    of `inputs`, the files that were read."""
    if any(output.exists() and it.exists() and output.samefile(it) for it in inputs):
        problem = f"{output} is what is read, and would be lost"
        raise InputError(COMMAND_LINE, option, problem, "another name")


def check_suffix(path: Path, kind: str, suffixes: Sequence[str]) -> None:
    """Raise InputError unless `path` ends in one of the suffixes (such as `.png`) of files that can
    be written.

    `kind` is the word for such a file in the error.
    """
    if path.suffix not in suffixes:
        raise InputError(str(path), "", f"{path.suffix!r} is no {kind}", ", ".join(suffixes))


# --- packed files -------------------------------------------------------------------------------

Pack = Callable[[bytearray], bytes]
"""Function that compresses a whole stream."""


class Segments(io.RawIOBase):
    """A file of compressed streams, one after the other; each flush ends a stream.

    `pack` compresses a whole stream, and `draft` one that is to be replaced, as fast as it can.
    Such a file is valid in its format, and what was flushed can be read even if the process is
    killed. For xz there is no other way; a Zstandard frame has a checksum only when it is whole.
    """

    def __init__(self, path: Path, pack: Pack, draft: Pack) -> None:
        self._file = path.open("wb")
        self._pack, self._draft = pack, draft
        self._rest = bytearray()
        """Data that no compressed stream holds yet."""
        self._end = 0
        """Position in the file at which the streams end."""
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
        """Write the remaining data behind the streams as a draft, which the next stream replaces.

        The finished file is therefore the same whenever and however often this was called. Nothing
        is written if a stream has ended since the last call, because the data are then recent.
        """
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
    """Open a new file for writing, compressed as its suffix says: .gz, .xz, .zst; otherwise plain.

    Raises OSError where the file cannot be written, InputError where the compressor is not
    installed.
    """
    match path.suffix:
        case ".gz":
            # Without the time of day, so that equal logs are equal files.
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
    """Make all that was written so far to a file of `pack` survive the death of the process."""
    if isinstance(file, Segments):
        file.save()
    else:
        file.flush()


# --- Ctrl-C -------------------------------------------------------------------------------------


ENDING = tuple(getattr(signal, it) for it in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, it))
"""Signals that end a command."""


class HeldBack:
    """Context manager that holds back the signals of ENDING while its attribute `busy` is set;
    `settle` then handles the last one that came.

    While `busy` is False signals are handled at once, as before. Writing a log must not be
    interrupted: an exception raised by a signal while orjson asks an enum for its value kills the
    process (orjson 3.13). The manager does nothing outside the main thread, which alone receives
    signals, and for a signal that is ignored or ends the process.
    """

    def __init__(self) -> None:
        self.busy = False
        """Whether signals must wait now."""
        self._pressed: int | None = None
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def settle(self) -> None:
        """Let signals interrupt again, and handle the last one that arrived meanwhile.

        Raises what its handler raises, such as KeyboardInterrupt.
        """
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
