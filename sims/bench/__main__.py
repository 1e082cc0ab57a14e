"""`python -m sims.bench NAME [options]`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from sims.errors import InputError

HELPERS = {"__init__", "__main__", "simpy_loop", "until"}


def main(words: list[str]) -> int:
    """Run the benchmark that the first word names."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    names = [name for name in names if name not in HELPERS]
    if not words or words[0] not in names:
        given = f"{words[0]!r} is no benchmark" if words else "which benchmark?"
        print(f"sims.bench: {given}; accepted: {', '.join(names)}", file=sys.stderr)
        return 2
    try:
        importlib.import_module(f"sims.bench.{words[0]}").main(words[1:])
    except InputError as error:
        print(f"sims.bench: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
