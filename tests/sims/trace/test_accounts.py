"""Where any job's flowtime went: the account adds up to it exactly, and agrees with the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.events import JobCompleted, JobSubmitted
from actors.runtime import Record
from sims.history.rows import Use
from sims.ledger import account
from sims.log import LogFile
from sims.trace.account import Part
from sims.trace.read import find_life
from tests.sims.kinds import EVERY, records_of
from tests.sims.trace.test_story import life
from tests.sims.worlds import Table, play, write

ALIKE = {
    Part.USEFUL: Use.USEFUL,
    Part.LOST: Use.LOST,
    Part.VERIFICATION: Use.VERIFICATION,
    Part.CHECKPOINT: Use.CHECKPOINT,
    Part.RECOVERY: Use.RECOVERY,
    Part.REDUNDANT: Use.REDUNDANT,
}
"""What all members of a run do at once: a job's time of it is each of its workers' time."""


def flowtimes(records: Sequence[Record]) -> dict[str, Fraction]:
    """Completed job -> its time in the system."""
    began = {r.event.job: r.t for r in records if isinstance(r.event, JobSubmitted)}
    over = {r.event.job: r.t for r in records if isinstance(r.event, JobCompleted)}
    return {job: Fraction(end) - Fraction(began[job]) for job, end in over.items()}


@st.composite
def worlds(draw: st.DrawFn, copies: int) -> Table:
    """Up to four workers with owners and faults, and up to three jobs, protected in any way."""
    workers, integer = draw(st.integers(1, 4)), st.integers
    owner = st.text(alphabet="uuuuuurd", max_size=40)
    fault = st.tuples(integer(1, 60), integer(0, workers - 1))
    world: Table = {
        "workers": workers,
        "owner": draw(st.lists(owner, min_size=workers, max_size=workers)),
        "faults": sorted(draw(st.lists(fault, max_size=6))),
        "downtime": draw(integer(0, 3)),
        "jobs": draw(st.lists(jobs(workers, copies), min_size=1, max_size=3)),
    }
    if draw(st.booleans()):
        world["master"] = {"channels": draw(integer(1, 3))}
    return world


@st.composite
def jobs(draw: st.DrawFn, workers: int, copies: int) -> Table:
    """One job that so many workers can serve."""
    small, about = st.integers(0, 3), dict[str, Any]()
    for key in ("release", "verification", "cost", "recovery", "program", "data", "image"):
        about[key] = draw(small)
    about["p"] = draw(st.integers(1, workers if copies == 1 else (workers + 1) // 2))
    about["failures"] = draw(st.lists(st.integers(0, 1), max_size=4))
    about["protection"] = draw(st.sampled_from(("none", "buddies", "images")))
    if about["protection"] != "none":
        about |= {"period": draw(st.integers(1, 6)), "verified": draw(st.booleans())}
    if copies > 1:
        about |= {"copies": draw(st.integers(1, copies)), "cloning": draw(st.booleans())}
    if draw(st.booleans()):
        tasks = {"tasks": draw(st.integers(workers, 6)), "iterations": draw(st.integers(1, 3))}
        return about | tasks | {"kind": "iterative", "w": [2, 1, 3, 2][:workers]}
    return about | {"t": draw(st.integers(1, 12))}


def check_sums(records: Sequence[Record]) -> None:
    """The accounts of the first completed jobs."""
    for job, flowtime in list(flowtimes(records).items())[:12]:
        told = life(records, job).account
        assert told.total == flowtime
        assert min(told.spent.values()) >= 0
        assert told.spent[Part.UNSETTLED] == 0


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 3).flatmap(worlds))
def test_accounts_add_up_to_the_flowtime_exactly_and_without_copies_agree_with_the_ledger(
    world: Table,
) -> None:
    records = play(world)
    check_sums(records)
    if any("copies" in job for job in world["jobs"]):
        return
    ledger = account(records, world["workers"])
    lives = [life(records, "abc"[k]).account for k in range(len(world["jobs"]))]
    for part, use in ALIKE.items():
        told = zip(world["jobs"], lives, strict=True)
        assert sum(job["p"] * it.spent[part] for job, it in told) == ledger.total[use]
    for name, job, it in zip("abc", world["jobs"], lives, strict=False):
        if job["p"] == 1:
            held = {use.value: time for use, time in ledger.held(name).items() if time}
            spent = {part.value: time for part, time in it.spent.items() if time}
            assert held == {word: time for word, time in spent.items() if word != "pending"}


@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_jobs_account_adds_up(name: str) -> None:
    check_sums(records_of(name))


@pytest.mark.parametrize("name", EVERY)
def test_a_log_that_stops_early_leaves_computation_unsettled(name: str, tmp_path: Path) -> None:
    records = records_of(name)
    start, job = next((r.t, r.event.job) for r in records if isinstance(r.event, JobSubmitted))
    over = (r for r in records if isinstance(r.event, JobCompleted) and r.event.job == job)
    end = next(over).seq
    cut = find_life(LogFile(write(records[:end], tmp_path / "cut.jsonl")), job)
    assert cut.account.total == Fraction(records[end - 1].t) - Fraction(start)
    assert cut.root.end is None
