"""Why jobs waited, as traces tell it, against figures counted from the SWF and the starts alone."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from sims.cli import main
from tests.sims.kinds import SCENARIOS

DRAWN, GIVEN = "drawn", "given"
RANKS = (0, 10, 100)
"""Whose waits are looked at: 0 waited longest."""


@frozen
class Counted:
    """What the SWF and the log's starts say, and nothing else: no trace, no reader of ours."""

    log: str
    total: int
    names: list[str]
    submit: np.ndarray
    width: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, swf: str, total: int, log: Path) -> Counted:
        """Only jobs that started count."""
        started = [json.loads(line) for line in log.open() if '"event":"RunStarted"' in line]
        starts = {it["job"]: it["t"] for it in started}
        rows = [line.split() for line in swf.splitlines() if line[:1] not in (";", "")]
        rows = sorted((it for it in rows if f"J{it[0]}" in starts), key=lambda it: float(it[1]))
        names = [f"J{it[0]}" for it in rows]
        submit, run, wide, asked = (np.array([float(it[k]) for it in rows]) for k in (1, 3, 4, 7))
        submit -= submit[0]  # the first of them is at time 0
        start = np.array([starts[name] for name in names])
        width = np.where(wide > 0, wide, asked)
        return cls(str(log), total, names, submit, width, start, start + run)

    def waiters(self) -> list[int]:
        """The longest waits, of some ranks."""
        order = np.argsort(-(self.start - self.submit), kind="stable")
        return [int(order[rank]) for rank in RANKS]

    def free(self, t: float, decided: bool = False) -> int:
        """At `t`, before or after what was decided then."""
        begun = self.start <= t if decided else self.start < t
        return int(self.total - self.width[begun & (self.end > t)].sum())


def draw(path: Path, jobs: int = 400, processors: int = 128) -> Path:
    """Jobs that ask for 1 to 4 times what they take, at 95 % of the platform's capacity."""
    rng = np.random.default_rng(12)
    widths = 2 ** rng.integers(0, 7, jobs)
    times = np.ceil(np.exp(rng.uniform(4, 10, jobs)))
    asked = np.ceil(times * rng.uniform(1, 4, jobs))
    mean = (widths * times).mean() / (0.95 * processors)
    submits = np.floor(rng.exponential(mean, jobs).cumsum())
    write(path, processors, np.column_stack([submits, times, widths, asked]))
    return path


def write(path: Path, processors: int, rows: np.ndarray) -> None:
    """The SWF of jobs: submission, time, processors, time that they ask for."""
    lines = [f"; MaxProcs: {processors}"]
    for k, (at, time, width, asked) in enumerate(rows, start=1):
        lines.append(
            f"{k} {at:.0f} -1 {time:.0f} {width:.0f} -1 -1 {width:.0f} {asked:.0f} -1 1" + " -1" * 7
        )
    path.write_text("\n".join(lines))


