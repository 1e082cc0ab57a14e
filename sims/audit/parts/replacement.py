"""Derives which members that are away too long are replaced, and by which workers (rules.md,
P10)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from attrs import define

from actors.events import MemberReplaced
from actors.runtime import Event
from sims.audit import cells, stages
from sims.audit.facts import ExpectedCopy, ExpectedJob
from sims.audit.law import LinePhase, allowed, comes, follows
from sims.audit.turns import LATER, Script
from sims.audit.workers import Spans, meet
from sims.audit.world import Handler, PartRules, World


@define(eq=False)
class ReplacementRules(PartRules):
    """The rules by which free workers, spares first, take the places of members that are away."""

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {MemberReplaced: replace}

    def described(self, job: ExpectedJob) -> None:
        if job.asked.saving.replace_after is not None:
            self.w.replaces = True

    def placing(self, job: ExpectedJob, spans: Spans) -> None:
        # Workers that a decision itself frees replace no member.
        free = self.w.decider.decided or replaceable(self.w) is None
        allowed(free, "others are to be replaced first")

    def before_decision(self) -> Script:
        """Expect the lines of all replacements of members that are due."""
        while due := replaceable(self.w):
            yield from _replaced(self.w, *due)

    def lost(self, copy: ExpectedCopy, worker: int) -> None:
        after, w = copy.job.asked.saving.replace_after, self.w
        if after is not None:
            look = partial(wanted, w, copy, worker)
            w.turns.at(w.now + after, LinePhase.RESUME, copy.job, LATER, look)

    def close(self) -> None:
        """Check, at the end of an instant with a decision, that no member is left to be replaced,
        except by workers that the decision itself freed."""
        w = self.w
        if w.decider.triggers and not w.decider.decided:
            due = replaceable(w)
            comes(due is None, f"worker {due and due[0]} must be replaced")


def replaceable(w: World) -> tuple[int, ExpectedCopy, int] | None:
    """Return (member, its copy, worker that takes its place) for the next replacement that is due;
    None if none is.

    Of the members that have retired, or been away for as long as their jobs wait, the one with the
    lowest number is next for which there is a worker: the lowest free spare takes its place, or
    else the lowest free worker of its job's partition.
    """
    spare = w.holdings.spare.spans
    if not w.replaces or not (spare or w.free.spans):
        return None
    copies = [copy for job in w.jobs.values() for copy in job.copies]
    found = [(n, it) for it in copies for n in it.away if _overdue(w, it, n)]
    for n, copy in sorted(found, key=lambda it: it[0]):
        free = spare or cells.may_have(w, copy.job, ())
        if free:
            return n, copy, free[0]
    return None


def wanted(w: World, copy: ExpectedCopy, worker: int) -> None:
    """Call for a decision if the copy's member `worker` has by now been away for the time after
    which it is replaced."""
    away = w.worker(worker).away
    if not copy.gone and away is not None and _overdue(w, copy, worker):
        w.decider.triggers.append(away[1])


def _overdue(w: World, copy: ExpectedCopy, worker: int) -> bool:
    """Return whether member `worker` has been away, as far as its copy knows, for the time after
    which it is replaced; one that has retired is replaced at once. A job that replaces nobody has
    no such time."""
    after, away = copy.job.asked.saving.replace_after, w.worker(worker).away
    known = copy.undetected.get(worker) != away
    if away is None or not known or after is None:
        return False
    retired = w.repairs is not None and worker in w.repairs.retired
    return retired or away[0] + after <= w.turns.end


def replace(w: World, event: MemberReplaced) -> Script:
    """Check the line that replaces a member, which comes before all else that a decision does, and
    return the script (generator) of the replacement."""
    w.turns.decides()
    return _replaced(w, *follows(replaceable(w), "nobody is to be replaced now"))


def _replaced(w: World, gone: int, copy: ExpectedCopy, newcomer: int) -> Script:
    """Expect the line that replaces member `gone` of a copy by worker `newcomer`, which takes over
    its tasks and its place among the buddies."""
    since = follows(w.worker(gone).away)[1]
    freed = [seq for seq, spans in w.decider.freed_by if meet(spans, (newcomer, newcomer + 1))]
    yield from stages.replace_member(w, copy, gone, newcomer, freed[-1] if freed else since)
    stages.resume_soon(w, copy)
