"""Checks a queue's decisions: workers of runs, reservations, shelves and batches (rigid21,
moldable21)."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from math import inf

from attrs import Factory, define, field

from actors.events import (
    BatchOpened,
    Outcome,
    ProtectionKind,
    ReservationDropped,
    ReservationMade,
    RunStarted,
    ShelfOpened,
)
from actors.runtime import Event
from policies.interface.kinds import JobKind
from sims.audit import cells
from sims.audit.cell_promises import CellPromises
from sims.audit.deciding import DecisionChecks
from sims.audit.facts import ExpectedCopy, ExpectedJob
from sims.audit.fitting import Unused
from sims.audit.law import Causes, allowed, comes
from sims.audit.limits import LimitChecks, Promised, limits_of
from sims.audit.placement import RULES, Rule, by_node
from sims.audit.priorities import Priorities, check_starts, priorities_of
from sims.audit.promises import ExpectedPromises, Widths, rule_of
from sims.audit.together import Batches, Shelf
from sims.audit.turns import Script
from sims.audit.workers import Free, Spans, extent, joined, meet
from sims.audit.world import Handler, PartRules, World

INSTANT = 1 + 1e-12
GREEDY = "R-LIST-0", "greedy"
"""Policies that start every job that fits."""
FIELD = "FCFS", "EASY", "conservative", "greedy"
"""Policies whose order, where none is given, is first come, first served."""
KEPT = "conservative", "kept"
"""Readings of reservations that are kept."""
SHELVES = "R-SHELF-B", "R-SHELFFILL-B"
"""Policies that start every job that fits if no job runs."""


@define(eq=False)
class QueueChecks(DecisionChecks):
    """Checks decisions of a queue's policy on waiting jobs, which start one by one from a list,
    together on a shelf, or together in a batch."""

    promises: dict[str, tuple[ReservationMade, int]] = Factory(dict)
    """Maps waiting jobs to their reservation and its event."""
    made: list[tuple[int, str]] = Factory(list)
    """Event and job of each reservation made at this instant."""
    moved: set[str] = Factory(set)
    """Jobs whose reservation made at this instant is new or has changed; one that is kept may be
    logged again."""
    due: list[int] | None = None
    """Events that a wake-up may have as its cause: 0, for the passing of time, and the reservations
    that have come due at this instant; None while not computed."""
    former: dict[str, Spans] = Factory(dict)
    """Maps jobs to the workers that a copy of theirs released last at this instant."""
    shelf: Shelf = Factory(Shelf)
    """Shelf that opened at this instant, if one did."""
    running: int = 0
    """Number of copies that hold workers."""
    batches: Batches = Factory(Batches)
    preempted: set[str] = Factory(set)
    """Jobs that were preempted at this instant."""
    calls: set[int] = Factory(set)
    """Events that called for the decisions that preempted jobs at this instant."""
    begun: set[str] = Factory(set)
    """Jobs that started at this instant."""
    unused: Unused = field(init=False)
    """Workers that were free after decisions while jobs waited."""
    order: Priorities = field(init=False)
    """Order of the queue."""
    limits: LimitChecks = field(init=False)
    """Limits by user, group or queue."""
    under_way: int = 0
    """Number of jobs that have copies."""
    triggers_before: int = -1
    """Number of events that had called for a decision when the first decision of this instant
    began; -1 before that."""
    fulfilled: list[int] = Factory(list)
    """Events of the reservations that have come due, and whose jobs start at this instant: each may
    have caused a later decision of the instant. Noted only where copies hold workers ready, or
    where workers are called."""
    ready: Spans = ()
    """Workers that the copy that starts now holds ready, by nodes."""
    apart: bool = False
    """Whether the copy that starts now may have other workers as members than it may hold ready."""
    unsure: bool = False
    """Whether the log does not say which workers the windows close."""
    calls_workers: bool = False
    """Whether workers are called for waiting jobs."""
    widths: Widths = field(init=False)
    """Numbers of workers with which waiting jobs start."""
    published: ExpectedPromises | None = None
    """Rule of the queue's reservations; None for a user's own."""

    def __attrs_post_init__(self) -> None:
        self.limits = limits_of(self.settings)
        self.unused = Unused(self.limits)
        w, reading = self.w, self.settings.get("reading", "fresh")
        self.widths = Widths(w)
        usual = "FCFS" if w.head.policy in FIELD else "LPT"
        self.order = priorities_of(w, self.settings, usual)
        allotted = self.settings.get("allocation", "")
        if ":" not in w.head.policy + allotted:
            rule = rule_of(w.head.policy, reading)
            self.published = ExpectedPromises(w, rule, self.settings, self.widths, order=self.order)
            self.published.left = self.batches.attempts if allotted == "BATCH" else None
            self.published.held = self._may_be_held if self.limits.limits else None
            self.order.sizes = self.published.sizes

    def line_handlers(self) -> dict[type[Event], Handler]:
        return {
            ReservationMade: self.promise,
            ReservationDropped: self.drop_reservation,
            ShelfOpened: self.open_shelf,
            BatchOpened: self.open_batch,
        }

    def clear(self) -> None:
        super().clear()
        self.made.clear()
        self.moved.clear()
        self.former.clear()
        self.begun.clear()
        if self.published is not None:
            self.published.starts.clear()
        self.preempted.clear()
        self.calls.clear()
        self.due, self.triggers_before = None, -1
        self.fulfilled.clear()

    def windows_described(self) -> None:
        """Check reservations by cells from now on: workers differ."""
        before = self.published
        if before is not None and not isinstance(before, CellPromises):
            self.published = CellPromises.beside(before)

    def calls_described(self) -> None:
        self.calls_workers = True

    # --- notifications ---------------------------------------------------------------------------

    def submitted(self, job: ExpectedJob, since: int) -> None:
        super().submitted(job, since)
        self.order.submitted(job)

    def ended(self, copy: ExpectedCopy, outcome: Outcome, seq: int, gone: bool) -> None:
        self.running -= 1
        self.order.ended(copy)
        self.limits.ended(copy)
        job = copy.job
        self.under_way -= not job.copies
        if self.published is not None:
            self.published.ended(copy, outcome)
        self.former[job.name] = copy.held
        if not gone:
            self.batches.ended(copy, outcome)

    def cancelled(self, job: ExpectedJob, seq: int) -> None:
        super().cancelled(job, seq)
        self.promises.pop(job.name, None)
        self.widths.more.pop(job.name, None)
        self.batches.attempts.pop(job.name, None)
        if self.published is not None:
            self.published.sizes.pop(job.name, None)

    # --- starts -------------------------------------------------------------------------------

    def placing(self, copy: ExpectedCopy, event: RunStarted) -> None:
        w = self.w
        job, size = copy.job, copy.full
        names = self.limits.started(copy, cells.occupied(w, job, size), self._promised())
        width = size if job.copies else self.widths.of(job.name, size)
        allowed(width == size or self.free_for(job) >= width, "{} waits for all it holds", job.name)
        rule, free = self._around_windows(copy, event)
        if rule is not None and free.count >= size:
            due = self._due_workers(rule, job, free, size)
            allowed(due == copy.spans, "{} gets {}, not {}", job.name, due, event.processors)
        shelves = "SHELF" in w.head.policy and ":" not in w.head.policy
        loose = shelves and not self.running and self.shelf.opened is None
        allowed(not loose or job.name in self.former, f"{job.name} starts in no shelf")
        self.running += 1
        self.order.started(copy)
        self.begun.add(job.name)
        self._begins()
        if self.published is not None:
            own = None if job.copies else self.promises.get(job.name)
            self.published.started(copy, event.work, own and own[0])
        if job.copies:
            return
        self.widths.more.pop(job.name, None)
        self.under_way += 1
        # A moldable job may have asked for another number of workers at that instant.
        if self.unused.after and job.described.kind is not JobKind.MOLDABLE:
            since = max(job.wanted, self.opened) if self.batches.count else job.wanted
            self.unused.check(names, width, since, w.head.processors)
        if self.shelf.opened is not None:
            believed = job.described.estimate
            held = event.work if believed is None else believed
            known = "estimates" not in self.settings and job.tasks is None
            self.shelf.ends.append(w.now + (held + job.overhead) if known else inf)
        self.batches.started(job.name)

    def _due_workers(self, rule: Rule, job: ExpectedJob, free: Free, size: int) -> Spans:
        """Return the members that the placement rule chooses among the workers `free` for a job
        that starts with `size` members. By nodes, members and those that are held ready are chosen
        together, and the latter are kept."""
        w = self.w
        more = min(job.asked.ready, free.count - size)
        if more and self.settings.get("placement") == "nodes":
            chosen = by_node(w, free, size + more)
            self.ready = joined(chosen[size:])
            return joined(chosen[:size])
        former = () if job.copies or job.asked.ready else self.former.get(job.name, ())
        return rule(w, free, size, former)

    def _around_windows(self, copy: ExpectedCopy, event: RunStarted) -> tuple[Rule | None, Free]:
        """Check that a starting copy has workers of its job's partition only, that no window takes
        any of them before the copy is believed to end, and which of them it takes. The last two are
        left out if the log does not say when that is.

        Return the placement rule by which the caller is still to check the choice of workers, or
        None if this method has checked it, and the free workers among which the rule chooses.
        """
        w, job = self.w, copy.job
        rule = RULES.get(self.settings.get("placement", "lowest"))
        divided, self.unsure, self.apart = cells.divided(w), False, False
        if not divided and not w.windows:
            return rule, w.free
        shut = None
        if "estimates" not in self.settings and job.tasks is None:
            estimate = job.described.estimate
            held = (event.work if estimate is None else estimate) + job.overhead
            shut = w.shut(copy, w.now + held)
        self.unsure = shut is None
        allowed(not meet(shut or (), copy.spans), "{} are taken before its end", shut)
        free_choice = bool(job.copies) or w.head.policy in GREEDY or ":" in w.head.policy
        closed = shut is None or meet(shut, w.free.spans)
        if free_choice and not divided and not closed:
            return rule, w.free
        if shut is None:
            rule, free_choice = None, True
        if rule is not None and job.asked.ready:
            both = cells.of_one_choice(w, job, shut or (), free_choice)
            if both is not None:
                return rule, both
        self.apart = True
        former = () if job.copies or job.asked.ready else self.former.get(job.name, ())
        choice = None if rule is None else partial(rule, w)
        cells.check_choice(w, job, copy.spans, shut, choice, former, free_choice)
        return None, w.free

    def free_for(self, job: ExpectedJob) -> int:
        if job.partition is None:
            return super().free_for(job)
        return len(cells.may_have(self.w, job, ()))

    def choose_ready(self, copy: ExpectedCopy, wanted: int) -> Spans | None:
        placement = self.settings.get("placement", "lowest")
        if self.unsure:
            return None
        if placement == "nodes" and not self.apart:
            return self.ready
        rule = RULES.get(placement)
        if rule is None:
            return None
        free = self.w.free
        if copy.job.partition is not None:
            own = joined(cells.may_have(self.w, copy.job, ()))
            free = Free(own, extent(own))
        return rule(self.w, free, min(wanted, free.count), ())

    def other_causes(self, job: ExpectedJob, copy: ExpectedCopy) -> Causes:
        own = self.promises.pop(job.name, None)
        ready = any(it.asked.ready for it in self.w.jobs.values())
        if own is not None and own[0].start <= self.w.now * INSTANT and not job.copies:
            # As workers are held ready, another decision may follow at this instant.
            if ready or self.calls_workers:
                self.fulfilled.append(own[1])
            return own[1]
        made = [seq for seq, name in self.made if name != job.name]
        lead = [seq for seq in (self.started if ready else self.started[:1]) if seq >= 0]
        # The call is the cause if the order has changed with time, so that no job with a
        # reservation is ahead any more.
        return {*made, *lead, *self.called()}

    def why(self, job: ExpectedJob, copy: ExpectedCopy) -> Causes:
        causes = super().why(job, copy)
        self.promises.pop(job.name, None)
        return causes

    def called(self) -> Collection[int]:
        """Return the events of which one must be the cause of the present decision: those that
        called for it; without any, those of reservations that have come due at this instant, or 0,
        which stands for time alone."""
        if self.triggers:
            return self.triggers
        if self.due is None:
            end = self.w.now * INSTANT
            self.due = [0, *(seq for it, seq in self.promises.values() if it.start <= end)]
        return [*self.due, *self.fulfilled]

    def cancels(self, copy: ExpectedCopy) -> Causes:
        if self.w.head.preempts:
            self.preempted.add(copy.job.name)
            self.w.joined = self.w.now
            saves = copy.job.kind is ProtectionKind.IMAGES
            if saves:  # all are preempted by one decision, and share its cause
                for part in self.w.parts[PartRules.calls_now]:
                    part.calls_now()
                self.calls.update(self.called())
                return {0, *self.calls}
        return super().cancels(copy)

    def close(self) -> None:
        self.shelf.close(self.opened)
        for name in self.preempted:
            left = self.w.capped or self.begun - {name}
            allowed(left, f"{name} makes way, and nobody starts")
        if self.triggers:
            self._decided()
        decides = self.decides_now or self.made or self.begun
        if decides and self.published is not None and not self.w.capped:
            self._reserved(self.published)
            self._ordered(self.published)

    def _begins(self) -> None:
        """Note how many events had called for a decision when the first decision of this instant
        began; later calls change nothing."""
        if self.triggers_before < 0:
            self.triggers_before = len(self.triggers)

    def _reserved(self, published: ExpectedPromises) -> None:
        """Check that the waiting jobs have the reservations that the published policy makes."""
        there = {name: it[0] for name, it in self.promises.items()}
        made = self.moved & there.keys()
        once = self.triggers_before in (-1, len(self.triggers))
        waiting = len(self.w.jobs) - self.under_way
        if published.left is not None or published.held is not None:
            # In batches others wait for the next one.
            waiting = sum(1 for _ in published.queued())
        if self.limits.limits and published.rule.remade:
            asked = {name: self._asked(it) for name, it in there.items()}
            self.limits.review(self.w.jobs, asked, published.starts)
        published.review(waiting, there, made, once)

    def _ordered(self, published: ExpectedPromises) -> None:
        """Check that the starts of this instant's only decision kept the order of the queue, where
        it is known and the policy is one of those that start the first job that fits."""
        plain = self.w.head.policy in (*GREEDY, "FCFS", "EASY") and not self.w.head.preempts
        once = self.triggers_before in (-1, len(self.triggers))
        if plain and once and published.left is None and self.order.known:
            waiting = [self.w.jobs[name] for name in published.queued()]
            check_starts(self.order, published.starts, waiting)

    def _decided(self) -> None:
        """Note how many workers are free after the decisions of an instant: when a job starts
        later, none may have waited while it fitted. If no job runs and all workers are free, check
        that no job waits."""
        w, count = self.w, self.w.free.count
        later = any(part.shuts_later() for part in w.parts[PartRules.shuts_later])
        if later or cells.divided(w):
            return  # which of the free workers a waiting job may use, the log does not say
        if w.head.policy in GREEDY or (w.head.policy in SHELVES and not self.running):
            waiting = (job for job in w.jobs.values() if not job.copies)
            limited = {self.limits.names(job) for job in waiting} if self.limits.limits else {()}
            self.unused.decided(w.seq, count, limited)
        if self.running:
            return
        able = w.free.count == w.able and ":" not in w.head.policy
        # Kept reservations may hold other jobs up.
        kept = self.promises and self.settings.get("reading") == "kept"
        left = able and not (w.capped or kept) and sorted(w.jobs.keys() - self.promises.keys())
        comes(not left, "{} wait, all workers are free, and none of them starts", left)

    # --- lines of its own ------------------------------------------------------------------------

    def _cause(self) -> Collection[int]:
        """Return the events of which one must be the cause of a line of a decision: the shelf or
        batch that opened at this instant, the last event that freed workers, or what called for the
        decision."""
        self.w.turns.decides()
        self._begins()
        if self.opened >= self.w.first:
            return (self.opened,)
        return (self.freed_by[-1][0],) if self.freed_by else self.called()

    def open_shelf(self, w: World, event: ShelfOpened) -> Script:
        """Check the line that opens a shelf (a set of jobs that start together) while no job runs;
        the jobs that start at this instant form it."""
        allowed(self.running == 0 and self.shelf.opened is None, "it is while jobs run")
        self.opened = yield event, self._cause()
        self.shelf.open(event)

    def open_batch(self, w: World, event: BatchOpened) -> Script:
        """Check the line that opens a batch while no job runs: all waiting jobs are in it, and a
        job that has been in k batches may make 2^k attempts."""
        allowed(self.running == 0, "it is while jobs run")
        causes = self._cause()
        if self.published is not None:
            self.published.sizes.clear()
        self.opened = yield self.batches.open(w.jobs), causes

    def promise(self, w: World, event: ReservationMade) -> Script:
        """Check the line of a reservation, which promises a start at a time to a waiting job, and
        keep it."""
        job, workers = w.jobs.get(event.job), event.processors
        sound = job is not None and not job.copies and 1 <= workers <= w.head.processors
        allowed(sound and event.start >= w.now)
        if job is not None and event.job not in self.promises:
            self.limits.reserved(job, self._asked(event), self._promised())
        allowed(not self.begun or self._decides_again(), "{} started before it", self.begun)
        before = self.promises.get(event.job)
        if before is not None and (before[1], event.job) in self.made:
            allowed(before[0] != event, "it is promised twice")
        if self.published is not None:
            self.published.made(event)
        seq = yield event, self._cause()
        if before is None or not (before[0] == event or self._widened(before[0], event)):
            self.moved.add(event.job)
        self.promises[event.job] = event, seq
        self.made.append((seq, event.job))

    def _decides_again(self) -> bool:
        """Return whether there may be several decisions in an instant, as where not all is known of
        the workers that a start gets: with workers held ready, windows, or workers that are called.
        A decision promises first, and starts jobs after that."""
        w = self.w
        several = w.windows or cells.divided(w) or self.calls_workers
        return bool(several or any(job.asked.ready for job in w.jobs.values()))

    def _promised(self) -> Promised:
        """Return the reservations that count under limits, with their jobs' names: those of a
        policy that keeps them."""
        kept = self.published is not None and self.published.rule.reading in KEPT
        if not (kept and self.limits.limits):
            return None
        jobs = self.w.jobs
        return {
            it: (self.limits.names(jobs[it]), self._occupied(jobs[it], made.processors))
            for it, (made, _) in self.promises.items()
        }

    def _occupied(self, job: ExpectedJob, size: int) -> int:
        return cells.occupied(self.w, job, size)

    def _asked(self, promise: ReservationMade) -> int:
        """Return the number of workers that a reservation keeps from others. Where workers were
        called for its job, it waits for those that it holds ready too (P11)."""
        if self.published is None or promise.job not in self.widths.more:
            return self._occupied(self.w.jobs[promise.job], promise.processors)
        return self.published.sizes.get(promise.job, 0)

    def _may_be_held(self, name: str) -> bool:
        """Return whether a limit may keep this waiting job, which has no reservation, from getting
        one: the log need not say how many workers it asks for."""
        if name in self.promises:
            return False
        names = self.limits.names(self.w.jobs[name])
        size = self.published.sizes.get(name) if self.published is not None else None
        room = self.limits.room(names, name, promised=self._promised())[0]
        most = self.w.head.processors if size is None else size
        return room < self._occupied(self.w.jobs[name], most)

    def held_back(self, name: str) -> bool:
        """Return whether a limit keeps this waiting job from starting; false where the log does not
        say how many workers it asks for."""
        known = self.published is not None and name in self.published.sizes
        return known and bool(self.limits.limits) and self._may_be_held(name)

    def _widened(self, before: ReservationMade, event: ReservationMade) -> bool:
        """Return whether the reservation `event` is the kept one `before` with another number of
        workers only: a worker was called for its job, which waits for those that it holds ready too
        (P11)."""
        wide = event.job in self.widths.more
        return wide and self.settings.get("reading") == "kept" and before.start == event.start

    def drop_reservation(self, w: World, event: ReservationDropped) -> Script:
        """Check the line that drops a reservation while its job goes on waiting."""
        job = w.jobs.get(event.job)
        known = event.job in self.promises and job is not None and not job.copies
        allowed(known, "nothing was promised")
        yield event, self._cause()
        self.promises.pop(event.job, None)
