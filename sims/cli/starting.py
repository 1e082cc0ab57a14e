"""`holdfast new` and `examples`: files to begin from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sims.errors import COMMAND_LINE, InputError, show
from sims.examples import HAZARD, campaigns, copy, example
from sims.examples import examples as shipped
from sims.options import argument, flag, natural, one_of, option
from sims.telling import list_pairs
from sims.writing import replacing

SCENARIO, POLICY = "scenario", "policy"
WHAT = (SCENARIO, POLICY, HAZARD)


def new(
    what: Annotated[
        str,
        typer.Argument(
            metavar="|".join(WHAT),
            parser=one_of(WHAT),
            autocompletion=lambda: list(WHAT),
            help="what to print",
        ),
    ],
    name: Annotated[
        str | None, argument(str, "KIND|CELL|POINT", "which one: see above; a hazard has none")
    ] = None,
    seed: Annotated[int, option(natural, "SEED", "which example of a cell")] = 0,
    output: Annotated[
        Path | None,
        option(Path, "FILE", "write it to this file", "-o", "--output"),
    ] = None,
) -> None:
    """Print a file to begin with: a scenario, a policy or a hazard.

    `holdfast new scenario KIND` (rigid, moldable, malleable, iterative), or CELL of `holdfast
    matrix`, prints a scenario file with each key explained; -o also writes the editors' schema
    beside it. `holdfast new policy POINT` prints a policy for a decision point: of a queue
    strategy, order, allocation, batch_allocation; enrolment; of a pack pack_allocation,
    redistribution; copies; of a master service; of deadlines deadline. `holdfast new hazard` prints
    a law of faults.
    """
    from sims.examples import policy_file, scenario_file

    begun = what == SCENARIO
    if what == HAZARD:
        name = HAZARD
    if name is None or (what == POLICY and name == HAZARD):
        problem = "lacks what kind of it"
        raise InputError(COMMAND_LINE, f"new {what}", problem, "see `holdfast new -h`")
    text = scenario_file(name, seed) if begun else policy_file(name)
    if output is None:
        print(text, end="")
        return
    if output.exists():
        raise InputError(str(output), "", "is there already", "a new file")
    _write(output, text)
    if begun:
        from sims.scenario.keys import FILE, schema

        path, told = output.parent / FILE, json.dumps(schema(), indent=1)
        if not path.exists() or path.read_text(encoding="utf-8") != told:
            _write(path, told)


def _write(path: Path, text: str) -> None:
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")
    show(path)


def examples(
    names: Annotated[list[str] | None, argument(str, "NAME", "copy this one")] = None,
    everything: Annotated[bool, flag("--all", "copy all of them")] = False,
    output: Annotated[Path, option(Path, "FOLDER", "where to", "-o", "--output")] = Path(),
) -> None:
    """List the scenarios and campaigns that come with Holdfast, or copy some.

    `holdfast examples volatile20` copies it to the current folder; --all copies all of them.
    """
    known = shipped() | campaigns()
    if not names and not everything:
        list_pairs(known.items())
        return
    for name in names or ():
        example(name)  # none is copied where one is unknown
    for name in known if everything else names or ():
        show(*copy(name, output))
