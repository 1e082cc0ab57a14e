"""Spot-instance traces from end to end: three made-up zones, checked by hand.

A tick lasts 120 s, two slots. Zone a has no instance in slots 12 to 15, b none in 0 to 3 and 22 to
23, c none in 6 to 13; a and b crash then, c is suspended.
"""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path

import pytest

from actors.events import WorkerChanged
from actors.runtime import Record
from sims.scenario.loader import load
from sims.trace.span import Span
from sims.trace.tale import Tale
from sims.world import run
from tests.sims.activity import Activity

ZONES = Path(__file__).parents[2] / "data" / "zones"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of scenario and traces, to change."""
    return Path(shutil.copytree(ZONES, tmp_path / "zones"))


def records(folder: Path, *overrides: str) -> list[Record]:
    seen: list[Record] = []
    run(load(folder / "three-zones.toml", overrides), [seen.append], folder)
    return seen


def letters(seen: list[Record]) -> dict[str, str]:
    return Activity.of(seen).rows


def test_three_zones_slot_by_slot() -> None:
    """At 12 a is lost while c is suspended: c keeps its program; at 22 b is lost with 6 of 8."""
    assert letters(records(ZONES)) == {
        "a": "PPDIIIIIIIII" + "." * 10 + "PPDICCCC" + "DICCCC" * 2,
        "b": "." * 12 + "PPDDCCCCCC" + "." * 20,
        "c": "IIIPPD" + "." * 16 + "IIIDCCCC" + "IDCCCC" * 2,
    }


def test_a_zone_whose_preemptions_are_crashes_loses_its_program_too(folder: Path) -> None:
    rows = letters(records(folder, 'workers.2.availability.states.0="d"'))
    assert rows["c"].count("P") == 4


def test_traces_may_be_packed(folder: Path) -> None:
    plain = records(folder)
    for zone in folder.glob("zone-*.json"):
        with lzma.open(f"{zone}.xz", "wb") as packed:
            packed.write(zone.read_bytes())
        zone.unlink()
    names = [f'workers.{k}.availability.file="zone-{z}.json.xz"' for k, z in enumerate("abc")]
    assert records(folder, *names) == plain


def test_a_trace_is_held_at_its_end_or_repeated(folder: Path) -> None:
    """Twenty ticks are forty slots: from then on a is UP for ever, or DOWN again in 52 to 55."""
    many = "job.iterations=6"
    held = letters(records(folder, many))
    again = [f'workers.{k}.availability.then="repeat"' for k in range(3)]
    repeated = letters(records(folder, many, *again))
    assert all(held[zone][:42] == repeated[zone][:42] for zone in "abc")
    assert held["a"][42:] == "DICCCC" * 3
    assert repeated["a"][52:56] == "...."


def test_longer_slots_see_the_state_at_their_start(folder: Path) -> None:
    """In slots of 240 s the states of ticks 0, 2, 4, ... are seen: c is away in slots 2 and 3."""
    slots = [f"workers.{k}.availability.slot=240" for k in range(3)]
    changes = [
        (record.t, record.event.state.value)
        for record in records(folder, *slots, "job.cap=20")
        if isinstance(record.event, WorkerChanged) and record.event.worker == 2
    ]
    assert changes == [(2, "r"), (4, "u")]


def test_the_life_of_the_job_tells_where_its_time_went() -> None:
    tale = Tale("application")
    for record in records(ZONES):
        tale(record)
    assert tale.root is not None
    first = tale.root.children[0]
    assert [run.title.partition(":")[0] for run in first.children] == [
        "run 0 (start)",
        "run 1 (failure)",
        "run 2 (failure)",
    ]
    assert [titles(run)[-1] for run in first.children] == [
        "ended: lost",
        "ended: lost",
        "ended: completed",
    ]
    assert "c is RECLAIMED" in titles(first.children[0])
    assert "a goes DOWN" in titles(first.children[0])


def titles(span: Span) -> list[str]:
    return [child.title for child in span.children]
