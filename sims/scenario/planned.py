"""A job that takes checkpoints, in numbers that can be told before it runs."""

from __future__ import annotations

from math import ceil
from typing import Self

from attrs import evolve, frozen

from actors.protection import ProtectionKind, Rules
from actors.protection.rules import on
from policies.maths.speedup import Asking
from policies.maths.tolerance import ROUNDING
from sims.scenario import Scenario
from sims.scenario.jobs import IterativeEntry
from sims.scenario.submissions import Submission, period_on


@frozen
class Planned:
    """A job that takes checkpoints, with the rules of its protection, about which numbers can be
    told before it runs."""

    scenario: Scenario
    submission: Submission
    rules: Rules

    @classmethod
    def of(cls, scenario: Scenario, submission: Submission) -> Self:
        """Return the submitted job together with the rules of its own protection, or else of the
        file's.

        Raises InputError for a period that no formula gives.
        """
        return cls(scenario, submission, submission.rules(scenario))

    @property
    def members(self) -> int:
        """Number of workers of a run: those that the job requests, or as many as it can use."""
        return self.submission.size(self.scenario.full_platform.able)

    @property
    def work(self) -> float:
        """Time that the job's work takes on its members at speed 1 if nothing happens to it, time
        units."""
        since, until = self.submission.span(self.scenario.full_platform.able)
        return until - since

    @property
    def period(self) -> float:
        """Work between two checkpoints, time units."""
        return period_on(self.rules, self.members)

    @property
    def rounds(self) -> int:
        """Number of iterations, each of which is work of its own, with checkpoints of its own."""
        own = self.submission.own
        return own.iterations if isinstance(own, IterativeEntry) else 1

    @property
    def each(self) -> int:
        """Number of checkpoints in each iteration, or of the job without iterations.

        None is begun when no work would be left after it (rule P7).
        """
        if not self.period:  # the state is always saved
            return 0
        return max(ceil(self.work / self.rounds / self.period * (1 - ROUNDING)) - 1, 0)

    @property
    def checkpoints(self) -> int:
        """Number of checkpoints that the job takes if nothing happens to it.

        None is begun when no work would be left after it (rule P7).
        """
        return self.rounds * self.each

    @property
    def images(self) -> int:
        """Number of checkpoints that are stored as images: all, or each k-th under buddies."""
        if self.rules.kind is ProtectionKind.IMAGES:
            return self.checkpoints
        every = self.rules.images_every
        return self.rounds * (self.each // every) if every else 0

    @property
    def molds(self) -> bool:
        """Whether the policy decides how many workers the job gets."""
        return not isinstance(self.submission.job.profile, Asking)

    @property
    def stored(self) -> float:
        """Time to store one checkpoint as images if the job has the master's channels, or the
        storage, for itself."""
        rules, scenario, members = self.rules, self.scenario, self.members
        if scenario.storage is not None and rules.bytes is not None:
            return scenario.storage.time(rules.bytes, members)
        if rules.image is not None and scenario.master is not None:
            return ceil(members / scenario.master.channels) * rules.image
        images = rules.kind is ProtectionKind.IMAGES
        return on(rules.cost, members) if images else rules.image_cost

    @property
    def spent(self) -> float:
        """Time that all checkpoints take, with the verifications before them."""
        rules = self.rules
        buddies = rules.kind is not ProtectionKind.IMAGES
        each = on(rules.cost, self.members) * buddies + rules.verification * rules.verified
        return self.checkpoints * each + self.images * self.stored

    def by(self, formula: str) -> float:
        """Return the period, work between two checkpoints, that the formula `young` or `daly` gives
        for the job. Raises InputError where it gives none."""
        section = self.submission.protection.model_copy(update={"period": formula})
        return Planned.of(self.scenario, evolve(self.submission, protection=section)).period
