"""What a pack's log tells of its applications' times, and of what is expected of them
(malleable17)."""

from __future__ import annotations

from math import inf, isclose

import numpy as np
from attrs import define, field

from actors.events import (
    ApplicationDescribed,
    MembersPromised,
    PackDescribed,
    PeriodRule,
    ProtectionKind,
    RunStarted,
)
from actors.events import pack as pack_events
from sims.audit.facts import LoggedJob
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World
from sims.scenario.deciders.applications import mtbf_of, speedup
from sims.scenario.jobs.speedups import durations

ROUNDING = 1e-9


@define(eq=False)
class ApplicationAuditor(Auditor):
    """Runs take the times that their job's profile says, and what decisions count with is told
    whole, or, as logs of before did, not at all."""

    wakes = frozenset(pack_events.VOCABULARY)
    world: World
    indices: list[int] = field(factory=list)
    times: dict[tuple[str, int], float] = field(factory=dict)
    """(job, members) -> t_ij, where a run has had them."""
    told: int = 0
    """seq of the last description."""

    @property
    def handlers(self) -> Handlers:
        return {
            PackDescribed: self._describe_pack,
            ApplicationDescribed: self._describe,
            RunStarted: self._start,
            MembersPromised: self._promise,
        }

    def close(self, t: float, seq: int) -> None:
        whole = sorted(self.indices) == list(range(len(self.indices)))
        if not whole and self.world.ended and not self.world.cut:
            why = f"applications have the indices {sorted(self.indices)}"
            self.world.breaks(Law.FRAME, (self.told,), why)

    def _describe_pack(self, event: PackDescribed, t: float, seq: int) -> None:
        if event.releases and event.fatal:
            why = f"workers are promised only where faults that never meet are all: {event}"
            self.world.breaks(Law.FRAME, (seq,), why)

    def _promise(self, event: MembersPromised, t: float, seq: int) -> None:
        if self.world.pack is not None and self.world.pack.releases is False:
            self.world.breaks(Law.DECISION, (seq,), f"{event.job} promises what is never promised")

    def _describe(self, event: ApplicationDescribed, t: float, seq: int) -> None:
        job, pack = self.world.jobs.get(event.job), self.world.pack
        if job is None or pack is None:
            return
        older = ApplicationDescribed(event.job, event.footprint)
        problem = self._problem(event, job, pack)
        if problem is not None and not (event == older and pack.releases is None):
            self.world.breaks(Law.FRAME, (seq,), f"{event}: {problem}")
        if event.index is not None:
            self.indices.append(event.index)
            self.told = seq

    def _problem(
        self, event: ApplicationDescribed, job: LoggedJob, pack: PackDescribed
    ) -> str | None:
        if event.index is None or event.rule is None or pack.releases is None:
            return "it is told in part"
        if event.index in self.indices:
            return "another one has its index"
        return _rule_problem(event, job, pack) or self._time_problem(event, job)

    def _time_problem(self, event: ApplicationDescribed, job: LoggedJob) -> str | None:
        try:
            alone = float(durations(speedup(event), event.footprint, np.ones(1))[0])
        except (ValueError, LookupError, ArithmeticError) as error:
            return str(error)
        work = job.described.work if job.described is not None else alone
        return None if isclose(work, alone, rel_tol=ROUNDING) else f"on one worker it takes {work}"

    # --- its runs -----------------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        assert run is not None
        told = run.job.application
        if told is None or told.index is None:
            return
        key = event.job, run.copy.full
        time = self.times.get(key)
        if time is None:
            time = self.times[key] = self._time(told, run.copy.full)
        if not isclose(event.work, time, rel_tol=ROUNDING):
            why = f"on {run.copy.full} {event.job} takes {time!r}, not {event.work!r}"
            self.world.breaks(Law.DURATION, (seq,), why)

    def _time(self, told: ApplicationDescribed, size: int) -> float:
        """t_ij, of the nearest size that its table and the platform have."""
        pair = self.world.pack.pair if self.world.pack is not None else 1
        most = min(self.world.processors, len(told.times) or self.world.processors) // pair
        groups = min(max(size // pair, 1), most)
        sizes = np.array([float(groups * pair)])
        try:
            return float(durations(speedup(told), told.footprint, sizes)[0])
        except (ValueError, LookupError, ArithmeticError):
            return inf  # told when it was described


def _rule_problem(event: ApplicationDescribed, job: LoggedJob, pack: PackDescribed) -> str | None:
    """What of its period and its MTBF cannot be."""
    rule, rules = event.rule, job.protection
    mtbf, own = mtbf_of(pack, event), event.mtbf is not None or event.faultless
    fixed = rules.period if rules is not None else None
    if (event.period is None) is (rule is PeriodRule.FIXED) or (event.period or 1) <= 0:
        return "a period is told where it is fixed"
    if rule is PeriodRule.NONE:
        return "without checkpoints nothing is expected" if own or fixed is not None else None
    if rules is not None and rules.kind is ProtectionKind.NONE:
        return "it keeps no checkpoints"
    if fixed is not None and not isclose(fixed, event.period or fixed, rel_tol=ROUNDING):
        return f"its period is {fixed}"
    if rule is not PeriodRule.FIXED and mtbf == inf:
        return "formulas need an MTBF"
    twice = event.faultless and event.mtbf is not None
    if mtbf <= 0 or (own and (twice or mtbf == (inf if pack.mtbf is None else pack.mtbf))):
        return "an MTBF of its own is above 0, and not the pack's"
    return None
