"""Repeats a run from its log alone: the log's first line has the whole scenario, and the names and
checksums of the files that the run read."""

from __future__ import annotations

import re
import tomllib
from itertools import islice, zip_longest
from pathlib import Path

from attrs import frozen

from actors.events import JobSubmitted, ProcessesDescribed, ScenarioEnded, ScenarioStarted
from actors.runtime.deliveries import ActorStarted
from sims.errors import InputError
from sims.log import LogFile
from sims.scenario import Scenario
from sims.scenario.inputs import Input
from sims.scenario.loader import objects_in, read

ENDS = re.compile(rb'"event":"%b"' % ScenarioEnded.__name__.encode())
"""Pattern of the last line of a log that was not interrupted."""
STARTS = re.compile(rb'"event":"%b"' % ActorStarted.__name__.encode())
SUBMITS = re.compile(rb'"event":"%b"' % JobSubmitted.__name__.encode())


@frozen
class Repeat:
    """A run that a log tells of, as it can be run again."""

    scenario: Scenario
    folder: Path
    """Folder of the files that the scenario names."""
    started: ScenarioStarted


def repeat_of(log: Path) -> Repeat:
    """Return the run of a log. The files that it read are looked for in the current folder, then in
    that of the log.

    Raises InputError where the file is no log, a file that the run read is missing or has changed,
    or the run cannot be repeated: a program gave objects for it, or real processes carried it out.
    """
    head = [record.event for record in islice(LogFile(log), 2)]
    started = head[0]
    assert isinstance(started, ScenarioStarted)
    if started.late is not None or any(isinstance(it, ProcessesDescribed) for it in head):
        problem = "real processes carried the run out, which take what they take"
        raise InputError(str(log), "late", problem, "a log of `holdfast run`")
    table = tomllib.loads(started.text)
    if objects_in(table):
        problem = "a Python program gave objects for the run that no file can name"
        raise InputError(str(log), "text", problem, "the program, run again")
    folder = _folder_of(log, started)
    scenario = read(table, str(log), folder)
    return Repeat(scenario, folder, started)


def has_messages(log: Path) -> bool:
    """Return whether a log has the messages between actors: the first actors join before the first
    job is submitted."""
    for line in LogFile(log).lines():
        if STARTS.search(line) or SUBMITS.search(line):
            return bool(STARTS.search(line))
    return False


def _folder_of(log: Path, started: ScenarioStarted) -> Path:
    """Return the first folder that has all inputs of the run as the run read them. Raises
    InputError, naming the first input that is missing or has changed, where none has."""
    inputs = [Input(*it) for it in started.inputs]
    folders = list(dict.fromkeys((Path(), log.parent)))
    for folder in folders:
        if all(it.problem(folder) is None for it in inputs):
            return folder
    wrong = [(it, [it.problem(folder) for folder in folders]) for it in inputs]
    first, problems = next(pair for pair in wrong if all(pair[1]))
    told = sorted({str(it) for it in problems}, key="is missing".__eq__)[0]
    problem = f"{first.name!r} {told}; the log was made by Holdfast {started.version}"
    where = " or ".join(str(it) for it in folders)
    accepted = f"a file of {first.size:,} bytes with the SHA-256 checksum {first.checksum}"
    raise InputError(str(log), "inputs", problem, f"{accepted}, in {where}")


def first_difference(log: Path, other: Path) -> int | None:
    """Return the number of the first line, from 1, in which two logs differ, or None if they are
    the same. A `log` that stops early is compared as far as it goes."""
    pairs = zip_longest(LogFile(log).lines(), LogFile(other).lines(), fillvalue=b"")
    before = b""
    for number, (line, theirs) in enumerate(pairs, start=1):
        if line != theirs:
            stops = not line.endswith(b"\n") and theirs.startswith(line) and not ENDS.search(before)
            return None if stops else number
        before = line
    return None
