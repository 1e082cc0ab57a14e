"""Files packed by suffix: what is written can be read up to the last flush, however it ends."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from sims.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 17


class Packer(Protocol):
    """What compresses one stream or frame."""

    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


class Unpacker(Protocol):
    """What decompresses one frame."""

    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, /) -> bytes: ...


class Segments(io.RawIOBase):
    """A file of compressed streams one after the other: a flush ends one.

    That is a valid file of its format, and what was flushed can be read even if the process is
    killed: xz has no other way, and a Zstandard frame that is whole has its checksum.
    """

    def __init__(self, path: Path, packer: Callable[[], Packer]) -> None:
        self._file = path.open("wb")
        self._new = packer
        self._packer: Packer | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        if self._packer is None:
            self._packer = self._new()
        self._file.write(self._packer.compress(data))
        return len(data)

    def flush(self) -> None:
        if self._packer is not None:
            self._file.write(self._packer.flush())
            self._packer = None
        if not self._file.closed:
            self._file.flush()

    def close(self) -> None:
        if not self.closed:
            super().close()  # flushes
            self._file.close()


class Frames(io.RawIOBase):
    """The bytes of a Zstandard file. Reading raises EOFError where its last frame is cut."""

    def __init__(self, path: Path, unpacker: Callable[[], Unpacker], corrupt: type[Exception]):
        self._file = path.open("rb")
        self._new, self._corrupt = unpacker, corrupt
        self._frame: Unpacker | None = None
        self._packed = self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        into = memoryview(buffer)
        while not self._ready:
            if not self._fill():
                return 0
        size = min(len(into), len(self._ready))
        into[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _fill(self) -> bool:
        """Unpack a bit more; False at the end of the file."""
        packed = self._packed or self._file.read(CHUNK)
        if not packed:
            if self._frame is not None:
                raise EOFError("Compressed file ended before the end of its last frame")
            return False
        if self._frame is None:
            self._frame = self._new()
        try:
            self._ready = self._frame.decompress(packed)
        except self._corrupt as error:
            raise OSError(f"not a Zstandard file ({error})") from error
        self._packed = self._frame.unused_data if self._frame.eof else b""
        if self._frame.eof:
            self._frame = None
        return True

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
            return cast(BinaryIO, gzip.GzipFile(path, "wb", mtime=0))
        case ".xz":
            return cast(BinaryIO, Segments(path, lzma.LZMACompressor))
        case ".zst":
            packer = _zstandard(path).ZstdCompressor(write_checksum=True).compressobj
            return cast(BinaryIO, Segments(path, packer))
        case _:
            return path.open("wb", buffering=CHUNK)


def unpack_zst(path: Path) -> BinaryIO:
    """The bytes of a Zstandard file; reading raises EOFError where it is cut, OSError where it is
    none. Raises InputError where what unpacks it is not installed."""
    zst = _zstandard(path)
    frames = Frames(path, zst.ZstdDecompressor().decompressobj, zst.ZstdError)
    return cast(BinaryIO, io.BufferedReader(frames, CHUNK))


def _zstandard(path: Path) -> ModuleType:
    try:
        import zstandard
    except ImportError:
        problem = "Zstandard compression needs a package that is missing"
        raise InputError(str(path), "", problem, "pip install 'holdfast[zst]'") from None
    return zstandard
