"""Files packed by suffix: what is written can be read up to the last flush, however it ends."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from sims.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 17
PIECE = 1 << 12
"""Bytes unpacked at a time: zeros grow thirty-thousandfold."""

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

    def writable(self) -> bool:
        return True

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


class Frames(io.RawIOBase):
    """The bytes of a Zstandard file. Reading raises EOFError where its last frame is cut."""

    def __init__(self, path: Path, zst: Any):
        self._file, self._zst = path.open("rb"), zst
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
            packed = _zstandard(path).ZstdCompressor(write_checksum=True).compress
            return cast(BinaryIO, Segments(path, packed, packed))
        case _:
            return path.open("wb", buffering=CHUNK)


def save(file: BinaryIO) -> None:
    """Let a process that is killed not lose what was written so far to what `pack` made."""
    if isinstance(file, Segments):
        file.save()
    else:
        file.flush()


def unpack_zst(path: Path) -> BinaryIO:
    """The bytes of a Zstandard file; reading raises EOFError where it is cut, OSError where it is
    none. Raises InputError where what unpacks it is not installed."""
    return cast(BinaryIO, io.BufferedReader(Frames(path, _zstandard(path)), CHUNK))


def _zstandard(path: Path) -> ModuleType:
    try:
        import zstandard
    except ImportError:
        problem = "Zstandard compression needs a package that is missing"
        raise InputError(str(path), "", problem, "pip install 'holdfast[zst]'") from None
    return zstandard
