"""`python -m sims.bench NAME [options]`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from sims.errors import COMMAND_LINE, InputError
from sims.options import call, command_of
from sims.script import guarded

HELPERS = {"__init__", "__main__", "batch_runs", "simpy_loop", "until"}


def main(words: list[str]) -> int:
    """Run the benchmark that the first word names; returns the exit code."""
    return guarded("python -m sims.bench", lambda: _run(words))


def _run(words: list[str]) -> None:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    names = [name for name in names if name not in HELPERS]
    if words[:1] in (["-h"], ["--help"]):
        print(f"usage: python -m sims.bench NAME [options]\n\nNAME: {', '.join(names)}")
        return
    if not words or words[0] not in names:
        given = f"{words[0]!r} is no benchmark" if words else "which benchmark?"
        raise InputError(COMMAND_LINE, "python -m sims.bench", given, ", ".join(names))
    name, *rest = words
    command = command_of(importlib.import_module(f"sims.bench.{name}").main, name)
    call(command, f"python -m sims.bench {name}", rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
