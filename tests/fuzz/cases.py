"""Cases of the fuzzer: words of a command, and the files that they name, some of them spoilt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from attrs import frozen

from sims.cli.commands import COMMANDS
from sims.examples import FOLDER, cell_file, cells
from tests.fuzz import strangers
from tests.fuzz.mutate import LISTS, VALUES, spoilt
from tests.sims.cli.commands import FEW, TINY

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
GOLDEN = ROOT / "tests" / "golden"
STRANGERS = 10**6
"""Cases from this number on are those of `strangers`."""


@frozen
class Case:
    """What is asked, in a folder with these files."""

    words: tuple[str, ...]
    files: Mapping[str, bytes]


def case(seed: int) -> Case:
    """The case of this number."""
    rng = Random(seed)
    if seed < STRANGERS:
        return rng.choices(tuple(KINDS), tuple(KINDS.values()))[0](rng)
    kinds = strangers.KINDS
    return Case(*rng.choices(tuple(kinds), tuple(kinds.values()))[0](rng))


# --- scenarios ------------------------------------------------------------------------------------


def _scenario_text(rng: Random) -> str:
    some = list(cells())
    match rng.randrange(8):
        case 0:
            return rng.choice((TINY, FEW))
        case 1 | 2 | 3:
            return cell_file(rng.choice(some), rng.randrange(20))
        case often:
            name = rng.choice(LISTS["fast" if often < 7 else "more"])
            return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def _swf() -> bytes:
    return (FOLDER / "batch-small.swf").read_bytes()


def _scenario(rng: Random) -> Case:
    files = {"it.toml": spoilt(_scenario_text(rng), rng), "batch-small.swf": _swf()}
    match rng.randrange(6):
        case 0 | 1:
            return Case(("run", "it.toml", "--log", "none"), files)
        case 2 | 3:
            return Case(("run", "it.toml", "--log", "it.jsonl"), files)
        case 4:
            return Case(("check", "it.toml"), files)
        case _:
            words = ("--seed", rng.choice(VALUES), "--until", rng.choice(VALUES))
            return Case(("run", "it.toml", "--log", "it.jsonl", *words), files)


def _override(rng: Random) -> Case:
    files = {"it.toml": _scenario_text(rng).encode(), "batch-small.swf": _swf()}
    words: list[str] = []
    for _ in range(rng.choice((1, 1, 2))):
        words += ["--set", f"{rng.choice(LISTS['keys'])}={rng.choice(VALUES)}"]
    command = ("check",) if rng.random() < 0.3 else ("run", "--log", "none")
    return Case((*command, "it.toml", *words), files)


# --- workloads and traces -------------------------------------------------------------------------

WORKLOAD = """
name = "load"
[platform]
workers = 8
[job]
kind = "rigid"
{fields}
[policy]
name = "R-LIST-1"
"""

TRACED = """
name = "traced"
[[workers]]
task_time = 2
availability = {availability}
[[workers]]
task_time = 3
[job]
kind = "iterative"
tasks = 2
iterations = 2
[policy]
name = "IE"
"""

SPOT = '{"metadata": {"gap_seconds": 60}, "data": [1, 1, 2, 0, 0, 1]}'
INTERVALS = "worker,start,end,state\nA,0,10,UP\nA,10,14,DOWN\nB,0,30,UP\nB,30,34,RECLAIMED\n"

AVAILABILITY = {
    "spot.json": '{{ kind = "spot", file = "{file}", slot = 60, '
    'states = {{ 1 = "u", 2 = "u", 0 = "d" }} }}',
    "event_trace.tab": '{{ kind = "fta", file = "{file}", platform = 1, node = 1, slot = 60 }}',
    "state.profile": '{{ kind = "simgrid", file = "{file}", slot = 60 }}',
    "states.csv": '{{ kind = "csv", file = "{file}", worker = "A", slot = 1 }}',
}
TEXTS = {"states.csv": INTERVALS, "spot.json": SPOT}


def _workload(rng: Random) -> Case:
    if rng.random() < 0.6:
        lines = (DATA / "small.swf").read_text(encoding="utf-8")
        name, fields = "load.swf", 'swf = { file = "load.swf" }'
        if rng.random() < 0.5:
            lines = "\n".join(_swf().decode().splitlines()[:40]) + "\n"
    else:
        lines = (DATA / "batsim.json").read_text(encoding="utf-8")
        name, fields = "load.json", 'batsim = { file = "load.json" }'
    files = {"it.toml": WORKLOAD.format(fields=fields).encode(), name: spoilt(lines, rng)}
    return Case((rng.choice(("run", "check")), "it.toml"), files)


def _trace(rng: Random) -> Case:
    name = rng.choice(tuple(AVAILABILITY))
    text = TEXTS.get(name) or (DATA / name).read_text(encoding="utf-8")
    toml = TRACED.format(availability=AVAILABILITY[name].format(file=name))
    files = {"it.toml": toml.encode(), name: spoilt(text, rng)}
    return Case((rng.choice(("run", "check")), "it.toml"), files)


# --- logs -----------------------------------------------------------------------------------------


def _log_text(rng: Random) -> str:
    file = rng.choice(sorted(GOLDEN.glob("*.jsonl")))
    lines = file.read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[: rng.randrange(5, 150)] if rng.random() < 0.7 else lines[:400]) + "\n"


def _log(rng: Random) -> Case:
    command, *options = rng.choice(LISTS["questions"]).split()
    if rng.random() < 0.02:
        command, options = "plot", ["-o", "out.png", "--what", rng.choice(("gantt", "ledger"))]
    files = {"it.jsonl": spoilt(_log_text(rng), rng)}
    return Case((command, "it.jsonl", *options), files)


# --- campaigns and command lines ------------------------------------------------------------------


def _campaign(rng: Random) -> Case:
    campaigns = FOLDER.parent / "campaigns"
    text = (campaigns / "enrolment.toml").read_text(encoding="utf-8")
    base = (campaigns / "enrolment-base.toml").read_bytes()
    files = {"it.toml": spoilt(text, rng), "enrolment-base.toml": base}
    return Case(("campaign", "status", "it.toml"), files)


def _line(rng: Random) -> Case:
    command = rng.choice(tuple(COMMANDS))
    words: list[str] = []
    for _ in range(rng.randrange(5)):
        pick = rng.random()
        some = "options" if pick < 0.45 else "named" if pick < 0.8 else "values"
        words.append(rng.choice(LISTS[some]))
    if command in SLOW:
        words += SLOW[command]
    files = {"it.toml": TINY.encode(), "it.jsonl": _log_text(rng).encode()}
    return Case((command, *words), files)


SLOW = {
    "chaos": ("--most", "3"),
    "compare": ("--runs", "2"),
    "optimum": ("--slots", "8", "--time-limit", "1"),
    "check-policy": ("--views", "3"),
}

KINDS: Mapping[Callable[[Random], Case], int] = {
    _scenario: 42,
    _override: 20,
    _workload: 10,
    _trace: 8,
    _log: 12,
    _campaign: 1,
    _line: 7,
}
"""How often each is drawn."""
