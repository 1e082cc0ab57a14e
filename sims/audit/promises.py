"""This derives which reservations a queue's log must hold, and between which times each of them
starts, by the published rule of its policy (rigid21, section 4; Mu'alem and Feitelson 2001).

The attempts under way are believed to end at times that the log implies. A reservation for a job of
known size is the earliest place in the profile of free workers; which of the other jobs are ahead
of it the log need not tell, so the place lies between the one beside the attempts under way alone
and the one beside them and all other jobs that start now or are promised a start. How many jobs
have a reservation follows from the policy's m and the number of jobs that wait. What a policy of
the user's promises is an input.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import islice
from math import inf

from attrs import Factory, define, frozen

from actors.events import ReservationMade
from sims.audit.facts import Copy, Job
from sims.audit.law import ROUNDING, allowed, comes, same
from sims.audit.workers import UP
from sims.audit.world import World

LIST = re.compile(r"R-LIST-(Q|\d+)")
Changes = list[tuple[float, int]]
"""(time, workers that become free then; negative: that are taken)."""
Made = Mapping[str, ReservationMade]
"""Waiting job -> its reservation."""


@frozen
class Rule:
    """How many reservations a published policy makes."""

    most: float
    """The number m of reservations; inf: every job has one."""
    reading: str
    """fresh, easy, kept, or conservative."""

    @property
    def remade(self) -> bool:
        """Whether all reservations are made again at each decision, for the first of the queue."""
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
    """Return the earliest time from which `size` workers stay free for `held`; inf: never."""
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
    """The reservations in force after a decision, held against what the policy's rule implies."""

    w: World
    rule: Rule
    said: Mapping[str, str]
    """The keys of its policy that are told, and their values."""
    ends: dict[Copy, float | None] = Factory(dict)
    """When the attempts under way are believed to end; None: the log does not tell."""
    sizes: dict[str, int] = Factory(dict)
    """Job -> how many workers it gets, where that is known."""
    starts: list[Copy] = Factory(list)
    """Attempts that started at this instant."""
    exempt: set[str] = Factory(set)
    """Jobs for which conservative backfilling once had no place, as it was not known when workers
    come back."""

    # --- what it hears of ---------------------------------------------------------------------

    def started(self, copy: Copy, work: float, promise: ReservationMade | None) -> None:
        """An attempt that takes `work` starts. Raises Broken where its job was promised another
        number of workers."""
        job, size = copy.job, copy.full
        right = promise is None or promise.processors == size
        allowed(right, "{} gets {} workers, not as many as promised", job.name, size)
        held = self._held(job, size, work)
        self.ends[copy] = None if held is None else self.w.now + held
        self.sizes[job.name] = size
        self.starts.append(copy)
        self.exempt.discard(job.name)

    def ended(self, copy: Copy) -> None:
        """An attempt has given its workers back."""
        del self.ends[copy]
        if copy in self.starts:
            self.starts.remove(copy)

    def made(self, event: ReservationMade) -> None:
        """A reservation is logged. Raises Broken where the policy makes none, or of this size."""
        allowed(self.rule.most, "{} makes no reservations", self.w.head.policy)
        size = self.sizes.setdefault(event.job, event.processors)
        allowed(size == event.processors, "{} asks for {} workers", event.job, size)

    def _held(self, job: Job, size: int, work: float | None = None) -> float | None:
        """How long an attempt of the job is believed to hold so many workers; None: the log does
        not tell. `work`: how long it takes, where its start tells that."""
        described, estimates = job.described, self.said.get("estimates", "user")
        if estimates not in ("user", "exact") or job.tasks is not None:
            return None
        if described.estimate is not None and estimates == "user":
            return described.estimate + described.verification
        if work is None:
            work = described.work / size if described.kind == "rigid" else job.works.get(size)
        return None if work is None else work + described.verification

    # --- after a decision ---------------------------------------------------------------------

    def review(self, waiting: int, there: Made, made: Collection[str], once: bool) -> None:
        """Hold the reservations against the rule: so many jobs wait, some have one, `made` at this
        instant or before; `once`: this instant has had one decision. Raises Broken."""
        known = inf not in self._away()
        if known:
            self._count(waiting, len(there), len(made))
        if self.rule.reading == "conservative":
            self._each_has_one(there, known)
        if known and self.rule.remade and self.said.get("order", self._default) == "FCFS":
            self._the_first_have_them(there)
        if self.rule.remade or once:
            for name in there if self.rule.remade else made:
                self._place(self.w.jobs[name], there, waiting, once)
        self.starts.clear()

    @property
    def _default(self) -> str:
        """The order where none is told."""
        return "LPT" if LIST.fullmatch(self.w.head.policy) else "FCFS"

    def _count(self, waiting: int, there: int, made: int) -> None:
        """A job that starts at once uses one of FRESH's and KEPT's m, none of EASY's."""
        most, starts, least = self.rule.most, len(self.starts), 0.0
        if self.rule.remade:
            allowed(there <= most, f"{there} jobs have reservations, of {most} that there may be")
            ahead = starts if self.rule.reading == "fresh" else 0
            least = min(most, waiting + ahead) - ahead
        elif self.rule.reading == "kept" and waiting > there:
            there, least = made, most - starts
        why = f"{least} of the waiting jobs ({waiting}) must get a reservation, not {there}"
        comes(there >= least, why)

    def _each_has_one(self, there: Made, known: bool) -> None:
        """Each job has a reservation, which is put off where its time has come and it waits."""
        waiting = [name for name, job in self.w.jobs.items() if not job.copies]
        if not known:
            self.exempt.update(waiting)
        late = self.w.now - ROUNDING * max(self.w.now, 1)
        for name in waiting:
            due = name in self.exempt or (name in there and there[name].start >= late)
            comes(due, f"{name} must get a reservation that begins now or later")

    def _the_first_have_them(self, there: Made) -> None:
        """First come, first served: who has a reservation came before all who have none."""
        waiting = (name for name, job in self.w.jobs.items() if not job.copies)
        for name in islice(waiting, len(there)):
            allowed(name in there, f"{name} has no reservation, and others that came later have")

    def _place(self, job: Job, there: Made, waiting: int, once: bool) -> None:
        """The reservation of that job begins as early as it can."""
        w, now, promise, starts = self.w, self.w.now, there[job.name], self.starts
        start, size, free = max(promise.start, now), promise.processors, w.free.count
        before = free + sum(it.full for it in starts)
        alone = earliest(now, before, self._frees(now, starts), size, 0)
        why = f"{job.name} can get {size} workers at {{}}, not at {start!r}"
        comes(start >= alone or same(start, alone), why, f"{alone!r} at the earliest")
        if self.rule.reading == "conservative" and waiting > 1:
            return  # the others may have earlier places by now than they were promised
        taken = self._taken(there, job.name)
        held = self._held(job, size)
        longest = inf if held is None else held * (1 + ROUNDING)
        beside = earliest(now, free, self._frees(inf) + taken, size, longest)
        comes(start <= beside or same(start, beside), why, f"{beside!r} at the latest")
        if inf in (time for time, _ in taken) or None in self.ends.values():
            return
        first = self.rule == Rule(1, "fresh") and once
        allowed(not first or same(start, alone), why, repr(alone))
        ends = (time for time, more in self._frees(now) + taken if more > 0)
        near = start == now or any(same(start, max(it, now)) for it in ends)
        allowed(near, why, "the end of another at the earliest")

    def _away(self) -> list[float]:
        """Return when each worker that is not UP and that no attempt holds is expected back."""
        w = self.w
        away = [it for n, it in w.workers.items() if it.state is not UP and n < w.able]
        until = (it.until for it in away if w.holder(it.number) is None)
        return [inf if it is None else it for it in until]

    def _frees(self, unknown: float, but: Collection[Copy] = ()) -> Changes:
        """When workers are believed to become free, but for those of some attempts; `unknown`: the
        time of those of which that is not known."""
        runs = [(end, it.full) for it, end in self.ends.items() if it not in but]
        changes = [(unknown if end is None else end, size) for end, size in runs]
        return changes + [(until, 1) for until in self._away()]

    def _taken(self, there: Made, but: str) -> Changes:
        """What the reservations of the other jobs take, a little longer than they do, and give
        back; inf: it is not known when."""
        changes: Changes = []
        for name, it in there.items():
            if name != but:
                start, held = (
                    max(it.start, self.w.now),
                    self._held(self.w.jobs[name], it.processors),
                )
                end = inf if held is None else (start + held) * (1 + ROUNDING / 4)
                changes += (start * (1 - ROUNDING / 4), -it.processors), (end, it.processors)
        return changes
