"""Open files that a user names, plain or compressed, and read their lines and numbers.

Every failure to open or read a file becomes an InputError that names the file.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from sims.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 17
"""Bytes that are buffered of an unpacked file."""
PIECE = 1 << 12
"""Bytes of compressed data that are unpacked at a time; zeros may grow thirty-thousandfold."""

COMPRESSED = ".gz, .xz, .bz2 or .zst"
UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)
ARCHIVES = frozenset({".tar", ".tgz", ".txz", ".zip", ".7z"})
"""Suffixes of archives that hold several files, which are refused."""

LONGEST = 1 << 17
"""Largest number of characters in a line; the fields of CSV have the same limit."""
MOST_GROWN, LEAST_GROWN = 100, 1 << 24
"""Largest ratio of a file's unpacked size to its packed size, and the unpacked size in bytes that
any file may reach regardless of this ratio."""

T = TypeVar("T")


class _Frames(io.RawIOBase):
    """A stream of the unpacked bytes of a Zstandard file. Reading raises EOFError where the last
    frame is cut short."""

    def __init__(self, path: Path) -> None:
        self._zst = zstandard(path)
        self._file = path.open("rb")
        self._unpacked, self._ready = self._unpack(), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        into = memoryview(buffer)
        while not self._ready:
            piece = next(self._unpacked, None)
            if piece is None:
                return 0
            self._ready = piece
        size = min(len(into), len(self._ready))
        into[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _unpack(self) -> Iterator[bytes]:
        frame, rest = None, b""
        while packed := rest or self._file.read(PIECE):
            frame = frame or self._zst.ZstdDecompressor().decompressobj()
            try:
                yield frame.decompress(packed)
            except self._zst.ZstdError as error:
                raise OSError(f"not a Zstandard file ({error})") from error
            rest = frame.unused_data if frame.eof else b""
            # A file may consist of several frames, each of which needs a new decompressor.
            frame = None if frame.eof else frame
        if frame is not None:
            raise EOFError("Compressed file ended before the end of its last frame")

    def close(self) -> None:
        self._file.close()
        super().close()


def zstandard(path: Path) -> ModuleType:
    """Return the module `zstandard`. Raises InputError, which names the file at `path`, where it is
    not installed."""
    try:
        import zstandard as library
    except ImportError:
        problem = "Zstandard compression needs a package that is missing"
        raise InputError(str(path), "", problem, "pip install 'holdfast[zst]'") from None
    return library


UNPACKERS: Mapping[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".zst": _Frames,
}


class _Unpacked(io.RawIOBase):
    """A stream of the bytes of a compressed file that refuses to grow beyond a limit.

    A small malicious file could otherwise unpack to more bytes than any disk holds.
    """

    def __init__(self, path: Path, stream: Any) -> None:
        self._stream = stream
        self._left = max(LEAST_GROWN, MOST_GROWN * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        read: int = self._stream.readinto(buffer)
        self._left -= read
        if self._left < 0:
            raise OSError(f"unpacked it is more than {MOST_GROWN} times as large")
        return read

    def close(self) -> None:
        self._stream.close()
        super().close()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Return a context in which an error in reading `path` becomes an InputError that names the
    path."""
    try:
        yield
    except (*UNREADABLE, ValueError) as error:  # ValueError: the name has a zero byte
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        accepted = f"a readable file, plain or {COMPRESSED}"
        raise InputError(str(path), "", f"cannot be read ({reason})", accepted) from error


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading bytes, decompressed according to its suffix.

    Raises InputError for a file that cannot be opened, for a device, for an archive of several
    files and for a compression whose package is missing. A corrupt file is noticed only when it is
    read.
    """
    if ARCHIVES.intersection(path.suffixes):
        raise InputError(str(path), "", "an archive of several files", "one file of it, unpacked")
    with _reading(path):
        mode = path.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):  # it may have no end
            accepted = f"a file, plain or {COMPRESSED}, or a pipe"
            raise InputError(str(path), "", "a device", accepted)
        if path.suffix not in UNPACKERS:
            return path.open("rb")
        unpacked = _Unpacked(path, UNPACKERS[path.suffix](path))
        return cast(BinaryIO, io.BufferedReader(unpacked, CHUNK))


def content(path: Path) -> bytes:
    """Return all bytes of a file, decompressed. Raises InputError where it cannot be read."""
    with open_binary(path) as stream, _reading(path):
        return stream.read()


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not empty, with their numbers from 1, as `blocks_of_lines`
    reads them."""
    for first, lines in blocks_of_lines(path):
        for number, line in enumerate(lines, first):
            if line:
                yield number, line


def blocks_of_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the lines of a file in blocks, in order: the number of the block's first line, from 1,
    and the lines without their ends, of which some may be empty.

    Bytes that are not UTF-8 (archives hold Latin-1 names in comments) read as `\xNN`: in a comment
    they do no harm, and in a number they are refused like any other letter. Raises InputError where
    the file cannot be read or a line is too long.
    """
    with open_binary(path) as stream, _reading(path):
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="backslashreplace")
        number, rest = 1, ""
        # Splitting whole pieces takes a third of the time of asking for one line after another.
        while piece := text.read(LONGEST):
            *lines, rest = (rest + piece).split("\n")
            if lines:
                # A line that ends in this piece and began in it is shorter than the piece.
                _bounded(lines[0], path, number)
                yield number, lines
            number += len(lines)
            _bounded(rest, path, number)
        if rest:
            yield number, [rest]


def _bounded(line: str, path: Path, number: int) -> None:
    """Raise InputError where the line of this number in the file at `path` has LONGEST characters
    or more."""
    if len(line) >= LONGEST:
        problem = f"longer than {LONGEST:,} characters"
        raise InputError(str(path), f"line {number}", problem, "a file of shorter lines")


def taken(
    path: Path, take: Callable[[str], T], accepted: str, comments: str = ""
) -> Iterator[tuple[int, T]]:
    """Yield (number of the line from 1, result of `take`) for each line of a file.

    Empty lines and lines that begin with one of the characters in `comments` are skipped. Raises
    InputError, which names the line by its number, where `take` raises ValueError; `accepted` says
    what the line should be.
    """
    for number, line in numbered_lines(path):
        text = line.strip()
        if text and text[0] not in comments:
            try:
                yield number, take(text)
            except ValueError as error:
                raise InputError(str(path), f"line {number}", str(error), accepted) from error


def whole(word: str) -> int:
    """Convert a word to a whole number. Raises ValueError, which quotes the word, where it is
    none."""
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a whole number") from None


def finite(word: str) -> float:
    """Convert a word to a finite number. Raises ValueError, which quotes the word, where it is
    none."""
    try:
        number = float(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{word!r} is not finite")
    return number
