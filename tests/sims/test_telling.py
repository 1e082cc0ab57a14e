"""Events in words."""

from __future__ import annotations

import pytest

from actors.events import CopiesSettled, Outcome, RunEnded
from sims.telling import counted, in_units, time_axis, told


def test_events_are_told_with_the_words_of_the_log() -> None:
    assert told(RunEnded("a job", 3, Outcome.LOST, 2.5)) == (
        "RunEnded: job a job, run 3, outcome lost, done 2.5, kept False"
    )


def test_columns_are_told_by_their_first_values_and_their_length() -> None:
    many = tuple(map(float, range(9)))
    assert told(CopiesSettled(("a",), (0,), (9,), many, (None,))) == (
        "CopiesSettled: jobs (a), runs (0), copies (9), "
        "done (0 1 2 3 4 5 6 7 ... 9 in all), completed (None)"
    )


@pytest.mark.parametrize(
    ("number", "told_so"),
    [
        (0, "0 jobs"),
        (1, "1 job"),
        (2, "2 jobs"),
        (13_500, "13,500 jobs"),
        (1.0, "1 job"),
        (1.5, "1.5 jobs"),
        (12_345_678_901, "12,345,678,901 jobs"),
    ],
)
def test_one_of_a_thing_is_told_in_the_singular(number: float, told_so: str) -> None:
    assert counted(number, "job") == told_so


def test_a_plural_of_its_own_is_used_where_it_is_given() -> None:
    assert [counted(k, "copy", "copies") for k in (1, 3)] == ["1 copy", "3 copies"]


def test_a_number_that_reads_1_is_told_in_the_singular() -> None:
    assert counted(1.0000001, "job", digits=6) == "1 job"
    assert counted(1.0000001, "job") == "1.0000001 jobs"


def test_slots_have_a_plural_and_symbols_of_units_have_none() -> None:
    assert [in_units(1, "slot"), in_units(16, "slot")] == ["1 slot", "16 slots"]
    assert in_units(16.5, "s") == "16.5 s"
    assert [time_axis("slot"), time_axis("s")] == ["time, slots", "time, s"]
