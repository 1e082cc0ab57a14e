"""Events, numbers and times in words."""

from __future__ import annotations

import pytest
from attrs import frozen

from actors.events import CopiesSettled, Outcome, RunEnded
from actors.runtime import Event
from sims.durations import Seconds, in_unit, seconds
from sims.errors import InputError
from sims.telling import amount_of, counted, event_text, in_units, list_pairs, moment, time_axis
from tests.sims.kinds import records_of


def test_events_are_reported_with_the_words_of_the_log() -> None:
    assert event_text(RunEnded("a job", 3, Outcome.LOST, 2.5)) == (
        "RunEnded: job a job, run 3, outcome lost, done 2.5"
    )


def test_a_text_of_a_users_own_event_is_shown_whole_and_a_whole_scenario_by_its_lines() -> None:
    @frozen
    class Noted(Event):
        text: str

    assert event_text(Noted("one\ntwo\n")) == r"Noted: text one\ntwo\n"
    (started, *_) = records_of("figure1")
    assert "text (" in event_text(started.event)
    assert " lines)" in event_text(started.event)


def test_columns_are_reported_by_their_first_values_and_their_length() -> None:
    many = tuple(map(float, range(9)))
    assert event_text(CopiesSettled(("a",), (0,), (9,), many, (None,))) == (
        "CopiesSettled: jobs (a), runs (0), copies (9), "
        "done (0 1 2 3 4 5 6 7 ... 9 in all), completed (None)"
    )


def test_pairs_are_printed_in_columns_and_no_pairs_are_no_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    list_pairs([])
    list_pairs([("a", "one"), ("bcd", "two")], "  ")
    assert capsys.readouterr().out == "  a    one\n  bcd  two\n"


@pytest.mark.parametrize(
    ("number", "told_so"),
    [
        (0, "0 jobs"),
        (1, "1 job"),
        (2, "2 jobs"),
        (13_500, "13,500 jobs"),
        (1.0, "1 job"),
        (1.0000001, "1.0000001 jobs"),
        (12_345_678_901, "12,345,678,901 jobs"),
    ],
)
def test_a_count_of_one_is_printed_in_the_singular(number: float, told_so: str) -> None:
    assert counted(number, "job") == told_so


def test_a_plural_of_its_own_is_used_where_it_is_given() -> None:
    assert [counted(k, "copy", "copies") for k in (1, 3)] == ["1 copy", "3 copies"]
    assert counted(1.0000001, "copy", "copies", digits=6) == "1 copy"


def test_slots_have_a_plural_and_symbols_of_units_have_none() -> None:
    assert [in_units(1, "slot"), in_units(16, "slot")] == ["1 slot", "16 slots"]
    assert in_units(16.5, "s") == "16.5 s"
    assert [time_axis("slot"), time_axis("s")] == ["time, slots", "time, s"]


@pytest.mark.parametrize(
    ("time", "length", "clock"),
    [
        (12.25, "12.25 s", "12.25 s"),
        (3599.5, "3,599.5 s", "3,599.5 s"),
        (3600, "1 h", "1:00:00"),
        (3725.5, "1 h 2 min 5.5 s", "1:02:05.5"),
        (86_399.999, "1 d", "1 d 0:00:00"),
        (5.914e6, "68 d 10 h 46 min 40 s", "68 d 10:46:40"),
        (100_000_000, "1,157 d 9 h 46 min 40 s", "1,157 d 9:46:40"),
        (1e300, "1e+300 s", "1e+300 s"),
    ],
)
def test_seconds_are_reported_as_people_read_them(time: float, length: str, clock: str) -> None:
    assert (in_units(time, "s"), moment(time, "s")) == (length, clock)


def test_slots_are_reported_with_separators() -> None:
    assert in_units(5_914_000, "slot") == moment(5_914_000, "slot") == "5,914,000 slots"


@pytest.mark.parametrize("time", [3600, 3725.5, 5.914e6, 100_000_000.25])
def test_a_clock_is_read_back(time: float) -> None:
    assert seconds(moment(time, "s")) == time


def test_large_amounts_are_reported_in_full() -> None:
    assert amount_of(15_425_373_168.5) == "15,425,373,168"
    assert amount_of(1_234_567.5, digits=6) == "1,234,568"
    assert amount_of(0.000123456789, digits=6) == "0.000123457"


# --- times as people write them ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("90 s", 90),
        ("0.5s", 0.5),
        ("7d", 604_800),
        ("2 h 30 min", 9000),
        ("2h30min", 9000),
        (" 1,157 d 9 h 46 min 40 s ", 100_000_000),
        ("3 d 10:46:40", 297_998 + 2),
        ("10:46", 38_760),
    ],
)
def test_a_time_that_names_its_units_is_in_seconds(text: str, time: float) -> None:
    assert seconds(text) == time
    assert isinstance(seconds(text), Seconds)


@pytest.mark.parametrize(
    ("text", "time"), [("150", 150), ("1e6", 1e6), ("3,020", 3020), ("-1", -1)]
)
def test_a_plain_number_is_of_whatever_unit_is_meant(text: str, time: float) -> None:
    assert seconds(text) == time
    assert not isinstance(seconds(text), Seconds)


@pytest.mark.parametrize(
    "text", ["", "s", "soon", "3 weeks", "30 min 2 h", "1 s 2 s", "-3 d", "1.2.3 s", "inf", "nan"]
)
def test_another_text_is_no_time(text: str) -> None:
    with pytest.raises(ValueError):
        seconds(text)


def test_seconds_say_nothing_of_slots() -> None:
    assert type(in_unit(Seconds(90), "--until", lambda: "s")) is float
    assert in_unit(150.0, "--until", lambda: "slot") == 150
    assert in_unit(None, "--until", lambda: "slot") is None
    with pytest.raises(InputError, match="--until: 90 s, but time is in slots; accepted: a number"):
        in_unit(Seconds(90), "--until", lambda: "slot")
