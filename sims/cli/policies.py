"""List the policies that scenarios can name."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator, Mapping

from policies import enrolment, pack
from policies.queue.names import ORDERS

FIXED = {"FIXED": "always the configuration of `parameters.members`, such as {P2 = 2, P3 = 1}"}

QUEUE = {
    "FCFS": "in order, no backfilling",
    "EASY": "the first that does not fit is promised processors, what does not delay it starts",
    "conservative": "every job is promised a start on arrival; compressed when a run ends early",
    "greedy": "whatever fits, in order",
    "R-LIST-m": (
        "the first m of the queue are promised processors; Q: all of it (rigid21, section 4.1)"
    ),
    "R-SHELF-B": "shelves, with backfilling; -NB: without (rigid21, section 4.2)",
    "R-SHELFFILL-B": (
        "as R-SHELF, a failed job restarts where it fits its shelf (rigid21, section 4.3)"
    ),
}

ALLOCATION = {
    "LPA": "local processor allocation (moldable21, algorithm 2)",
    "BATCH": "all pending attempts of a batch allotted together (moldable21, section 4.4)",
    "MINTIME": "the fewest processors of least time (moldable21, section 5.1)",
    "MINAREA": "the fewest processors of least area (moldable21, section 5.1)",
}

FORMULAS = {
    "SJF": "the shortest estimate first, as SPT",
    "PRIORITY": "the highest priority first, as the log or the job says",
    "WFP3": "the smallest -(w/r)^3 n first: w wait, r estimate, n processors; sorted anew",
    "UNICEP": "the smallest -w/(r log2 n) first, n at least 2; sorted anew",
    "FAIR-SHARE": "the user with the least processor-time first, half as much after a week; anew",
    "F1": "the smallest log10(r) n + 870 log10(s) first, s: submission, from the first one",
    "F2": "the smallest sqrt(r) n + 25600 log10(s) first",
    "F3": "the smallest r n + 6860000 log10(s) first",
    "F4": "the smallest r sqrt(n) + 530000 log10(s) first",
}

PLACEMENT = {
    "lowest": "the lowest numbers (the default)",
    "compact": "the fewest intervals of numbers: shorter logs of large platforms",
    "programmed": "those that hold the job's program first",
    "IP, IE, IY, IAY": "as volatile13's passive heuristics choose members",
}

REDUNDANCY = {
    "SRPT+R": (
        "shortest remaining time first; all spare servers copy the smallest job (redundancy17, "
        "section IV)"
    ),
    "SRPT+R-even": "as SRPT+R, the spare servers spread over all jobs",
    "SRPT+R-noclone": "as SRPT+R, each copy keeps its own progress",
    "SRPT": "shortest remaining time first, one copy each; SRPT-sticky: jobs keep their servers",
    "LAPS+R(beta)": (
        "the newest part beta of the jobs, with copies (redundancy17, section V); LAPS(beta): "
        "without"
    ),
    "LAPS+R-onecopy(beta)": "LAPS+R's jobs and shares, one copy each",
    "FCFS": "first come, first served",
    "PS": "processor sharing",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The command takes no arguments."""


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    for title, catalogue in _families():
        width = max(map(len, catalogue))
        print(title)
        for name, line in catalogue.items():
            print(f"  {name:<{width}}  {line}")
        print()
    print("anywhere: your own, as package.module:Name")
    return 0


def _families() -> Iterator[tuple[str, Mapping[str, str]]]:
    yield "of a queue: policy.name", QUEUE
    yield "of a queue: policy.allocation of moldable jobs", ALLOCATION
    yield "of a queue: policy.order", {**_documented(ORDERS), **FORMULAS}
    yield "of a queue: policy.placement", PLACEMENT
    yield "of enrolment: policy.name (volatile13, section VI)", {**enrolment.CATALOGUE, **FIXED}
    yield "of a pack: policy.name (malleable17, section 5)", pack.CATALOGUE
    yield "of copies: policy.name (redundancy17)", REDUNDANCY


def _documented(objects: Mapping[str, object]) -> dict[str, str]:
    """Name -> first sentence of what the object says of itself, the name left out."""
    texts = {name: " ".join((inspect.getdoc(it) or "").split()) for name, it in objects.items()}
    return {name: text.partition(". ")[0].removeprefix(f"{name}: ") for name, text in texts.items()}
