"""The log's documentation is what the classes of events say."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import frozen

from actors.events import VOCABULARY
from actors.runtime import Event
from sims.history.rows import Use
from sims.tables.fields import attribute_docs
from sims.vocabulary import BEGIN, END, enums, fields, main, renewed

README = Path(__file__).parents[2] / "logs" / "README.md"


def test_the_logs_readme_is_up_to_date() -> None:
    """Else: `python -m sims.vocabulary logs/README.md`."""
    assert README.read_text() == renewed(README.read_text())


def test_the_logs_readme_shows_every_value_of_a_closed_set() -> None:
    for kind in (Use, *enums()):
        told = README.read_text().partition(f"**{kind.__name__}**")[2].partition("**")[0]
        assert all(f"- `{member.value}`" in told for member in kind), kind
    assert all(attribute_docs(Use)[use.name] for use in Use)


def test_every_field_of_an_event_says_its_unit_and_what_it_means() -> None:
    every = (field for kind in VOCABULARY for field in fields(kind))
    assert all(it.unit and it.meaning and it.type for it in every)


def test_a_number_without_a_unit_and_a_field_without_a_meaning_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Bare\.count has no unit"):
        fields(Bare)
    with pytest.raises(TypeError, match=r"nothing tells what Mute\.word means"):
        fields(Mute)


@frozen
class Bare(Event):
    """Counts."""

    count: tuple[int, ...]
    """Of what?"""


@frozen
class Mute(Event):
    """Says."""

    word: str


def test_what_is_around_the_marks_stays() -> None:
    text = renewed(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "\nold\n" not in text and "`RunStarted`" in text


def test_it_is_printed_where_no_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "| `worker` | whole number |" in capsys.readouterr().out


def test_a_file_without_marks_is_refused_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "notes.md"
    file.write_text("mine\n")
    assert main([str(file)]) == 2
    assert "vocabulary: begin" in capsys.readouterr().err
    assert file.read_text() == "mine\n"
