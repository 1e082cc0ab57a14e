"""Laws of job sizes."""

from __future__ import annotations

import numpy as np
import pytest

from policies.maths.sizes import (
    BoundedPareto,
    Deterministic,
    Exponential,
    Hyperexponential,
    SizeLaw,
)

LAWS: list[SizeLaw] = [
    Deterministic(2.0),
    Exponential(0.5),
    BoundedPareto(1.5, 0.5, 50.0),
    Hyperexponential((0.9, 0.1), (0.5, 5.5)),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_a_law_s_mean_is_that_of_what_it_draws(law: SizeLaw) -> None:
    sizes = law.draw(np.random.default_rng(5), 50_000)
    assert sizes.mean() == pytest.approx(law.mean, abs=4 * sizes.std() / np.sqrt(50_000) + 1e-12)
    assert (sizes > 0).all()


def test_impossible_laws_are_refused() -> None:
    with pytest.raises(ValueError, match="low < high"):
        BoundedPareto(1.5, 2.0, 1.0)
    with pytest.raises(ValueError, match="sum to 1"):
        Hyperexponential((0.5, 0.6), (1.0, 2.0))
    with pytest.raises(ValueError, match="one mean"):
        Hyperexponential((1.0,), (1.0, 2.0))


def test_the_mean_of_a_pareto_law_goes_through_the_logarithm_at_an_exponent_of_one() -> None:
    at_one = BoundedPareto(1.0, 0.5, 50.0).mean
    for near in (1 - 1e-7, 1 + 1e-7):
        assert BoundedPareto(near, 0.5, 50.0).mean == pytest.approx(at_one, rel=1e-6)
