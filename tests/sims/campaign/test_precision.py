"""Runs are added until the interval of a comparison is narrow enough."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import holdfast
import pytest

from sims.campaign.certainty import precision_of
from sims.campaign.door import CALL
from sims.campaign.sections import Precision
from sims.errors import InputError
from sims.intervals import Sample, interval
from tests.coverage.looks import LAWS, share
from tests.sims.cli.commands import Shell

SCENARIO = """name = "study"
unit = "s"

[platform]
workers = 8

[job]
kind = "rigid"
jobs = [{ processors = 8, time = 1000 }]

[protection]
kind = "images"
period = 50
cost = 2
recovery = 3

[faults]
kind = "exponential"
mtbf = 2000
downtime = 5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(SCENARIO)
    return path


@pytest.mark.parametrize("law", LAWS)
def test_intervals_that_are_looked_at_until_they_are_narrow_cover_the_truth(law: str) -> None:
    """60 studies: at a coverage of 95 %, fewer than 51 are seen once in 4,000 times."""
    assert share(law, 60, relative=0.08, growth=3) >= 51 / 60


def test_runs_are_added_until_the_interval_of_the_ratio_is_narrow(file: Path) -> None:
    table = holdfast.compare(file, {"protection.period": [50, 200]}, seed=1, precision="5%")
    [cell] = table.comparisons()
    effect = cell.lines[1].effect
    assert effect is not None
    assert effect.half <= 0.05 * effect.mean
    assert 10 < len(cell.lines[0].runs) == len(cell.lines[1].runs) < 1000


def test_a_look_computes_the_intervals_that_it_reads_and_is_taken_once(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bootstrap takes longer than many a run: intervals of means are computed when they are
    printed."""
    sizes = list[int]()

    def counted(sample: Sample, level: float, chancy: bool) -> tuple[float, float]:
        sizes.append(len(sample))
        return interval(sample, level, chancy)

    monkeypatch.setattr("sims.intervals.interval", counted)
    table = holdfast.compare(file, {"protection.period": [50, 100, 200]}, seed=1, precision="5%")
    computed = sizes.copy()  # what is printed comes later, and is not of the looks
    ran = len(table.comparisons()[0].lines[0].runs)
    looks = [it for it in Precision(relative=0.05).looks() if it <= ran]
    assert len(looks) > 2
    assert computed == sorted(computed)
    assert set(computed) == set(looks)
    assert max(Counter(computed).values()) <= 2


def test_a_number_is_the_half_width_in_the_effects_own_unit(file: Path) -> None:
    vary = {"protection.period": [50, 200]}
    table = holdfast.compare(file, vary, seed=1, precision=80, difference=True)
    line = table.comparisons()[0].lines[1]
    assert line.effect is not None
    assert line.effect.half <= 80
    assert 10 < len(line.runs) < 1000


def test_a_comparison_that_stays_wide_ends_at_the_most_runs_and_says_so(file: Path) -> None:
    table = holdfast.compare(
        file, {"protection.period": [50, 60]}, seed=1, precision="0.01%", most=20
    )
    assert len(table.comparisons()[0].lines[0].runs) == 20
    assert "20 runs were not enough" in " ".join(table.notes)


def test_a_comparison_in_which_nothing_is_random_ends_at_the_first_look(file: Path) -> None:
    table = holdfast.compare(
        file, {"protection.cost": [1, 2]}, changes={"faults": "none"}, precision="1%"
    )
    assert len(table.comparisons()[0].lines[0].runs) == 10


def test_the_command_adds_runs_and_goes_on_from_its_store(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shell = Shell(tmp_path, capsys)
    words = ["compare", "study.toml", "--vary", "protection.period=50,200", "--precision", "4%"]
    first = shell(*words, "--json", "--store", "kept")
    again = shell(*words, "--json", "--store", "kept")
    assert first.code == 0, first.err
    found = json.loads(first.out)
    assert len(found["seeds"]) == len(found["variants"][0]["runs"]) > 10
    assert again.out == first.out


@pytest.mark.parametrize("word", ["narrow", "0%", "-1", "nan"])
def test_a_width_that_is_none_is_refused(word: str) -> None:
    with pytest.raises(InputError, match="call: precision: "):
        precision_of(word, 10, 1000, CALL)


def test_fewer_runs_at_most_than_at_first_are_refused() -> None:
    with pytest.raises(InputError, match="call: most: "):
        precision_of("1%", 10, 5, CALL)
