"""Run `python -m sims.bench NAME [options]`, which times Holdfast beside SimPy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sims.bench import Case, table
from sims.bench.beside import OPTION
from sims.bench.beside import beside as other_program
from sims.bench.cases import benchmarks
from sims.errors import COMMAND_LINE, InputError
from sims.options import positive_int, run_script
from sims.telling import show_table

BENCHMARKS = benchmarks()


def bench(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help=", ".join(BENCHMARKS))] = None,
    rounds: Annotated[int, typer.Option(parser=positive_int, help="in which all take turns")] = 3,
    size: Annotated[float, typer.Option(min=0, help="how much there is to do")] = 1.0,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="with fleet: a Python program to time beside the same runs of ours; called with "
            "W and D, it simulates AIReSim's default once: D days of work of W members on W + 64 "
            "servers",
        ),
    ] = None,
) -> None:
    """Print the time that each case of a benchmark takes, and its ratio to that of the case beside
    it."""
    if name not in BENCHMARKS:
        problem = f"{name!r} is no benchmark" if name else "which benchmark?"
        raise InputError(COMMAND_LINE, "python -m sims.bench", problem, ", ".join(BENCHMARKS))
    cases = BENCHMARKS[name]
    others = [] if beside is None else _others(name, beside, size)
    title = getattr(cases, "about", cases.__doc__ or "")
    show_table(table(" ".join(title.split()), [*cases(size), *others], rounds))


def _others(name: str, program: Path, size: float) -> list[Case]:
    if name != "fleet":
        raise InputError(COMMAND_LINE, OPTION, f"{name} is compared with SimPy alone", "fleet")
    return list(other_program(program, size))


def main(words: list[str] | None = None) -> int:
    """Run the benchmark that `words`, by default the process's own arguments, name; return the exit
    code."""
    return run_script(bench, "python -m sims.bench", words)


if __name__ == "__main__":
    sys.exit(main())
