"""Derives which reservations a queue's log must hold, and the earliest and latest start of each, by
the published rule of its policy (rigid21, section 4; Mu'alem and Feitelson 2001).

The attempts under way are believed to end at times that the log implies. A reservation is the
earliest place in the profile of free workers beside the jobs that were planned before. The log need
not say in which order the policy plans: there must be an order that gives each job the place that
the log gives it. Where the log does not imply how long a job is believed to hold its workers, its
place lies between those for the shortest and the longest time. The number of reservations follows
from the policy's m and the number of waiting jobs. Reservations of a user's own policy are an
input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from math import inf

from attrs import Factory, define, frozen

from actors.events import Outcome, ReservationMade
from policies.interface.kinds import JobKind
from sims.audit import cells
from sims.audit.facts import ExpectedCopy, ExpectedJob
from sims.audit.law import ROUNDING, allowed, comes, same
from sims.audit.plans import Claim, FreeProfile
from sims.audit.priorities import Priorities
from sims.audit.workers import UP
from sims.audit.world import World

LIST = re.compile(r"R-LIST-(Q|\d+)")
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
    """Return the rule by which the published policy called `policy` makes reservations; `reading`
    is the reading of R-LIST's, which the other policies ignore."""
    if policy == "EASY":
        return Rule(1, "easy")
    if policy == "conservative":
        return Rule(inf, policy)
    found = LIST.fullmatch(policy)
    if found is None:
        return Rule(0, "easy")
    most = inf if found[1] == "Q" else int(found[1])
    # Reservations for the whole queue that are made anew at each decision are not logged.
    return Rule(0 if most == inf and reading != "kept" else most, reading)


@define(eq=False)
class Widths:
    """Numbers of workers with which waiting jobs start."""

    w: World
    more: dict[str, int] = Factory(dict)
    """Maps jobs for which workers were called to the number of workers, besides their members, that
    they wait for too."""

    def of(self, name: str, size: int) -> int:
        """Return the number of workers with which the waiting job called `name`, of `size` members,
        starts, as far as the platform, or its partition, has so many."""
        repairs = self.w.repairs
        retired: Set[int] = repairs.retired if repairs is not None else frozenset()
        most = cells.most_of(self.w, self.w.jobs[name], retired)
        return max(min(size + self.more.get(name, 0), most), size)


