"""Events in words."""

from __future__ import annotations

from actors.events import Outcome, RunEnded
from actors.redundant.events import CopiesSettled
from sims.telling import told


def test_events_are_told_with_the_words_of_the_log() -> None:
    assert told(RunEnded("a job", 3, Outcome.LOST)) == "RunEnded: job a job, run 3, outcome lost"


def test_columns_are_told_by_their_first_values_and_their_length() -> None:
    many = tuple(map(float, range(9)))
    assert told(CopiesSettled(("a",), (0,), (9,), many, (8,), ())) == (
        "CopiesSettled: jobs (a), runs (0), copies (9), "
        "progress (0 1 2 3 4 5 6 7 ... 9 in all), furthest (8), completed ()"
    )
