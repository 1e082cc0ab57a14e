"""Where copies go that are more than workers."""

from __future__ import annotations

import numpy as np

from actors.deciders.copies.placement import PlacementRule, Placer
from policies.interface.copies import CopyAllocation


def test_each_layer_of_copies_has_a_permutation_of_its_own() -> None:
    """Five jobs of one copy fill the workers, five more fill them again: both layers have every
    worker, in orders that agree once in 120 times only."""
    placer = Placer(np.arange(5), PlacementRule.UNIFORM, np.random.default_rng(0))
    ones = CopyAllocation(np.arange(10), np.ones(10, dtype=int), share=0.5)
    alike = 0
    for _ in range(50):
        workers = placer.place(ones, [str(k) for k in range(10)]).tolist()
        assert sorted(workers[:5]) == sorted(workers[5:]) == list(range(5))
        alike += workers[:5] == workers[5:]
    assert alike <= 5


def test_a_job_that_reaches_into_the_next_layer_gives_all_layers_one_permutation() -> None:
    placer = Placer(np.arange(4), PlacementRule.UNIFORM, np.random.default_rng(0))
    across = CopyAllocation(np.arange(4), np.array([1, 1, 4, 2]), share=0.5)
    for _ in range(50):
        workers = placer.place(across, list("abcd")).tolist()
        assert workers[:4] == workers[4:]