@pytest.fixture(scope="module", params=[DRAWN, GIVEN])
def it(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Counted:
    """A log under EASY."""
    folder = tmp_path_factory.mktemp("waits")
    swf = request.config.getoption("--swf") if request.param == GIVEN else draw(folder / "a.swf")
    if swf is None:
        pytest.skip("needs a real log: --swf FILE")
    opened = lzma.open if swf.suffix == ".xz" else open
    with opened(swf, "rt") as file:
        text = file.read()
    processors = int(re.search(r"MaxProcs: *(\d+)", text)[1])  # type: ignore[index]
    return Counted.of(text, processors, simulated(swf.absolute(), processors, folder))


def simulated(swf: Path, processors: int, folder: Path) -> Path:
    """The log of the jobs under EASY."""
    log = folder / "run.jsonl"
    sets = ("--set", f"job.swf.file={swf}", "--set", f"platform.workers={processors}")
    assert main(["run", str(SCENARIOS / "batch-easy.toml"), "--log", str(log), *sets]) == 0
    return log


def told(capsys: pytest.CaptureFixture[str], *words: str, text: bool = False) -> Any:
    capsys.readouterr()
    assert main([*words, *([] if text else ["--json"])]) == 0
    out = capsys.readouterr().out
    return out if text else json.loads(out)


def columns(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_a_trace_of_who_waited_long_shows_what_submissions_and_starts_say(
    it: Counted, capsys: pytest.CaptureFixture[str]
) -> None:
    for k in it.waiters():
        (wait,) = told(capsys, "trace", it.log, it.names[k])["waits"]
        since, until, mine = it.submit[k], it.start[k], it.width[k]
        assert (wait["since"], wait["until"]) == (since, until)
        places = np.arange(len(it.names))
        ahead = (places < k) & (it.start >= since)
        assert wait["ahead"] == {"jobs": ahead.sum(), "processors": it.width[ahead].sum()}
        assert wait["free"] == it.free(since)
        held = np.flatnonzero((it.start < since) & (it.end > since))
        found = columns(wait["held"], "job", "processors", "since", "until")
        assert set(found) == {(it.names[j], it.width[j], it.start[j], it.end[j]) for j in held}
        widths = [row["processors"] for row in wait["held"]]
        assert widths == sorted(widths, reverse=True)
        passed = np.flatnonzero((places > k) & (it.submit <= until) & (it.start < until))
        found = columns(wait["passed"], "job", "processors", "start")
        assert set(found) == {(it.names[j], it.width[j], it.start[j]) for j in passed}
        assert {row["rule"] for row in wait["passed"]} <= {"by backfilling"}
        freed = np.flatnonzero((it.end == until) & (it.start < until))
        assert {row["job"] for row in wait["freed"]} == {it.names[j] for j in freed}
        check_possible(it, wait, int(mine))
        check_words(it, wait, k, told(capsys, "trace", it.log, it.names[k], text=True))


def check_words(it: Counted, wait: dict[str, Any], k: int, words: str) -> None:
    """They have the same figures."""
    jobs, processors = wait["ahead"]["jobs"], f"{wait['ahead']['processors']:,} processors"
    assert f"{jobs:,} job" in words
    assert f"for {processors} are ahead; {wait['free']:,} of {it.total:,} proc" in words
    if wait["passed"]:
        count = len(wait["passed"])
        assert re.search(rf"{count:,} jobs? that came later started first by backfill", words)
    assert f"it takes {it.width[k]:,.0f}" in words
    assert not re.search(r"\de\+\d", words)


def check_possible(it: Counted, wait: dict[str, Any], mine: int) -> None:
    """Since when as many were free as it got, and when they had been before."""
    since, until = wait["since"], wait["until"]
    times = np.unique(np.concatenate([it.submit, it.start, it.end]))
    times = times[(times >= since) & (times < until)]
    assert it.free(until) >= mine
    possible = until
    for t in times[::-1]:
        if it.free(t, decided=True) < mine:
            break
        if it.free(t) >= mine:
            possible = t
    assert wait["possible"] == possible
    assert wait["missed"] == [t for t in times if t < possible and it.free(t) >= mine]


def test_the_queue_at_an_instant_is_who_was_submitted_and_had_not_started(
    it: Counted, capsys: pytest.CaptureFixture[str]
) -> None:
    for k in it.waiters():
        for t in (it.submit[k], (it.submit[k] + it.start[k]) / 2, it.start[k]):
            found = told(capsys, "queue", it.log, "--at", str(t))
            waiting = np.flatnonzero((it.submit <= t) & (it.start > t))
            rows = columns(found["waiting"], "job", "processors", "since", "starts")
            assert rows == [(it.names[j], it.width[j], it.submit[j], it.start[j]) for j in waiting]
            running = np.flatnonzero((it.start <= t) & (it.end > t))
            rows = columns(found["running"], "job", "since", "until")
            assert set(rows) == {(it.names[j], it.start[j], it.end[j]) for j in running}
            assert found["free"] == it.free(t, decided=True)


def test_a_trace_names_whose_reservation_held_what_was_free(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """J3 would last beyond J2's start, which is promised: two of four stay free from 0 to 10,
    when J2 takes all."""
    swf = tmp_path / "a.swf"
    write(swf, 4, np.array([(0, 10, 2, 10), (0, 5, 4, 5), (0, 20, 2, 20)]))
    log = str(simulated(swf, 4, tmp_path))
    (wait,) = told(capsys, "trace", log, "J3")["waits"]
    assert (wait["missed"], wait["reserved"]) == ([0, 10], {"J2": 1})
    why = "at 1 of them a reservation of J2 held them; at 1 of them J2 (4) had them"
    words = told(capsys, "trace", log, "J3", text=True)
    assert f"free at 2 earlier instants too, first at 0 s: {why}" in words
