"""Ask Holdfast spoilt questions, and see that it answers each as a program should.

    python -m tests.fuzz.fuzz 0 100000          # the cases of these numbers; findings on stdout
    python -m tests.fuzz.fuzz 1000000 1010000   # of what strangers send: code, bombs, odd names

An answer is exit code 0, 1 (a run that fails by the user's own policy, an audit that finds
something), 2 or 4 (an audit of a log without an end); of 2, one line on stderr that names a source.
No traceback; no file left behind by what was refused, or half-written; no element of a page but our
own, no control character in a table; no 10 s without a word.
"""

from __future__ import annotations

import contextlib
import enum
import faulthandler
import io
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from html.parser import HTMLParser
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import matplotlib.figure  # noqa: F401 - an import that the bell cuts short stays broken
import polars  # noqa: F401
from attrs import frozen

from sims.cli import main
from sims.errors import ENDLESS, INTERRUPTED
from tests.fuzz.cases import Case, case

TOLD, SILENT = 2.0, 14.0
"""Seconds after which a case that has said something, and any case, is ended. The first line of
progress comes after 10."""
MEMORY = 6 * 2**30
CODES = frozenset({0, 1, 2, ENDLESS})
NAMING = ("run", "new")
"""Commands that write the same whatever the suffix."""


class Ended(KeyboardInterrupt):
    """The case took its time."""


class Here(Executor):
    """In place of a campaign's processes: what is handed over is done at once."""

    def __init__(self, *_: object, **__: object) -> None:
        """Of no process."""

    def submit(self, function: Any, /, *given: Any, **more: Any) -> Future[Any]:
        future = Future[Any]()
        try:
            future.set_result(function(*given, **more))
        except Exception as error:
            future.set_exception(error)
        return future


@frozen
class Answer:
    """What came of a case."""

    code: int | None
    """None: it was ended."""
    err: str
    trouble: str
    """What is wrong with it; empty: nothing."""


def ask(asked: Case) -> Answer:
    """One case, in a folder of its own."""
    here = Path.cwd()
    with (
        tempfile.TemporaryDirectory() as around,
        mock.patch("sims.campaign.executors.Pool", Here),
        mock.patch.dict(os.environ),
        mock.patch.object(sys, "dont_write_bytecode", True),
    ):
        folder = Path(around) / "inner"
        for name, content in asked.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
        try:
            return _judged(asked, folder)
        finally:
            os.chdir(here)


def _judged(asked: Case, folder: Path) -> Answer:
    out, err = io.StringIO(), io.StringIO()
    code, trouble = None, ""
    # It may ring in the very moment when the case is over.
    with contextlib.suppress(Ended), warnings.catch_warnings(), _limited(err):
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(asked.words)
        except Ended:
            code = INTERRUPTED
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 0
        except BaseException:
            trouble = traceback.format_exc(limit=-6)
    told = err.getvalue()
    if code == INTERRUPTED:
        code, trouble = None, "" if len(told.splitlines()) > 1 else f"silent for {SILENT:g} s"
    elif not trouble and code is not None:
        trouble = _wrong(code, told, folder, asked)
    files = set(folder.parent.rglob("*")) - {folder / it for it in asked.files}
    halves = [str(it) for it in files if it.is_file() and _is_half(it, asked.words[0] in NAMING)]
    trouble = trouble or (f"half-written: {halves}" if halves else "")
    return Answer(code, told, trouble or "".join(map(_hostile, filter(Path.is_file, files))))


class _Elements(HTMLParser):
    """Notes elements that only a name from a file can have brought, and attributes that run
    code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        runs = [name for name, _ in attrs if name.startswith("on")]
        if runs or tag in ("img", "svg", "b", "iframe", "object"):
            self.found.append(f"<{tag} {runs}>")


def _hostile(path: Path) -> str:
    """What a file that was written does to whoever opens it; empty: nothing."""
    if path.suffix == ".html":
        elements = _Elements()
        elements.feed(path.read_text(encoding="utf-8"))
        return f"a page with {elements.found}" if elements.found else ""
    text = path.read_text(encoding="utf-8") if path.suffix == ".csv" else ""
    odd = sorted({it for it in text if not it.isprintable() and it != "\n"})
    return f"a table with {odd}" if odd else ""


def _wrong(code: int, told: str, folder: Path, asked: Case) -> str:
    """What is wrong with an answer of this code."""
    said = [it for it in told.splitlines() if not _is_progress(it)]
    if "Traceback" in told:
        return told
    if code == 2:
        return _refusal(said, folder, asked)
    if code not in CODES:
        return f"exit code {code}"
    failed = code == 1 and asked.words[0] == "run" and "the run failed" not in told
    return f"exit code 1: {said}" if failed else ""


def _is_progress(line: str) -> bool:
    return line.startswith("holdfast: ") and line[10:11].isdigit() and " s: " in line


def _refusal(said: list[str], folder: Path, asked: Case) -> str:
    """What is wrong with how it was refused."""
    refusals = [it for it in said if not it.startswith("holdfast: warning")]
    given = {it.partition("/")[0] for it in asked.files}
    left = {it.name for it in folder.iterdir()} - given - {"logs"}
    if len(refusals) != 1 or not refusals[0].startswith("holdfast: "):
        return f"not one line: {refusals}"
    if len(refusals[0]) > 1500:
        return f"a line of {len(refusals[0])} characters: {refusals[0][:200]}"
    return f"left behind: {left}" if left else ""


def _is_half(path: Path, named: bool) -> bool:
    """Whether the file is a temporary one, or ends before it is over; `named`: called anything."""
    if any(it.startswith(".holdfast-") for it in path.parts):
        return True
    if named:
        return False
    ends = {".svg": b"</svg>", ".html": b"</html>", ".parquet": b"PAR1", ".csv": b"", ".json": b"}"}
    return not path.read_bytes().rstrip().endswith(ends.get(path.suffix, b""))


@contextlib.contextmanager
def _limited(err: io.StringIO) -> Iterator[None]:
    """Within, `Ended` is raised when a case takes too long: sooner where it said so."""
    began = time.monotonic()

    def ring(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename == enum.__file__:
            # Asked by orjson for an enum's value: what is raised there ends the process.
            signal.setitimer(signal.ITIMER_REAL, 0.01, 1.0)
            return
        if err.getvalue() or time.monotonic() - began > SILENT:
            raise Ended

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, TOLD, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fuzz(first: int, last: int) -> Counter[str]:
    """Ask the cases of these numbers; print what is wrong. Returns how many ended how."""
    codes: Counter[str] = Counter()
    for seed in range(first, last):
        asked = case(seed)
        faulthandler.dump_traceback_later(60, exit=True)
        print(f"\r{seed}", end="", file=sys.stderr, flush=True)
        answer = ask(asked)
        codes[f"code {answer.code}"] += 1
        if answer.trouble:
            codes["trouble"] += 1
            print(f"--- {seed}: {' '.join(map(repr, asked.words))}\n{answer.trouble}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    return codes


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    print(dict(fuzz(int(sys.argv[1]), int(sys.argv[2]))))
