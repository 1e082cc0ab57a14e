"""What the scheduler knows, kept up to date piece by piece."""

from hypothesis import given
from hypothesis import strategies as st

from actors.deciders.queue.state import QueueState
from actors.pool import Pool
from actors.runtime import VirtualTimeLoop
from policies.interface.queue import BatchJob, Queued
from policies.maths.speedup import Rigid

WIDEST = 6
PROCESSORS = 1000


def queued(index: int, processors: int) -> Queued:
    job = BatchJob(index, f"J{index}", Rigid(processors, 1))
    return Queued(job, processors, 1, (0, index))


@given(
    st.lists(st.integers(1, WIDEST), max_size=8),
    st.lists(st.integers(1, WIDEST) | st.floats(0, 1, exclude_max=True), max_size=20),
    st.booleans(),
)
def test_the_smallest_allotment_is_that_of_the_queue_whatever_comes_and_starts(
    at_once: list[int], later: list[int | float], always: bool
) -> None:
    loop = VirtualTimeLoop()
    state = QueueState(loop, Pool(PROCESSORS, numbered=False))
    state.enqueue_all([queued(index, width) for index, width in enumerate(at_once)])
    for index, step in enumerate(later, start=len(at_once)):
        if isinstance(step, int):
            state.enqueue(queued(index, step))
        elif state.queue:
            state.leave(state.queue[int(step * len(state.queue))])
        if always:
            assert state.least == least(state)
    assert state.least == least(state)
    loop.close()


def least(state: QueueState) -> int:
    return min((waiting.processors for waiting in state.queue), default=PROCESSORS + 1)
