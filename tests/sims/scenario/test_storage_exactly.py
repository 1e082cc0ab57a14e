"""Jobs that save to shared storage, beside a simulation of their own in exact arithmetic, which
knows nothing of runs, actors or events (rules.md, S1, P7, P8)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from attrs import define, field
from numpy.random import Generator, default_rng

from actors.events import CheckpointTaken, JobCompleted
from sims.audit.audit import audit
from sims.session import run

HALF = Fraction(1, 2)


@define
class Simple:
    """A job that starts at its release, on workers that nobody else wants."""

    members: int
    release: Fraction
    left: Fraction
    """Work that is left."""
    period: Fraction
    size: Fraction
    blocking: bool
    slowed: Fraction
    """Rate of work while a checkpoint passes beside it."""
    away: tuple[Fraction, Fraction]
    """When the owner has one of the workers."""
    since: Fraction = Fraction(0)
    """Work since the last checkpoint began."""
    bytes: Fraction | None = None
    """Bytes that are left of the checkpoint under way."""
    overdue: bool = False
    saves: list[Fraction] = field(factory=list)
    end: Fraction | None = None

    def up(self, now: Fraction) -> bool:
        return now >= self.release and self.end is None and not self.away[0] <= now < self.away[1]

    def rate(self, now: Fraction) -> Fraction:
        if not self.up(now):
            return Fraction(0)
        if self.bytes is None:
            return Fraction(1)
        return Fraction(0) if self.blocking else self.slowed

    def turns(self, now: Fraction, share: Fraction) -> Iterator[Fraction]:
        """Yield after which times something happens to the job if nothing else does before."""
        yield from (it - now for it in (self.release, *self.away) if it > now)
        if rate := self.rate(now):
            yield self.left / rate
            if not self.overdue:
                yield (self.period - self.since) / rate
        if share and self.bytes is not None:
            yield self.bytes / share

    def advance(self, now: Fraction, step: Fraction, share: Fraction) -> None:
        done = self.rate(now) * step
        self.left, self.since = self.left - done, self.since + done
        if self.bytes is not None:
            self.bytes -= share * step

    def settle(self, now: Fraction) -> None:
        """Let end what ends now, and begin what is due."""
        if self.end is not None:
            return
        if self.bytes == 0:
            self.bytes = None
            self.saves.append(now)
        if not self.left:
            self.end = now
        elif self.since >= self.period or self.overdue:
            self.overdue = self.bytes is not None
            if not self.overdue:
                self.bytes, self.since = self.size, Fraction(0)


def shares(
    jobs: list[Simple], now: Fraction, bandwidth: Fraction, each: Fraction
) -> list[Fraction]:
    """Give each job that saves an equal part again and again, until its cap or nothing is left."""
    found = [Fraction(0)] * len(jobs)
    hungry = [k for k, job in enumerate(jobs) if job.bytes is not None and job.up(now)]
    while hungry and bandwidth:
        gaps = [each * jobs[k].members - found[k] for k in hungry]
        more = min(*gaps, bandwidth / len(hungry))
        for k in hungry:
            found[k] += more
        bandwidth -= more * len(hungry)
        hungry = [k for k in hungry if found[k] < each * jobs[k].members]
    return found


def play(jobs: list[Simple], bandwidth: Fraction, each: Fraction) -> None:
    now = Fraction(0)
    while any(job.end is None for job in jobs):
        given = shares(jobs, now, bandwidth, each)
        turns = (it for k, job in enumerate(jobs) for it in job.turns(now, given[k]))
        step = min(turns)
        for job, share in zip(jobs, given, strict=True):
            job.advance(now, step, share)
        now += step
        for job in jobs:
            job.settle(now)


def drawn(rng: Generator) -> Simple:
    begin = Fraction(int(rng.integers(1, 20)), 2)
    return Simple(
        members=int(rng.integers(1, 4)),
        release=HALF * int(rng.integers(0, 9)),
        left=HALF * int(rng.integers(10, 40)),
        period=HALF * int(rng.integers(4, 12)),
        size=Fraction(int(rng.integers(1, 30))),
        blocking=bool(rng.integers(2)),
        slowed=Fraction(1, int(rng.integers(1, 3))),
        away=(begin, begin + HALF * int(rng.integers(0, 8))),
    )


def table_of(jobs: list[Simple], bandwidth: Fraction, each: Fraction) -> dict[str, Any]:
    listed = list[dict[str, Any]]()
    for k, job in enumerate(jobs):
        beside = {"blocking": job.blocking, "slowdown": 0 if job.blocking else 1 - job.slowed}
        protection = {"kind": "images", "period": job.period, "bytes": job.size, **beside}
        own = {"processors": job.members, "time": job.left, "release": job.release}
        listed.append({"name": f"J{k}", **own, "protection": protection})
    return {
        "name": "exactly",
        "unit": "s",
        "policy": {"order": "FCFS"},
        "platform": {"workers": sum(job.members for job in jobs)},
        "storage": {"bandwidth": bandwidth, "worker_bandwidth": each},
        "job": {"kind": "rigid", "jobs": listed},
    }


def floats(value: Any) -> Any:
    """Return the table with numbers as a file has them."""
    if isinstance(value, dict):
        return {key: floats(it) for key, it in value.items()}
    if isinstance(value, list):
        return [floats(it) for it in value]
    return float(value) if isinstance(value, Fraction) else value


@pytest.mark.parametrize("seed", range(60))
def test_jobs_that_save_to_one_storage_end_when_exact_arithmetic_says(seed: int) -> None:
    """Jobs take the lowest workers in the order of their releases, so that an owner's worker is the
    first of its job. All are released by 4, before any has done its 5 or more of work."""
    rng = default_rng([seed, 34])
    jobs = [drawn(rng) for _ in range(int(rng.integers(1, 6)))]
    bandwidth, each = Fraction(int(rng.integers(2, 12))), Fraction(int(rng.integers(1, 5)), 2)
    table = table_of(jobs, bandwidth, each)
    first, reclaims = 0, list[list[Any]]()
    for job in sorted(jobs, key=lambda job: job.release):
        if job.away[0] < job.away[1] and job.away[0] > max(it.release for it in jobs):
            reclaims.append([*job.away, first])
        else:
            job.away = Fraction(0), Fraction(0)
        first += job.members
    play(jobs, bandwidth, each)
    records = list(run(floats(table | ({"reclaims": reclaims} if reclaims else {}))).records())
    assert [str(it) for it in audit(iter(records))] == []
    ends = {it.event.job: it.t for it in records if isinstance(it.event, JobCompleted)}
    assert ends == pytest.approx({f"J{k}": float(job.end or 0) for k, job in enumerate(jobs)})
    for k, job in enumerate(jobs):
        taken = [it for it in records if isinstance(it.event, CheckpointTaken)]
        times = [it.t for it in taken if it.event.job == f"J{k}"]
        assert times == pytest.approx([float(it) for it in job.saves])
