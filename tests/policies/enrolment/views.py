"""One instant as an enrolment policy sees it, written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from attrs import field, frozen
from hypothesis import strategies as st

from policies.interface import Configuration, Enrolment, Reason, RunningView
from policies.maths.markov import Belief, Expectation, MarkovChain, workers_of

STEADY = MarkovChain(((0.98, 0.01, 0.01), (0.5, 0.5, 0.0), (0.1, 0.1, 0.8)))
FLEETING = MarkovChain(((0.8, 0.1, 0.1), (0.3, 0.6, 0.1), (0.1, 0.1, 0.8)))
NAMES = ["IP", "IE", "IY", "IAY"]


def enrolment(
    chains: Sequence[MarkovChain],
    speeds: Sequence[int],
    tasks: int,
    bounds: Sequence[int] | None = None,
    expectation: Expectation = Expectation.EXACT,
) -> Enrolment:
    return Enrolment(
        speeds=tuple(speeds),
        bounds=tuple(bounds or [tasks] * len(speeds)),
        tasks=tasks,
        channels=2,
        program=3,
        data=1,
        belief=Belief(chains, expectation),
    )


@frozen
class Running:
    """A configuration that has come so far."""

    configuration: Configuration
    work_left: int
    lacking: tuple[int, ...]

    def missing(self) -> Sequence[int]:
        return self.lacking


@frozen
class View:
    """What a policy sees, written down; workers hold no data but what `held` says."""

    enrolment: Enrolment
    up: int
    programmed: int = 0
    elapsed: int = 0
    reason: Reason = Reason.START
    running: RunningView | None = None
    held: dict[int, int] = field(factory=dict)
    """Slots of data that a worker holds."""

    def missing(self, worker: int, tasks: int) -> int:
        program = 0 if self.programmed >> worker & 1 else self.enrolment.program
        return program + max(0, tasks * self.enrolment.data - self.held.get(worker, 0))


def ask(policy: Callable[..., Configuration | None], view: View) -> Configuration | None:
    return policy(view, np.random.default_rng(0))


@st.composite
def views(draw: st.DrawFn) -> View:
    """Up to five workers of two decimals, some UP, some with the program or data."""
    workers = draw(st.integers(1, 5))
    chains = [draw(st.sampled_from([STEADY, FLEETING])) for _ in range(workers)]
    tasks = draw(st.integers(1, 5))
    asked = enrolment(
        chains,
        [draw(st.integers(1, 6)) for _ in range(workers)],
        tasks,
        [draw(st.integers(0, tasks)) for _ in range(workers)],
        draw(st.sampled_from(Expectation)),
    )
    masks = st.integers(0, (1 << workers) - 1)
    held = {q: draw(st.integers(0, 3)) for q in workers_of(draw(masks))}
    return View(asked, draw(masks), draw(masks), draw(st.integers(0, 40)), held=held)
