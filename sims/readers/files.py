"""Opening what a user names, plain or packed by suffix, and reading its lines and numbers, with one
error for all mishaps."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from sims.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 17
PIECE = 1 << 12
"""Bytes unpacked at a time: zeros grow thirty-thousandfold."""

COMPRESSED = ".gz, .xz, .bz2 or .zst"
UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)
ARCHIVES = frozenset({".tar", ".tgz", ".txz", ".zip", ".7z"})

LONGEST = 1 << 17
"""Characters of a line: of CSV, a field has no more."""
MOST_GROWN, LEAST_GROWN = 100, 1 << 24
"""How many times its size a packed file may come to; and bytes that any may."""

T = TypeVar("T")


class _Frames(io.RawIOBase):
    """The bytes of a Zstandard file. Reading raises EOFError where its last frame is cut."""

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
            frame = None if frame.eof else frame
        if frame is not None:
            raise EOFError("Compressed file ended before the end of its last frame")

    def close(self) -> None:
        self._file.close()
        super().close()


def zstandard(path: Path) -> ModuleType:
    """The library. Raises InputError, naming this file, where it is not installed."""
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
    """What a packed file holds: a small one may be made to hold more than fits anywhere."""

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


def open_binary(path: Path) -> BinaryIO:
    """The file's bytes, decompressed as its suffix says.

    Raises InputError for a file that cannot be opened, for an archive of several files and for
    a compression whose package is missing. A corrupt file shows only when it is read.
    """
    if ARCHIVES.intersection(path.suffixes):
        raise InputError(str(path), "", "an archive of several files", "one file of it, unpacked")
    try:
        mode = path.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):  # it may have no end
            accepted = f"a file, plain or {COMPRESSED}, or a pipe"
            raise InputError(str(path), "", "a device", accepted)
        if path.suffix not in UNPACKERS:
            return path.open("rb")
        unpacked = _Unpacked(path, UNPACKERS[path.suffix](path))
        return cast(BinaryIO, io.BufferedReader(unpacked, CHUNK))
    except (OSError, ValueError) as error:  # the latter of a name with a zero byte
        raise _unreadable(path, error) from error


def content(path: Path) -> bytes:
    """All bytes of the file, decompressed; InputError where it cannot be read."""
    with open_binary(path) as stream:
        try:
            return stream.read()
        except UNREADABLE as error:
            raise _unreadable(path, error) from error


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Each line with its number from 1, without its end; InputError where it cannot be read.

    Bytes that are not UTF-8 (archives hold Latin-1 names in comments) read as `\xNN`: they cost
    nobody a log, and in a number they are refused like any other letter.
    """
    with open_binary(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="backslashreplace")
        try:
            for number in count(1):
                line = text.readline(LONGEST)
                if not line:
                    return
                if len(line) == LONGEST and line[-1] != "\n":
                    problem = f"longer than {LONGEST:,} characters"
                    raise InputError(
                        str(path), f"line {number}", problem, "a file of shorter lines"
                    )
                yield number, line.rstrip("\r\n")
        except UNREADABLE as error:
            raise _unreadable(path, error) from error


def taken(
    path: Path, take: Callable[[str], T], accepted: str, comments: str = ""
) -> Iterator[tuple[int, T]]:
    """What `take` makes of each line, numbered from 1, that is neither empty nor begins with one of
    `comments`. Raises InputError, of the line by its number, for a ValueError."""
    for number, line in numbered_lines(path):
        text = line.strip()
        if text and text[0] not in comments:
            try:
                yield number, take(text)
            except ValueError as error:
                raise InputError(str(path), f"line {number}", str(error), accepted) from error


def whole(word: str) -> int:
    """A whole number; ValueError that quotes the word otherwise."""
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a whole number") from None


def finite(word: str) -> float:
    """A finite number; ValueError that quotes the word otherwise."""
    try:
        number = float(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{word!r} is not finite")
    return number


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return InputError(
        str(path), "", f"cannot be read ({reason})", f"a readable file, plain or {COMPRESSED}"
    )
