"""Print a starting file: a scenario of some kind, or a policy for a decision point."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sims.errors import InputError
from sims.options import natural
from sims.writing import replacing

ABOUT = """\
`holdfast new scenario KIND` (rigid, moldable, malleable, iterative), or CELL of `holdfast matrix`,
prints a scenario file with every key explained; with -o, the editors' schema is put beside it.
`holdfast new policy POINT` prints a policy in a file of its own. Points: of a queue strategy,
order, allocation, batch_allocation; enrolment; of a pack pack_allocation, redistribution; copies;
of a master service."""

SCENARIO, POLICY = "scenario", "policy"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = ABOUT
    parser.add_argument("what", choices=(SCENARIO, POLICY), help="what to begin")
    parser.add_argument("name", metavar="KIND|CELL|POINT", help="of which kind: see below")
    parser.add_argument("--seed", type=natural, default=0, help="which example of a cell")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="where to; not printed")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    from sims.starting import policy_file, scenario_file

    begun, output = arguments.what == SCENARIO, arguments.output
    text = scenario_file(arguments.name, arguments.seed) if begun else policy_file(arguments.name)
    if output is None:
        print(text, end="")
        return 0
    _write(output, text)
    if begun:
        _write_schema(output.parent)
    return 0


def _write_schema(folder: Path) -> None:
    from sims.scenario.schema import FILE, schema

    told = json.dumps(schema(), indent=1)
    path = folder / FILE
    if not path.exists() or path.read_text(encoding="utf-8") != told:
        _write(path, told, over=True)


def _write(path: Path, text: str, over: bool = False) -> None:
    if path.exists() and not over:
        raise InputError(str(path), "", "is there already", "a new file")
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")
    print(path)
