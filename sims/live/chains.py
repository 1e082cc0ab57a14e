"""What live processes compute: chains of hashes, whose end tells whether any step was lost.

The state of a job is that of its chains, one for each processor that it asks for or for each task;
members of a run divide them among themselves. The k-th step of a chain is a function of its state
and of k, and each iteration's chains begin from all results of the last one: work that is lost,
done in another order or restored from a wrong state gives another answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256

from attrs import define, field

State = tuple[int, bytes]
"""Steps done, and what a chain is then."""
States = Mapping[int, State]
"""By chain."""
Advance = Callable[[bytes, int], bytes]
"""(state, number of the step) -> the next state."""


def hashed(state: bytes, unit: int) -> bytes:
    """The default step."""
    return sha256(state + unit.to_bytes(8, "big")).digest()


def beginning(job: str, count: int) -> dict[int, State]:
    """The chains of a job before any work."""
    return {chain: (0, sha256(f"{job}/{chain}".encode()).digest()) for chain in range(count)}


def following(results: States) -> dict[int, State]:
    """The chains of the next iteration."""
    answer = digest(results)
    return {chain: (0, sha256(answer + bytes(str(chain), "ascii")).digest()) for chain in results}


def digest(results: States) -> bytes:
    """The answer: one hash of all chains' ends."""
    return sha256(b"".join(state for _, (_, state) in sorted(results.items()))).digest()


@define(eq=False)
class Work:
    """The work of one job."""

    job: str
    chains: int
    steps: int
    """Of each chain, in each iteration."""
    begins: dict[int, State] = field(init=False)
    """The chains before the present iteration."""
    iteration: int = field(init=False, default=0)
    results: States = field(init=False, factory=dict)
    """Of the last run that completed."""
    saved: dict[int, States] = field(init=False, factory=dict)
    """Checkpoints that the master keeps, by the run that sent them."""

    def __attrs_post_init__(self) -> None:
        self.begins = beginning(self.job, self.chains)

    def at(self, part: float) -> int:
        """Steps done where this part of the work is."""
        return self.steps if part >= 1 - 1e-9 else int(part * self.steps + 1e-9)

    def iterate(self) -> None:
        """The iteration is over."""
        self.begins, self.iteration = following(self.results), self.iteration + 1
        self.saved.clear()

    def is_right(self, advance: Advance) -> bool:
        """Whether the results are those of one process that computes straight on."""
        states = beginning(self.job, self.chains)
        for it in range(self.iteration or 1):
            states = following(states) if it else states
            states = {chain: (self.steps, state) for chain, state in self._ends(states, advance)}
        return states == self.results

    def _ends(self, states: States, advance: Advance) -> Iterable[tuple[int, bytes]]:
        for chain, (_, state) in states.items():
            for unit in range(self.steps):
                state = advance(state, unit)
            yield chain, state
