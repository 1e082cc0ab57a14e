"""Times as people write them."""

from __future__ import annotations

import pytest

from sims.errors import InputError
from sims.telling import Seconds, in_unit, seconds


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
