"""What a user's allocation or redistribution does wrong is told by its name."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from actors.deciders.pack.checks import allocate, redistribute
from actors.deciders.pack.state import Candidate, NewApplication, Occasion, Pack
from actors.decisions import BadDecision
from policies.interface.pack import Cause, Resize
from policies.maths.cosched import Link, costs

COSTS = costs(np.array([4.0, 3.0, 2.0]), 8, 2, Link(), None)
"""On 2, 4 and 6 processors."""
PACK = Pack(2, 8, [NewApplication(0, 0, COSTS), NewApplication(1, 0, COSTS)])
HERE = r"policy tests\.actors\.deciders\.pack\.test_pack_checks:"


def event() -> Occasion:
    """Applications 0 and 2 hold two and four processors; two more are idle."""
    candidates = [Candidate(0, 2, COSTS, 5.0, 1.0, 9.0), Candidate(2, 4, COSTS, 5.0, 1.0, 8.0)]
    return Occasion(5.0, Cause.END, None, 2, 2, 9.0, lambda: candidates)


class Scripted:
    """Answers what it was made with."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def __call__(self, view):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "an answer is 2 sizes, one for each application"),
        (4, "an answer is 2 sizes, one for each application"),
        ([2], "an answer is 2 sizes, one for each application"),
        ([2, 3], "a size is a whole number of processors, a positive multiple of 2"),
        ([2, 0], "a size is a whole number of processors, a positive multiple of 2"),
        ([2.0, 2.0], "a size is a whole number of processors, a positive multiple of 2"),
        ([2, math.nan], "a size is a whole number of processors, a positive multiple of 2"),
        ([8, 2], "application 0 has times for 6 processors at most"),
        (np.array([4, 6]), "the sizes take 10 processors in all; there are 8"),
    ],
)
def test_an_allocation_that_cannot_be_is_refused(answer: object, problem: str) -> None:
    seen = r"; it saw 2 applications, 8 processors in groups of 2"
    with pytest.raises(BadDecision, match=rf"{HERE}Scripted answered .*: {problem}{seen}"):
        allocate(Scripted(answer), PACK)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "an answer is a sequence of Resize"),
        (Resize(0, 4), "an answer is a sequence of Resize"),
        ([(0, 4)], "an answer is a sequence of Resize"),
        ([Resize(1, 4)], "application 1 is no candidate"),
        ([Resize(None, 4)], "application -1 is no candidate"),
        ([Resize(0, 4), Resize(0, 2)], "an application is resized twice"),
        ([Resize(0, 3)], "a size is a whole number of processors"),
        ([Resize(0, 4.0)], "a size is a whole number of processors"),
        ([Resize(2, 8)], "application 2 has times for 6 processors at most"),
        ([Resize(0, 6)], "it gives 4 more processors, and 2 are idle"),
    ],
)
def test_a_redistribution_that_cannot_be_is_refused(answer: object, problem: str) -> None:
    seen = r"it saw now = 5\.0, Cause\.END, faulty = None, 2 idle, candidates .* 0 \(2\), 2 \(4\)"
    with pytest.raises(BadDecision, match=rf"{HERE}Scripted answered .*: {problem}.*; {seen}"):
        redistribute(Scripted(answer), event())


def test_good_answers_are_plain_numbers_in_the_order_of_applications() -> None:
    assert allocate(Scripted(np.array([4, 4])), PACK) == [4, 4]
    resizes = redistribute(Scripted(iter([Resize(2, np.int64(2)), Resize(0, 6)])), event())
    assert resizes == [Resize(0, 6), Resize(2, 2)]
    assert type(resizes[1].size) is int
    assert redistribute(Scripted(()), event()) == []


def yields(view) -> Iterator[Resize]:
    yield Resize(0, 2)
    raise RuntimeError("boom")


def test_an_error_inside_is_reported_with_its_place_even_in_a_generator() -> None:
    place = rf"\(test_pack_checks\.py, line {yields.__code__.co_firstlineno + 2}\)"
    with pytest.raises(BadDecision, match=rf"^{HERE}yields raised RuntimeError: boom {place}$"):
        redistribute(yields, event())


def no_view() -> list[int]:
    return []


def test_a_policy_that_cannot_be_called_so_is_reported_with_where_it_is_defined() -> None:
    place = rf"\(test_pack_checks\.py, line {no_view.__code__.co_firstlineno}\)"
    with pytest.raises(BadDecision, match=rf"no_view raised TypeError: .* {place}$"):
        allocate(no_view, PACK)