@define(eq=False)
class ExpectedPromises:
    """Checks the reservations in force after a decision (promises of a start to waiting jobs)
    against the rule of the queue's policy."""

    w: World
    rule: Rule
    settings: Mapping[str, str]
    """Maps the keys of the policy that the log's head gives to their values."""
    widths: Widths
    ends: dict[ExpectedCopy, float | None] = Factory(dict)
    """Maps attempts under way to their believed ends; None where the log does not imply one."""
    sizes: dict[str, int] = Factory(dict)
    """Maps jobs to the number of workers that they get, where it is known."""
    starts: list[ExpectedCopy] = Factory(list)
    """Attempts that started at this instant."""
    left: Mapping[str, int] | None = None
    """Maps the jobs of a batch to the number of attempts that they may still make; None where jobs
    join the queue as they arrive."""
    held: Callable[[str], bool] | None = None
    """Returns whether a limit may hold a waiting job back; None where there is none."""
    order: Priorities | None = None
    """Order of the queue; None: it is not derived."""

    # --- notifications ---------------------------------------------------------------------------

    def started(self, copy: ExpectedCopy, work: float, promise: ReservationMade | None) -> None:
        """Note that a copy starts, whose execution takes the time `work`, with the reservation that
        its job had (None: it had none).

        Raises Broken where it gets another number of workers than is known for its job.
        """
        job, size = copy.job, copy.full
        told = self.sizes.get(job.name) if promise is None else promise.processors
        right = told is None or told in self._widths(job.name, size)
        allowed(right, "{} gets {} workers, not as many as promised", job.name, size)
        held = self._held(job, size, work)
        self.ends[copy] = None if held is None else self.w.now + held
        self.sizes[job.name] = size
        self.starts.append(copy)

    def ended(self, copy: ExpectedCopy, outcome: Outcome) -> None:
        """Note that a copy has released its workers, with this outcome of its run."""
        del self.ends[copy]
        if copy in self.starts:
            self.starts.remove(copy)
        if self.left is not None and outcome is Outcome.FAILED:
            self.sizes.pop(copy.job.name, None)  # a batch may give the next attempt other workers

    def made(self, event: ReservationMade) -> None:
        """Check a line that makes a reservation. Raises Broken where the policy makes none, or
        where the job would get another number of workers."""
        allowed(self.rule.most, "{} makes no reservations", self.w.head.policy)
        if event.job not in self.widths.more:
            self.sizes.setdefault(event.job, event.processors)
        size = self.sizes.get(event.job)
        right = size is None or event.processors in self._widths(event.job, size)
        allowed(right, "{} asks for {} workers", event.job, size)

    def _widths(self, name: str, size: int) -> tuple[int, ...]:
        """Return the numbers of workers with which the job called `name`, of `size` members, may
        start.

        There are two where a worker was called for the job: it may start with those that it holds
        ready, too (P11).
        """
        return (size, self.widths.of(name, size)) if name in self.widths.more else (size,)

    def _held_by(self, job: ExpectedJob, promise: ReservationMade) -> float | None:
        """Return the time for which the job of the reservation `promise` is believed to hold its
        workers; None if the log does not imply it."""
        size = promise.processors
        if job.name in self.widths.more:
            known = self.sizes.get(job.name)
            return None if known is None else self._held(job, known)
        return self._held(job, size)

    def _held(self, job: ExpectedJob, size: int, work: float | None = None) -> float | None:
        """Return the time for which an attempt of the job is believed to hold `size` workers: the
        user's estimate or the execution time, and the overhead; None if the log does not imply it.

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
        if known or self.rule.remade:
            self._count(waiting, len(there), len(made), 0 if known else self._endless(there))
        if known and self.rule.reading == "conservative":
            self._one_for_each(there)
        if known and self.rule.remade and self.order is not None and self.order.known:
            self._first_come(there, self.order)
        if self.rule.remade or once:
            for name in there if self.rule.remade else made:
                self._bounded(there[name], there, waiting)
            if self.rule.reading != "conservative":
                self._planned(there, made, once)

    def queued(self) -> Iterator[str]:
        """Yield the names of the jobs that wait in the queue, in the order in which they were
        submitted. In a batch, jobs without an attempt left do not wait, nor do jobs that a limit
        may hold back."""
        left, held = self.left, self.held
        names = (name for name, job in self.w.jobs.items() if not job.copies)
        if held is not None:
            names = (name for name in names if not held(name))
        return names if left is None else (name for name in names if left.get(name, 0) > 0)

    def _endless(self, there: Made) -> int:
        """Return how many waiting jobs without a reservation may have no place at all, as the
        return of workers is not known: they may be among the first m of the queue."""
        plan, starts = self._plan(), [self._started(it) for it in self.starts]
        claims = [self._claim(it) for it in there.values()]
        endless = 0
        for name in self.queued():
            if name in there:
                continue
            size = self.sizes.get(name)
            if size is not None:
                wide = ReservationMade(name, inf, max(self._widths(name, size)))
                endless += plan.place(self._claim(wide), starts, claims)[1] == inf
            else:
                endless += 1
        return endless

    def _count(self, waiting: int, there: int, made: int, endless: int) -> None:
        """Check that enough waiting jobs have reservations, and not more than the policy's m:
        `there` of them do, `made` is how many are new, and `endless` how many may have no place.

        Jobs that start at once count among the m for the readings fresh and kept, but not for EASY.
        """
        most, starts, least = self.rule.most, len(self.starts), 0.0
        if self.rule.remade:
            allowed(there <= most, f"{there} jobs have reservations, of {most} that there may be")
            ahead = starts if self.rule.reading == "fresh" else 0
            least = min(most, waiting + ahead) - ahead
        elif self.rule.reading == "kept" and waiting > there:
            there, least = made, most - starts
        least -= endless
        why = f"{least} of the waiting jobs ({waiting}) must get a reservation, not {there}"
        comes(there >= least, why)

    def _one_for_each(self, there: Made) -> None:
        """Check that each waiting job has a reservation that begins now or later, as the return of
        all workers is known."""
        late = self.w.now - ROUNDING * max(self.w.now, 1)
        for name in self.queued():
            due = name in there and there[name].start >= late
            comes(due, f"{name} must get a reservation that begins now or later")

    def _first_come(self, there: Made, order: Priorities) -> None:
        """Check that no waiting job without a reservation is ahead in the queue of one that has
        one."""
        for name in self.queued():
            if name not in there:
                for other in there:
                    ahead = order.ahead(self.w.jobs[name], self.w.jobs[other])
                    allowed(not ahead, f"{name} has no reservation, and is ahead of {other}")

    def _bounded(self, promise: ReservationMade, there: Made, waiting: int) -> None:
        """Check that the reservation `promise` begins no earlier than where its job would fit
        beside the runs under way alone, and no later than beside the jobs that start now and all
        other reservations `there`.

        Conservative backfilling has no latest place where several jobs wait (`waiting` is their
        number): the others may have earlier places by now than they were promised.
        """
        plan, claim = self._plan(), self._claim(promise)
        why = f"{promise.job} can get {claim.size} workers at {{}}, not at {claim.start!r}"
        first, _, _ = plan.place(claim)
        comes(first <= claim.start or same(claim.start, first), why, f"{first!r} at the earliest")
        if self.rule.reading == "conservative" and waiting > 1:
            return
        starts = [self._started(it) for it in self.starts]
        others = [self._claim(it) for name, it in there.items() if name != promise.job]
        _, last, _ = plan.place(claim, starts, others)
        comes(claim.start <= last or same(claim.start, last), why, f"{last!r} at the latest")

    def _planned(self, there: Made, made: Collection[str], once: bool) -> None:
        """Check that the policy may have planned the jobs that start now and the reservations
        `there`, one after the other, each at the earliest place that was left. `made` and `once`
        are those of `review`.

        Reservations that are kept, and not due, take their workers before anything is planned.
        """
        now, kept = self.w.now, self.rule.reading == "kept"
        claims = {name: self._claim(it) for name, it in there.items()}
        firm = {it for it in claims if kept and it not in made and claims[it].start > now}
        most = self.rule.most if self.rule.reading == "fresh" and once else inf
        if any(it.ready for it in self.starts):
            most = inf  # what comes after such a start is decided anew
        plan = self._plan([claims[it] for it in firm])
        starts = [self._started(it) for it in self.starts]
        open_ = {name: it for name, it in claims.items() if name not in firm}
        told = ", ".join(f"{it.job} at {it.start!r}" for it in there.values())
        allowed(
            plan.allows(starts, open_, most),
            "no order of the queue gives its jobs these reservations: {}",
            told,
        )

    def _plan(self, firm: Sequence[Claim] = ()) -> FreeProfile:
        """Return the profile of the free workers before any job starts at this instant, with the
        reservations `firm`, which are kept whatever is planned."""
        now, free = self.w.now, self.w.free.count
        free += sum(it.full + len(it.ready) for it in self.starts)
        ends = ((it, end) for it, end in self.ends.items() if it not in self.starts)
        frees = [
            (now, inf, _size(it)) if end is None else (end, end, _size(it)) for it, end in ends
        ]
        frees += [(until, until, 1) for until in self._away()]
        return FreeProfile(now, free, frees, firm)

    def _claim(self, promise: ReservationMade) -> Claim:
        job = self.w.jobs[promise.job]
        held = self._held_by(job, promise)
        least, most = (job.overhead, inf) if held is None else (held, held)
        return Claim(promise.processors, max(promise.start, self.w.now), least, most)

    def _started(self, copy: ExpectedCopy) -> Claim:
        end, now = self.ends[copy], self.w.now
        least, most = (0.0, inf) if end is None else (end - now, end - now)
        more = copy.job.copies[0] is not copy
        return Claim(copy.full, now, least, most, len(copy.ready), more)

    def _away(self) -> list[float]:
        """Return, for each worker that is not UP and that no attempt holds, spares excluded, the
        time at which it is expected back; inf where the log does not say."""
        w = self.w
        unheld = (
            it for it in w.workers.items() if it[0] < w.able and it[0] not in w.holdings.resting
        )
        away = [it for _, it in unheld if it.state is not UP]
        until = (it.until for it in away if w.holdings.holder(it.number) is None)
        return [inf if it is None else it for it in until]


def _size(copy: ExpectedCopy) -> int:
    """Return the number of workers that a copy holds, those that it holds ready included."""
    return copy.full + len(copy.ready)
