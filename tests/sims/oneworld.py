"""Neutral scenarios of the one world as scenario files, and logs as the cases tell runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from attrs import define, field

from actors.events import (
    CheckpointStored,
    CheckpointTaken,
    JobCompleted,
    Outcome,
    RunEnded,
    RunStarted,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
)
from actors.runtime import Event, Record
from sims import own_modules
from sims.scenario.loader import read
from sims.world import run

Table = dict[str, Any]

HERE = Path(__file__).parent
CASES = Path(__file__).parents[1] / "cases" / "oneworld.json"

HELD = TemporaryDirectory(prefix="failures-")
LOGS = Path(HELD.name)
"""Where logs of failures are written, for scenarios that replay them, until the tests end."""

ANY_JOB = (
    *("name", "release", "failures", "verification", "program", "data", "image"),
    *("startup", "select", "standbys", "think", "user", "group", "queue"),
)
REPLICAS = ("replicas", "least", "regroup", "rejoin")
PROTECTION = (
    *("verified", "cost", "recovery", "copies", "delay", "cloning", "on_notice", "blocking"),
    *("slowdown", "images_every", "image_cost", "replace_after", "bytes"),
)


@cache
def cases() -> list[Table]:
    """All of the one world, each with its neutral `scenario`."""
    loaded: list[Table] = json.loads(CASES.read_bytes())["cases"]
    return loaded


def records_of(
    scenario: Table, folder: Path = LOGS, until: float | None = None, messages: bool = False
) -> list[Record]:
    """The log of its run, up to a time, perhaps with messages; `scenario`: as a file in that folder
    says it."""
    records: list[Record] = []
    with patch.dict(os.environ, {own_modules.POLICIES: str(HERE)} if "agents" in scenario else {}):
        sinks, both = ([], records.append) if messages else ([records.append], None)
        run(read(scenario, "any", folder), sinks, until=until, messages=both)
    return records


def play(case: Table, until: float | None = None) -> list[Record]:
    """The log of a neutral scenario's run, up to a time."""
    return records_of(as_file(case), until=until)


PLATFORM = ("node", "rack", "spares", "reserve", "reserve_delay")
LAW = (
    *("strikes", "of", "effect", "downtime", "detection", "spread", "curable", "gaps"),
    *("start", "nodes", "kind", "mtbf", "shape", "age", "share", "interval", "share_added"),
)
POLICIES = {"greedy": "R-LIST-0", "FCFS": "FCFS", "EASY": "EASY"}
NEVER = 1e12
"""Mean time between faults of a law of which only the first are listed."""


def as_file(case: Table) -> Table:
    """The neutral scenario as a user would write it; what it leaves out is nothing, or never."""
    said: Table = {key: case[key] for key in ("unit", "seed") if key in case} | {"name": "case"}
    said["platform"] = {key: case[key] for key in PLATFORM if key in case}
    if case.get("owner") or case.get("speeds"):
        said["workers"] = [_worker(case, k) for k in range(case["workers"])]
    else:
        said["platform"]["workers"] = case["workers"]
    if any("record" in it for it in (*case.get("laws", ()), *case.get("drawn", ()))):
        said["unit"] = "s"  # as logs of failures have it
    laws = [_law(it, "repair" in case) for it in _laws(case)]
    if laws:
        said["faults"] = laws if len(laws) > 1 else laws[0]
    if "repair" in case:
        said["repair"] = _repair(case["repair"])
    if "storage" in case:
        said["storage"] = case["storage"]
    said["platform"] |= _cells(case)
    if case.get("master"):
        shared = case.get("shared_program", False)
        said["master"] = {"channels": case["master"]["channels"], "shared_program": shared}
    placement, jobs = case.get("placement", "lowest"), enumerate(case["jobs"])
    said["policy"] = {"name": POLICIES[case.get("policy", "greedy")]}
    said["policy"]["order"] = case.get("order", "FCFS")
    said["policy"]["placement"] = placement
    said["policy"]["limits"] = case.get("limits", [])
    return said | {"job": {"kind": "rigid", "jobs": [_job(index, job) for index, job in jobs]}}


def _cells(case: Table) -> Table:
    """Its windows of maintenance and its partitions."""
    said: Table = {}
    if case.get("windows"):
        said["maintenance"] = [
            {"from": since, "to": to, "units": ", ".join(map(str, who))}
            for since, to, who in case["windows"]
        ]
    if case.get("partitions"):
        said["partitions"] = [
            {key: it[key] for key in ("name", "tier", "exclusive") if key in it}
            | {"units": ", ".join(map(str, it["workers"]))}
            for it in case["partitions"]
        ]
    return said


def _laws(case: Table) -> Iterator[Table]:
    """Its laws of faults and of hangs, in order."""
    if case.get("faults"):
        yield {
            "strikes": case["faults"],
            "downtime": case.get("downtime", 0),
            "detection": case.get("detection", 0),
            "of": case.get("faults_of", "workers"),
            "spread": case.get("spread", []),
        }
    if case.get("hangs"):
        detection = case.get("hang_detection", 0)
        yield {"strikes": case["hangs"], "effect": "hang", "detection": detection}
    yield from case.get("laws", ())
    yield from case.get("drawn", ())


def _law(law: Table, repaired: bool) -> Table:
    said = {"kind": "list"} | {key: law[key] for key in LAW if key in law}
    if "record" in law:
        said |= {"kind": "replayed", "file": _log_of(law["record"]).name, "platform": 1}
    if "gaps" in law:
        said |= {"kind": "exponential", "mtbf": NEVER, "clock": "computing"}
    if "units" in law:
        said["units"] = ", ".join(map(str, law["units"]))
    if "added" in law:
        said["added"] = [", ".join(map(str, it)) for it in law["added"]]
    if repaired or law.get("effect") == "hang":
        said.pop("downtime", None)
    return said


