"""Neutral scenarios of the one world as scenario files, and logs as the cases tell runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

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


def _end_of(event: RunEnded) -> str:
    """How it ended, in the words of the cases."""
    return "withdrawn" if event.outcome is Outcome.CANCELLED else event.outcome.value


def toml(case: dict[str, Any]) -> str:
    """The neutral scenario as a user would write it."""
    lines = ['name = "case"', *_platform(case)]
    if case["faults"]:
        strikes = [list(strike) for strike in case["faults"]]
        lines += ["[faults]", 'kind = "list"', f"strikes = {strikes}"]
        lines += [f"downtime = {case['downtime']}", f"detection = {case.get('detection', 0)}"]
        lines += [f'of = "{case.get("faults_of", "workers")}"']
    if case["master"]:
        shared = json.dumps(case["shared_program"])
        lines += ["[master]", f"channels = {case['master']['channels']}"]
        lines += [f"shared_program = {shared}"]
    lines += ["[policy]", 'name = "R-LIST-0"', f'order = "{case["order"]}"']
    lines += [f'placement = "{case.get("placement", "lowest")}"', "[job]"]
    lines += ['kind = "rigid"']
    for index, job in enumerate(case["jobs"]):
        lines += _job(index, job)
    return "\n".join(lines) + "\n"


def _platform(case: dict[str, Any]) -> Iterator[str]:
    yield from (
        "[platform]",
        *(f"{key} = {case[key]}" for key in ("node", "spares") if key in case),
    )
    if case["owner"] is None and case["speeds"] is None:
        yield f"workers = {case['workers']}"
        return
    for k in range(case["workers"]):
        yield "[[workers]]"
        if case["owner"]:
            states, notice = case["owner"][k] or "u", case.get("notice", 0)
            yield f'availability = {{kind = "letters", states = "{states}", notice = {notice}}}'
        if case["speeds"]:
            yield f"speed = {case['speeds'][k]}"


def _job(index: int, job: dict[str, Any]) -> Iterator[str]:
    yield "[[job.jobs]]"
    yield from (f'name = "{index}"', f'kind = "{job["kind"]}"', f"release = {job['release']}")
    yield from (f"failures = {job['failures']}", f"verification = {job['verification']}")
    yield from (f"{key} = {job[key]}" for key in ("program", "data", "image"))
    yield from _size(job)
    period = "inf" if job["period"] is None else job["period"]
    yield from ("[job.jobs.protection]", f'kind = "{job["protection"] or "none"}"')
    yield from (f"period = {period}", f"verified = {json.dumps(job['verified'])}")
    yield from (f"{key} = {job[key]}" for key in ("cost", "recovery", "copies", "delay"))
    more = ("cloning", "on_notice", "blocking", "slowdown", "images_every", "image_cost")
    given = [key for key in (*more, "replace_after") if job.get(key) is not None]
    yield from (f"{key} = {json.dumps(job[key])}" for key in given)


def _size(job: dict[str, Any]) -> Iterator[str]:
    if job["kind"] == "rigid":
        yield from (f"processors = {job['p']}", f"time = {job['t']}")
    elif job["kind"] == "moldable":
        yield from (f"processors = {job['p']}", "[job.jobs.speedup]", 'kind = "table"')
        yield f"times = {job['times']}"
    else:
        yield from (f"processors = {job['p']}", f"tasks = {job['tasks']}")
        yield from (f"iterations = {job['iterations']}", f"task_times = {job['w']}")


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
