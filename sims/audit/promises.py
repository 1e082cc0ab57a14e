"""Derives which reservations a queue's log must hold, and the earliest and latest start of each, by
the published rule of its policy (rigid21, section 4; Mu'alem and Feitelson 2001).

The attempts under way are believed to end at times that the log implies. A reservation for a job of
known size is the earliest place in the profile of free workers. The log need not say which other
jobs are ahead of that job, so the place lies between two bounds: the place beside the attempts
under way alone, and the place beside them and all other jobs that start now or are promised a
start. The number of reservations follows from the policy's m and the number of waiting jobs.
Reservations of a user's own policy are an input.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import islice
from math import inf

from attrs import Factory, define, frozen

from actors.events import ReservationMade
from policies.interface.kinds import JobKind
from sims.audit.facts import Copy, Job
from sims.audit.law import ROUNDING, allowed, comes, same
from sims.audit.workers import UP
from sims.audit.world import World

LIST = re.compile(r"R-LIST-(Q|\d+)")
Changes = list[tuple[float, int]]
"""Pairs of a time and the number of workers that become free then (negative: that are taken)."""
Made = Mapping[str, ReservationMade]
"""Maps waiting jobs to their reservations."""


@frozen
class Rule:
    """The rule by which a published policy makes reservations: how many at most, and when anew."""

    most: float
    """Largest number of reservations, m; inf for one per job."""
    reading: str
    """Reading of the rule: fresh, easy, kept, or conservative."""

    @property
    def remade(self) -> bool:
        """Whether all reservations are made again at each decision, for the first jobs of the
        queue."""
        return self.reading in ("fresh", "easy")


def rule_of(policy: str, reading: str) -> Rule:
    """Return the rule of the published policy of that name."""
    if policy == "EASY":
        return Rule(1, "easy")
    if policy == "conservative":
        return Rule(inf, policy)
    found = LIST.fullmatch(policy)
    if found is None:
        return Rule(0, "easy")
    most = inf if found[1] == "Q" else int(found[1])
    # Those of a whole queue that are made again at each decision are not logged.
    return Rule(0 if most == inf and reading != "kept" else most, reading)


def earliest(now: float, free: int, changes: Changes, size: int, held: float) -> float:
    """Return the earliest time, `now` or later, from which `size` workers stay free for the
    duration `held`; inf if there is none.

    `free` workers are free now, and `changes` says how many become free or are taken when.
    """
    found = now if free >= size else inf
    for time, more in sorted((max(time, now), more) for time, more in changes):
        if time >= found + held and time > found:
            return found
        free += more
        if free < size:
            found = inf
        elif found == inf:
            found = time
    return found


@define(eq=False)
class Promises:
    """Checks the reservations in force after a decision against the policy's rule."""

    w: World
    rule: Rule
    settings: Mapping[str, str]
    """Maps the keys of the policy that the log's head gives to their values."""
    ends: dict[Copy, float | None] = Factory(dict)
    """Maps attempts under way to their believed ends; None where the log does not imply one."""
    sizes: dict[str, int] = Factory(dict)
    """Maps jobs to the number of workers that they get, where it is known."""
    starts: list[Copy] = Factory(list)
    """Attempts that started at this instant."""
    exempt: set[str] = Factory(set)
    """Jobs for which conservative backfilling once had no place, as the return of workers was
    unknown."""

    # --- notifications ---------------------------------------------------------------------------

    def started(self, copy: Copy, work: float, promise: ReservationMade | None) -> None:
        """Note that an attempt starts, whose execution takes the time `work`, with the reservation
        that its job had.

        Raises Broken where the reservation was for another number of workers.
        """
        job, size = copy.job, copy.full
        right = promise is None or promise.processors in self._widths(job.name, size)
        allowed(right, "{} gets {} workers, not as many as promised", job.name, size)
        held = self._held(job, size, work)
        self.ends[copy] = None if held is None else self.w.now + held
        self.sizes[job.name] = size
        self.starts.append(copy)
        self.exempt.discard(job.name)

    def ended(self, copy: Copy) -> None:
        """Note that an attempt has released its workers."""
        del self.ends[copy]
        if copy in self.starts:
            self.starts.remove(copy)

    def made(self, event: ReservationMade) -> None:
        """Check a line that makes a reservation. Raises Broken where the policy makes none, or
        where the job would get another number of workers."""
        allowed(self.rule.most, "{} makes no reservations", self.w.head.policy)
        reserve = self.w.reserve
        if reserve is None or event.job not in reserve.wide:
            self.sizes.setdefault(event.job, event.processors)
        size = self.sizes.get(event.job)
        right = size is None or event.processors in self._widths(event.job, size)
        allowed(right, "{} asks for {} workers", event.job, size)

    def _widths(self, name: str, size: int) -> tuple[int, ...]:
        """Return the numbers of workers with which a job may start that has `size` members.

        Where a worker of the reserve was called for the job, it starts with its standbys, too
        (P11).
        """
        reserve = self.w.reserve
        return (size,) if reserve is None else (size, reserve.width(name, size))

    def _held_by(self, job: Job, promise: ReservationMade) -> float | None:
        """Return the time for which a job with this reservation is believed to hold its workers;
        None if it is unknown."""
        reserve, size = self.w.reserve, promise.processors
        if reserve is not None and job.name in reserve.wide:
            known = self.sizes.get(job.name)
            return None if known is None else self._held(job, known)
        return self._held(job, size)

    def _held(self, job: Job, size: int, work: float | None = None) -> float | None:
        """Return the time for which an attempt of the job is believed to hold `size` workers; None
        if it is unknown.

        `work` is the attempt's execution time where the line of its start gives it.
        """
        described, estimates = job.described, self.settings.get("estimates", "user")
        if estimates not in ("user", "exact") or job.tasks is not None:
            return None
        if described.estimate is not None and estimates == "user":
            return described.estimate + job.overhead
        if work is None:
            work = described.work / size if described.kind is JobKind.RIGID else job.works.get(size)
        return None if work is None else work + job.overhead

    # --- after a decision ---------------------------------------------------------------------

    def review(self, waiting: int, there: Made, made: Collection[str], once: bool) -> None:
        """Check all reservations after the decisions of an instant. Raises Broken.

        `waiting` is the number of waiting jobs, and `there` has the reservations in force. `made`
        has the jobs whose reservation is new or has changed at this instant, and `once` says that
        only one decision was made at it.
        """
        known = inf not in self._away()
        if known:
            self._count(waiting, len(there), len(made))
        if self.rule.reading == "conservative":
            self._one_for_each(there, known)
        if known and self.rule.remade and self.settings.get("order", self._default) == "FCFS":
            self._first_come(there)
        if self.rule.remade or once:
            for name in there if self.rule.remade else made:
                self._place(self.w.jobs[name], there, waiting, once)
        self.starts.clear()

    @property
    def _default(self) -> str:
        """Order of the queue if the log's head gives none."""
        return "LPT" if LIST.fullmatch(self.w.head.policy) else "FCFS"

    def _count(self, waiting: int, there: int, made: int) -> None:
        """Check that enough waiting jobs have reservations, and not more than the policy's m:
        `there` of them do, and `made` is how many are new.

        Jobs that start at once count among the m for the readings fresh and kept, but not for EASY.
        """
        most, starts, least = self.rule.most, len(self.starts), 0.0
        if self.rule.remade:
            allowed(there <= most, f"{there} jobs have reservations, of {most} that there may be")
            ahead = starts if self.rule.reading == "fresh" else 0
            least = min(most, waiting + ahead) - ahead
        elif self.rule.reading == "kept" and waiting > there:
            there, least = made, most - starts
        why = f"{least} of the waiting jobs ({waiting}) must get a reservation, not {there}"
        comes(there >= least, why)

    def _one_for_each(self, there: Made, known: bool) -> None:
        """Check that each waiting job has a reservation that begins now or later."""
        waiting = [name for name, job in self.w.jobs.items() if not job.copies]
        if not known:
            self.exempt.update(waiting)
        late = self.w.now - ROUNDING * max(self.w.now, 1)
        for name in waiting:
            due = name in self.exempt or (name in there and there[name].start >= late)
            comes(due, f"{name} must get a reservation that begins now or later")

    def _first_come(self, there: Made) -> None:
        """Check, for first come, first served, that jobs with a reservation came before all
        others."""
        waiting = (name for name, job in self.w.jobs.items() if not job.copies)
        for name in islice(waiting, len(there)):
            allowed(name in there, f"{name} has no reservation, and others that came later have")

    def _place(self, job: Job, there: Made, waiting: int, once: bool) -> None:
        """Check that the job's reservation begins neither too early nor too late.

        It begins no earlier than where the job would fit beside the runs under way alone, and no
        later than where it fits beside the jobs that start now and all other reservations,
        `there`. Conservative backfilling has no latest place where several jobs wait. `waiting` is
        the number of jobs that wait; `once` says whether the instant has had one decision only.
        """
        w, now, promise, starts = self.w, self.w.now, there[job.name], self.starts
        start, size, free = max(promise.start, now), promise.processors, w.free.count
        before = free + sum(it.full + len(it.standbys) for it in starts)
        alone = earliest(now, before, self._frees(now, starts), size, 0)
        why = f"{job.name} can get {size} workers at {{}}, not at {start!r}"
        comes(start >= alone or same(start, alone), why, f"{alone!r} at the earliest")
        if self.rule.reading == "conservative" and waiting > 1:
            return  # the others may have earlier places by now than they were promised
        taken = self._taken(there, job.name)
        held = self._held_by(job, promise)
        longest = inf if held is None else held * (1 + ROUNDING)
        beside = earliest(now, free, self._frees(inf) + taken, size, longest)
        comes(start <= beside or same(start, beside), why, f"{beside!r} at the latest")
        if inf in (time for time, _ in taken) or None in self.ends.values():
            return
        # Standbys of a job that starts now may be workers that a job ahead of it was promised.
        first = self.rule == Rule(1, "fresh") and once and not any(it.standbys for it in starts)
        allowed(not first or same(start, alone), why, repr(alone))
        ends = (time for time, more in self._frees(now) + taken if more > 0)
        near = start == now or any(same(start, max(it, now)) for it in ends)
        allowed(near, why, "the end of another at the earliest")

    def _away(self) -> list[float]:
        """Return the times at which the workers that are not UP, and that no attempt holds, are
        expected back; inf where the log does not say."""
        w = self.w
        away = [it for n, it in w.workers.items() if it.state is not UP and n < w.able]
        until = (it.until for it in away if w.holder(it.number) is None)
        return [inf if it is None else it for it in until]

    def _frees(self, unknown: float, but: Collection[Copy] = ()) -> Changes:
        """Return when how many workers are believed to become free, leaving out the attempts `but`.

        `unknown` stands for times that the log does not imply.
        """
        runs = [(end, it.full + len(it.standbys)) for it, end in self.ends.items() if it not in but]
        changes = [(unknown if end is None else end, size) for end, size in runs]
        return changes + [(until, 1) for until in self._away()]

    def _taken(self, there: Made, but: str) -> Changes:
        """Return when the reservations of all jobs but `but` take how many workers, and give them
        back; inf where that time is unknown.

        Each lasts a little longer than its job, so that rounding opens no gap between two of them.
        """
        changes: Changes = []
        for name, it in there.items():
            if name != but:
                start, held = (
                    max(it.start, self.w.now),
                    self._held_by(self.w.jobs[name], it),
                )
                end = inf if held is None else (start + held) * (1 + ROUNDING / 4)
                changes += (start * (1 - ROUNDING / 4), -it.processors), (end, it.processors)
        return changes
