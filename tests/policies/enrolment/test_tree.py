"""What the tree of assignments promises to those who look no further (volatile13, section VI)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.enrolment.tree import Criterion, Tree
from policies.maths.markov import workers_of
from tests.policies.enrolment.views import STEADY, View, enrolment, views


@given(views(), st.data(), st.sampled_from(Criterion), st.integers(1, 40))
def test_no_assignment_of_all_tasks_betters_the_ceilings_of_those_that_it_goes_on_from(
    view: View, data: st.DataObject, criterion: Criterion, elapsed: int
) -> None:
    enrolment = view.enrolment
    tree = Tree(criterion, enrolment)
    whole, parts = tree.root(), []
    for _ in range(enrolment.tasks):
        room = [q for q in workers_of(view.up) if whole.tasks.get(q, 0) < enrolment.bounds[q]]
        if not room:
            return
        worker = data.draw(st.sampled_from(room))
        program = 0 if view.programmed >> worker & 1 else enrolment.program
        tasks = whole.tasks.get(worker, 0) + 1
        whole = tree.add(whole, (worker, program + tasks * enrolment.data))
        parts.append(whole)
    log_success, duration = tree.value(whole)
    for part in parts:
        best_success, shortest = tree.ceiling(part)
        assert log_success <= best_success + 1e-9
        assert duration >= shortest - 1e-9
        score = criterion.score(log_success, duration, elapsed)
        assert score <= criterion.score(best_success, shortest, elapsed) + 1e-9
    assert tree.ceiling(whole)[0] == pytest.approx(log_success)


@pytest.mark.parametrize("criterion", Criterion)
def test_where_every_worker_is_full_there_is_no_best_one(criterion: Criterion) -> None:
    tree = Tree(criterion, enrolment([STEADY], [1], 1))
    with pytest.raises(ValueError, match="no worker left to assign a task to"):
        tree.best(tree.root(), [], 1)
