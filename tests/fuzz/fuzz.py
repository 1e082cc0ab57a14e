"""Ask Holdfast spoilt questions, and see that it answers each as a program should.

    python -m tests.fuzz.fuzz 0 100000      # the cases of these numbers; findings on stdout

An answer is exit code 0, 1 (a run that fails by the user's own policy, an audit that finds
something) or 2; of 2, one line on stderr that names a source. No traceback; no file left behind by
what was refused; no 10 s without a word.
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
from pathlib import Path
from types import FrameType

from attrs import frozen

from sims.cli import main
from tests.fuzz.cases import Case, case

TOLD, SILENT = 2.0, 14.0
"""Seconds after which a case that has said something, and any case, is ended. The first line of
progress comes after 10."""
MEMORY = 6 * 2**30
CODES = frozenset({0, 1, 2})


class Ended(BaseException):
    """The case took its time."""


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
    with tempfile.TemporaryDirectory() as folder:
        for name, content in asked.files.items():
            (Path(folder) / name).write_bytes(content)
        os.chdir(folder)
        try:
            return _judged(asked, Path(folder))
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
            trouble = "" if err.getvalue() else f"silent for {SILENT:g} s"
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 0
        except BaseException:
            trouble = traceback.format_exc(limit=-6)
    said = [it for it in err.getvalue().splitlines() if not _is_progress(it)]
    if code == 2 and not trouble:
        trouble = _refusal(said, folder, asked)
    elif code is not None and code not in CODES:
        trouble = f"exit code {code}"
    elif code == 1 and asked.words[0] == "run" and "the run failed" not in err.getvalue():
        trouble = f"exit code 1: {said}"
    if "Traceback" in err.getvalue():
        trouble = err.getvalue()
    return Answer(code, err.getvalue(), trouble)


def _is_progress(line: str) -> bool:
    return line.startswith("holdfast: ") and line[10:11].isdigit() and " s: " in line


def _refusal(said: list[str], folder: Path, asked: Case) -> str:
    """What is wrong with how it was refused."""
    refusals = [it for it in said if not it.startswith("holdfast: warning")]
    left = {it.name for it in folder.iterdir()} - set(asked.files) - {"logs"}
    if len(refusals) != 1 or not refusals[0].startswith("holdfast: "):
        return f"not one line: {refusals}"
    if len(refusals[0]) > 1500:
        return f"a line of {len(refusals[0])} characters: {refusals[0][:200]}"
    return f"left behind: {left}" if left else ""


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
        faulthandler.dump_traceback_later(60, exit=True)
        print(f"\r{seed}", end="", file=sys.stderr, flush=True)
        asked = case(seed)
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
