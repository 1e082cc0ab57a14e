"""Files that commands write: whole or not at all, with one error for all mishaps; and Ctrl-C, held
back meanwhile."""

from __future__ import annotations

import filecmp
import itertools
import os
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType, TracebackType

from sims.errors import InputError
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


def set_aside(path: Path) -> Path | None:
    """Where the log that is called so lies from now on: NAME.1.jsonl, or the next number that is
    free; None where there is none."""
    if not path.is_file() or path.stat().st_size == 0:
        return None
    stem, dot, suffixes = path.name.partition(".")
    free = (path.with_name(f"{stem}.{n}{dot}{suffixes}") for n in itertools.count(1))
    aside = next(it for it in free if not it.exists())
    return path.rename(aside)


def forget_twin(older: Path | None, newer: Path) -> Path | None:
    """`older`, unless there is none or it says the same, byte for byte: then it goes."""
    if older is None or not filecmp.cmp(older, newer, shallow=False):
        return older
    older.unlink()
    return None


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
    """Context manager: while `busy`, Ctrl-C waits for `settle`; otherwise it interrupts at once.

    Writing a log is such a thing: what a signal raises while orjson asks an enum for its value does
    not interrupt, it kills (orjson 3.13).
    In another thread than the main one, where Ctrl-C never arrives, it does nothing; nor where
    Ctrl-C is ignored.
    """

    def __init__(self) -> None:
        self.busy = False
        """Set while it must not interrupt."""
        self._pressed = False
        self._before: signal._HANDLER = None

    def settle(self) -> None:
        """It may interrupt again. Raises KeyboardInterrupt where it was asked to meanwhile."""
        self.busy = False
        if self._pressed:
            self._pressed = False
            raise KeyboardInterrupt

    def _press(self, number: int, frame: FrameType | None) -> None:
        if not self.busy:
            raise KeyboardInterrupt
        self._pressed = True

    def __enter__(self) -> HeldBack:
        heard = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        if heard and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
