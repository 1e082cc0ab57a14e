"""Compare a policy with the clairvoyant optimum of a volatile scenario (volatile13, section IV)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from attrs import frozen

from actors.protection import ProtectionKind
from actors.runtime import stream
from policies.availability import WorkerState
from policies.maths.offline import Bound, MostIterations, OfflineOptimum, Search
from sims.errors import unfit
from sims.history.iterations import IterationRow
from sims.history.reader import History
from sims.scenario import Scenario
from sims.scenario.faults import NoFaults
from sims.scenario.jobs import IterativeSection
from sims.telling import SLOT, counted
from sims.world import run


@frozen
class Reference:
    """Comparison of an optimal schedule that knows the future with the scenario's policy on the
    same availability: when the first iteration ends, and how many iterations fit."""

    slots: int
    """Number of slots that are considered."""
    first: OfflineOptimum
    """Earliest end of one iteration."""
    most: MostIterations
    """Largest number of iterations that fit into the slots."""
    policy_first: int | None
    """Slot in which the policy's first iteration ended, or None if it did not."""
    policy_most: int
    """Number of iterations of the policy."""
    exact: bool
    """Whether the scenario is one of volatile13, section IV (identical workers, free communication,
    mu of 1 or at least m). Otherwise the optimum is that of its relaxation, which bounds every
    policy."""

    def lines(self) -> Iterator[str]:
        """Yield the comparison in lines for people."""
        kind = "optimum" if self.exact else "bound (free communication, fastest speed for all)"
        yield f"clairvoyant {kind} over {counted(self.slots, SLOT)}"
        policy = "-" if self.policy_first is None else self.policy_first
        yield f"  first iteration ends   {self._first()}, the policy's at {policy}"
        bounds = f"{self.most.lower}" if self.most.optimal else f"{self.most.lower} to "
        upper = "" if self.most.optimal else f"{self.most.upper} (time limit)"
        yield f"  iterations             {bounds}{upper}, the policy's {self.policy_most}"

    def _first(self) -> str:
        """Return the end of the first iteration, or its bounds, as text."""
        if self.first.upper is None:
            return "never" if self.first.optimal else f"not before {self.first.lower} (time limit)"
        if self.first.optimal:
            return f"at {self.first.upper}"
        return f"between {self.first.lower} and {self.first.upper} (time limit)"


def reference(
    scenario: Scenario, slots: int, time_limit: float, folder: Path = Path()
) -> Reference:
    """Compute the optimal schedules for the availability that the scenario's seed realises over
    `slots` slots, run the scenario's policy on the same, and return the comparison.

    `time_limit` is in seconds and holds for each of the two searches; a search that it ends leaves
    bounds. Files of the scenario are in `folder`. Raises InputError unless the scenario has one
    iterative job with its own number of tasks, on workers of fixed speeds, without silent errors
    and without protection.
    """
    tasks, workers = _tasks(scenario), list(scenario.full_platform)
    states = _realised(scenario, slots, folder)
    up, down = states == WorkerState.UP.value, states == WorkerState.DOWN.value
    bounds = {tasks if it.memory is None else it.memory for it in workers}
    # The relaxation gives every worker the fastest speed, and free communication.
    speeds, master = {it.task_time for it in workers}, scenario.master
    # mu = 1 where every worker holds one task; else no bound, which no memory exceeds
    memory = Bound.ONE if {it.memory for it in workers} == {1} else Bound.UNBOUNDED
    search = Search(up, tasks, int(min(speeds)), memory, time_limit, down)
    ends = _policy_ends(scenario, slots, folder)
    exact = (
        len(speeds) == 1
        and (master is None or master.program == master.data == 0)
        and isinstance(scenario.faults, NoFaults)
        and (bounds == {1} or min(bounds) >= tasks)
    )
    first, most = search.earliest_end(), search.most_iterations()
    return Reference(slots, first, most, ends[0] if ends else None, len(ends), exact)


def _tasks(scenario: Scenario) -> int:
    """Return the number of tasks m of the scenario's one job. Raises InputError where the optimum
    is not defined."""
    job, errors, rules = scenario.job, scenario.errors, scenario.protection
    if not isinstance(job, IterativeSection) or job.tasks is None:
        problem = f"{job.kind!r} has no off-line optimum here"
        raise unfit("job.kind", problem, "iterative, one job of its own `tasks`")
    for key, value in errors.given.items():
        if value:
            problem = f"{value!r}: nobody can foresee silent errors"
            raise unfit(f"errors.{key}", problem, "0")
    if rules.kind is not ProtectionKind.NONE:
        problem = f"{rules.kind.value!r}: the optimum starts again from scratch, this may go on"
        raise unfit("protection.kind", problem, ProtectionKind.NONE.value)
    if any(worker.varies for worker in scenario.full_platform):
        problem = "workers are of speeds of their own: tasks take no whole slots"
        raise unfit("workers.speed", problem, "workers.task_time")
    return job.tasks


def _realised(scenario: Scenario, slots: int, folder: Path) -> np.ndarray:
    """Return the states of the workers that a run of the scenario meets, as letters u, r, d in an
    array of workers x slots."""
    platform = scenario.within(folder).full_platform
    rows = np.empty((platform.size, slots), "U1")
    for k, row in enumerate(rows):
        rng = stream(scenario.seed, f"availability/{platform.name(k)}")
        for time, state in platform.changes(k, rng):
            if time >= slots:
                break
            row[int(time) :] = state.value
    return rows


def _policy_ends(scenario: Scenario, slots: int, folder: Path) -> list[int]:
    """Run the scenario with more iterations than fit, and return the slots, up to `slots`, in which
    iterations end."""
    history, rows = History(), list[IterationRow]()
    history.take(IterationRow, rows.append)
    assert isinstance(scenario.job, IterativeSection)
    endless = scenario.job.model_copy(update={"iterations": slots + 1, "cap": slots + 1})
    run(scenario.model_copy(update={"job": endless}), [history.apply], folder)
    return [int(it.end) for it in rows if it.end is not None and it.end <= slots]
