"""The scheduling policy of every scenario: who is first, on which workers, from where."""

from __future__ import annotations

from tests.oracle.jobs import Job, State
from tests.oracle.words import Source


def by_nodes(free: list[int], processors: int, nodes: dict[int, int]) -> list[int]:
    """Whole nodes first; `nodes`: which node each worker is of, but for spares'."""
    taken: list[int] = []
    while len(taken) < processors:
        left = [q for q in free if q not in taken]
        taken += of_one_node(left, processors - len(taken), nodes) or left
    return taken[:processors]


def of_one_node(free: list[int], needed: int, nodes: dict[int, int]) -> list[int]:
    """A whole one, else of that with the fewest but enough; none where none has."""
    by_node = [[q for q in free if nodes[q] == node] for node in range(len(nodes))]
    sizes = [list(nodes.values()).count(node) for node in range(len(nodes))]
    for size, workers in zip(sizes, by_node, strict=True):
        if 0 < len(workers) == size <= needed:
            return workers
    enough = [workers for workers in by_node if len(workers) >= needed]
    return min(enough, key=len, default=[])[:needed]


def best_origin(job: Job) -> tuple[State | None, Source]:
    """Where a copy placed now begins: the master's image, or a run that is as far or further."""
    furthest = furthest_state(job) if job.cloning else None
    if furthest and (job.image is None or furthest.fraction >= job.image.fraction):
        return furthest, Source.CLONE
    return (job.image, Source.IMAGE) if job.image else (None, Source.SCRATCH)


def furthest_state(job: Job) -> State | None:
    """Of its runs under way, of equals that with the lowest worker; None where none has done any
    work."""
    runs = [group.run for group in job.copies_held if group.run and not group.run.still]
    furthest = max(runs, key=lambda run: (run.done, -min(run.members)), default=None)
    return State(furthest, furthest.done) if furthest and furthest.done > 0 else None


def by_priority(jobs: list[Job], order: str) -> list[Job]:
    """First come first served, longest or shortest processing time first; ties by index."""
    if order == "FCFS":
        return sorted(jobs, key=lambda job: (job.release, job.index))
    sign = -1 if order == "LPT" else 1
    return sorted(jobs, key=lambda job: (sign * job.time, job.index))