def _log_of(record: list[list[list[int]]]) -> Path:
    """A log of failures, of these of each node; who has none is available all the time."""
    lines = [
        f"{start} 1 {node} 1 n{node} {int(not fails)} {1000 + start} {1000 + end} NULL"
        for node, failures in enumerate(record)
        for fails, spans in ((True, failures), (False, [] if failures else [[0, 1]]))
        for start, end in spans
    ]
    text = "".join(f"{line}\n" for line in lines)
    path = LOGS / f"{sha256(text.encode()).hexdigest()}.tab"
    path.write_text(text)
    return path


def _repair(repair: Table) -> Table:
    stages = [
        {key: value for key, value in it.items() if value is not None} | {"law": "fixed"}
        for it in repair["stages"]
    ]
    said = {key: value for key, value in repair.items() if key not in ("stages", "retire")}
    match repair.get("retire"):
        case [faults, window]:
            said["retirement"] = {"kind": "faults-within", "faults": faults, "window": window}
        case {**score}:
            said["retirement"] = {"kind": "score"} | score
    return said | {"stages": stages}


def _worker(case: Table, k: int) -> Table:
    said: Table = {}
    if case.get("owner"):
        states, notice = case["owner"][k] or "u", case.get("notice", 0)
        said["availability"] = {"kind": "letters", "states": states, "notice": notice}
    if case.get("speeds"):
        said["speed"] = {"kind": "list", "changes": [list(it) for it in case["speeds"][k]]}
    return said


def _job(index: int, job: Table) -> Table:
    kind, period = job.get("kind", "rigid"), job.get("period")
    said = {"name": f"{index}"} | {key: job[key] for key in ANY_JOB if key in job}
    if "after" in job:
        said["after"] = [f"{before}" for before in job["after"]]
    protection = {key: job[key] for key in PROTECTION if job.get(key) is not None}
    if "bytes" in job:  # beside which times are refused, even 0
        for key in ("cost", "recovery", "delay", "image_cost"):
            if not protection.get(key):
                protection.pop(key, None)
        said.pop("image")
    protection["kind"] = job.get("protection") or "none"
    protection["period"] = inf if period is None else period
    said |= {"kind": kind, "processors": job["p"], "protection": protection}
    if kind == "rigid":
        replicas = {key: job[key] for key in REPLICAS if key in job}
        return said | {"time": job["t"]} | replicas
    if kind == "moldable":
        return said | {"speedup": {"kind": "table", "times": job["times"]}}
    return said | {
        "tasks": job["tasks"],
        "iterations": job["iterations"],
        "task_times": job["w"],
    }


def _end_of(event: RunEnded) -> str:
    """How it ended, in the words of the cases."""
    return "withdrawn" if event.outcome is Outcome.CANCELLED else event.outcome.value


@define
class Told:
    """What a log says, as the cases say it."""

    runs: dict[tuple[int, int], list[Any]] = field(factory=dict)
    completions: dict[int, float] = field(factory=dict)
    checkpoints: list[list[Any]] = field(factory=list)
    images: list[list[Any]] = field(factory=list)
    """Of checkpoints that buddies keep too."""
    work: dict[int, float] = field(factory=dict)
    """By job: what its completed runs had to do."""
    transfers: list[list[Any]] = field(factory=list)
    _open: dict[int, list[Any]] = field(factory=dict)
    """By worker: the message that is under way, or suspended."""

    @classmethod
    def of(cls, records: Sequence[Record]) -> Told:
        """All of them."""
        told = cls()
        for record in records:
            told._hear(record)
        for transfer in told.transfers:
            transfer[5] = _joined(transfer[5])
        return told

    def _hear(self, record: Record) -> None:
        event, now = record.event, record.t
        match event:
            case RunStarted():
                job, text = int(event.job), members(event.processors)
                self.runs[job, event.run] = [job, event.run, text, now, None, None, event.begun]
            case RunEnded():
                job = int(event.job)
                self.runs[job, event.run][4:6] = now, _end_of(event)
                if event.outcome is Outcome.COMPLETED:
                    self.work[job] = self.work.get(job, 0) + event.done
            case JobCompleted():
                self.completions[int(event.job)] = now
            case CheckpointTaken():
                self.checkpoints.append([int(event.job), event.run, now, event.done])
            case CheckpointStored():
                self.images.append([int(event.job), event.run, now, event.done])
            case _:
                self._hear_of_message(event, now)

    def _hear_of_message(self, event: Event, now: float) -> None:
        match event:
            case TransferStarted() if event.worker in self._open:
                self._open[event.worker][5].append([now, None])
            case TransferStarted():
                about = [event.worker, event.kind.value, int(event.job), event.run]
                self._open[event.worker] = [now, *about, [[now, None]], None]
            case TransferSuspended():
                self._open[event.worker][5][-1][1] = now
            case TransferEnded():
                self._close(event.worker, now, "done")
            case TransferDropped():
                self._close(event.worker, now, "dropped")

    def _close(self, worker: int, now: float, outcome: str) -> None:
        transfer = self._open.pop(worker)
        spans = transfer[5]
        spans[-1][1] = now if spans[-1][1] is None else spans[-1][1]
        transfer[6] = outcome
        self.transfers.append(transfer)


def _joined(spans: list[list[float]]) -> list[list[float]]:
    """Those of some length; what goes on at once is one."""
    joined: list[list[float]] = []
    for start, end in spans:
        if start == end:
            continue
        if joined and joined[-1][1] == start:
            joined[-1][1] = end
        else:
            joined.append([start, end])
    return joined


def members(text: str) -> list[int]:
    """Worker numbers of an interval set."""
    numbers: list[int] = []
    for part in text.split():
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers
