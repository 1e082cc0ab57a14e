"""The clairvoyant optimum of a volatile scenario (002, section IV), and its policy beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from attrs import evolve, frozen

from actors.runtime import Record, stream
from actors.volatile.events import IterationCompleted
from policies.availability import WorkerState
from policies.maths.offline import (
    Bound,
    MostIterations,
    OfflineOptimum,
    earliest_end,
    most_iterations,
)
from sims.errors import InputError
from sims.scenario.loader import Scenario
from sims.scenario.volatile import VolatileScenario
from sims.telling import SLOT, counted
from sims.world import run


@frozen
class Reference:
    """What knowing the future would give, and what the scenario's policy got."""

    slots: int
    """How far the future is looked at."""
    first: OfflineOptimum
    """Earliest end of one iteration."""
    most: MostIterations
    """Iterations that fit into the slots."""
    policy_first: int | None
    """When the policy's first iteration ended; None: not within the slots."""
    policy_most: int
    exact: bool
    """Whether the scenario is one of 002, section IV (identical workers, free communication, mu of
    1 or at least m). Otherwise the optimum is of its relaxation: it bounds every policy."""

    def lines(self) -> Iterator[str]:
        """The reference for people."""
        kind = "optimum" if self.exact else "bound (free communication, fastest speed for all)"
        yield f"clairvoyant {kind} over {counted(self.slots, SLOT)}"
        policy = "-" if self.policy_first is None else self.policy_first
        yield f"  first iteration ends   {self._first()}, the policy's at {policy}"
        bounds = f"{self.most.lower}" if self.most.optimal else f"{self.most.lower} to "
        upper = "" if self.most.optimal else f"{self.most.upper} (time limit)"
        yield f"  iterations             {bounds}{upper}, the policy's {self.policy_most}"

    def _first(self) -> str:
        if self.first.upper is None:
            return "never" if self.first.optimal else f"not before {self.first.lower} (time limit)"
        if self.first.optimal:
            return f"at {self.first.upper}"
        return f"between {self.first.lower} and {self.first.upper} (time limit)"


def reference(
    scenario: Scenario, slots: int, time_limit: float, folder: Path = Path()
) -> Reference:
    """Work out the optimum on the availability that the scenario's seed realises.

    `time_limit`: seconds for each search. Raises InputError for another kind of scenario.
    """
    if not isinstance(scenario, VolatileScenario):
        problem = f"{scenario.job.kind!r} has no off-line optimum here"
        raise InputError("scenario", "job.kind", problem, "iterative")
    if scenario.failures.rate:
        problem = f"{scenario.failures.rate!r}: nobody can foresee silent errors"
        raise InputError("scenario", "failures.rate", problem, "0")
    states = realised(scenario, slots, folder)
    up, down = states == WorkerState.UP.value, states == WorkerState.DOWN.value
    tasks, speed, bound = scenario.job.tasks, fastest(scenario), memory(scenario)
    ends = list(_policy_ends(scenario, slots, folder))
    return Reference(
        slots,
        earliest_end(up, tasks, speed, bound, time_limit, down),
        most_iterations(up, tasks, speed, bound, time_limit, down),
        ends[0] if ends else None,
        len(ends),
        is_coupled(scenario),
    )


def realised(scenario: VolatileScenario, slots: int, folder: Path) -> np.ndarray:
    """Letters u, r, d: workers x slots, as the scenario's run meets them."""
    rows = []
    for worker in scenario.platform():
        rng = stream(scenario.seed, f"availability/{worker.name}")
        row = np.empty(slots, "U1")
        for time, state in worker.availability.changes(rng, folder):
            if time >= slots:
                break
            row[int(time) :] = state.value
        rows.append(row)
    return np.array(rows)


def fastest(scenario: VolatileScenario) -> int:
    """The least w_q: nobody does a task in fewer slots."""
    return min(worker.speed for worker in scenario.platform())


def memory(scenario: VolatileScenario) -> Bound:
    """mu = 1 where every worker holds one task; else no bound, which no memory exceeds."""
    ones = all(worker.memory == 1 for worker in scenario.platform())
    return Bound.ONE if ones else Bound.UNBOUNDED


def is_coupled(scenario: VolatileScenario) -> bool:
    """Whether the scenario is an OFF-LINE-COUPLED problem exactly."""
    workers, tasks = scenario.platform(), scenario.job.tasks
    alike = len({worker.speed for worker in workers}) == 1
    bounds = [tasks if worker.memory is None else worker.memory for worker in workers]
    free = scenario.master.program == scenario.master.data == 0
    return alike and free and (all(b == 1 for b in bounds) or all(b >= tasks for b in bounds))


def _policy_ends(scenario: VolatileScenario, slots: int, folder: Path) -> Iterator[int]:
    records: list[Record] = []
    endless = evolve(scenario.job, iterations=slots + 1, cap=slots + 1)
    run(evolve(scenario, job=endless), [records.append], folder)
    for record in records:
        if isinstance(record.event, IterationCompleted) and record.t <= slots:
            yield int(record.t)
