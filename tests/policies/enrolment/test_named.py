"""The paper's names, and what they choose first in the cases (volatile13, section VI)."""

from __future__ import annotations

import pytest

from policies.enrolment import Criterion, Incremental, Proactive, named


@pytest.mark.parametrize("criterion", Criterion)
@pytest.mark.parametrize("heuristic", Criterion)
def test_every_pair_of_the_paper_has_its_name(criterion: Criterion, heuristic: Criterion) -> None:
    expected = Proactive(criterion, Incremental(heuristic))
    assert named(f"{criterion.value}-I{heuristic.value}") == expected


@pytest.mark.parametrize("name", ["", "ie", "E", "E-", "-IE", "IX", "E-RANDOM", "IE-IE", "E-IE-IE"])
def test_an_unknown_name_is_refused_with_what_is_accepted(name: str) -> None:
    with pytest.raises(ValueError, match=r"accepted: IP, IE, IY, IAY, RANDOM, or C-H"):
        named(name)
