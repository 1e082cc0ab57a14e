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
from sims.errors import InputError
from sims.scenario.loader import load, parse, read
from tests.sims.activity import Activity
from tests.sims.kinds import DATA, recorded

ZONES = DATA / "zones"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of scenario and traces, to change."""
    return Path(shutil.copytree(ZONES, tmp_path / "zones"))


def records(folder: Path, *overrides: str) -> list[Record]:
    return recorded(load(folder / "three-zones.toml", overrides), folder)


def letters(folder: Path, *overrides: str) -> dict[str, str]:
    return Activity.of(records(folder, *overrides)).rows


def for_all(*settings: str) -> list[str]:
    return [f"workers.{k}.availability.{it}" for k in range(3) for it in settings]


def turns(seen: list[Record]) -> list[tuple[float, str]]:
    """When zone c changes, and to which state."""
    changed = ((it.t, it.event) for it in seen if isinstance(it.event, WorkerChanged))
    return [(t, event.state.value) for t, event in changed if event.worker == 2]


def test_three_zones_slot_by_slot() -> None:
    """At 12 a is lost while c is suspended: c keeps its program; at 22 b is lost with 6 of 8."""
    assert letters(ZONES) == {
        "a": "PPDIIIIIIIII" + "." * 10 + "PPDICCCC" + "DICCCC" * 2,
        "b": "." * 12 + "PPDDCCCCCC" + "." * 20,
        "c": "IIIPPD" + "." * 16 + "IIIDCCCC" + "IDCCCC" * 2,
    }


def test_a_zone_whose_preemptions_are_crashes_loses_its_program_too(folder: Path) -> None:
    rows = letters(folder, 'workers.2.availability.states.0="d"')
    assert rows["c"].count("P") == 4


def test_traces_may_be_packed(folder: Path) -> None:
    plain = records(folder)
    for zone in folder.glob("zone-*.json"):
        with lzma.open(f"{zone}.xz", "wb") as packed:
            packed.write(zone.read_bytes())
        zone.unlink()
    names = [f'workers.{k}.availability.file="zone-{z}.json.xz"' for k, z in enumerate("abc")]
    assert records(folder, *names)[1:] == plain[1:]  # the first line names the files


def test_a_trace_is_held_at_its_end_or_repeated(folder: Path) -> None:
    """Twenty ticks are forty slots: from then on a is UP for ever, or DOWN again in 52 to 55."""
    many = "job.iterations=6"
    held = letters(folder, many)
    repeated = letters(folder, many, *for_all('after="repeat"'))
    assert all(held[zone][:42] == repeated[zone][:42] for zone in "abc")
    assert held["a"][42:] == "DICCCC" * 3
    assert repeated["a"][52:56] == "...."


def test_longer_slots_see_the_state_at_their_start(folder: Path) -> None:
    """In slots of 240 s the states of ticks 0, 2, 4, ... are seen: c is away in slots 2 and 3."""
    seen = records(folder, *for_all("slot=240"), "job.cap=20")
    assert turns(seen) == [(2, "r"), (4, "u")]


def test_the_file_says_how_long_a_tick_is(folder: Path) -> None:
    """In seconds c is away from tick 3 to 6; `slot = 195` would be 195 times as fast."""
    table = parse(folder / "three-zones.toml", ["job.iterations=500"]) | {"unit": "s"}
    for worker in table["workers"]:
        worker["availability"]["slot"] = 195
    with pytest.raises(InputError, match=r"availability.slot: 195 s in a slot, and the unit is s"):
        recorded(read(table, "spot"), folder)
    for unit, times in (("s", [360, 840]), ("slot", [3, 7])):
        for worker in table["workers"]:
            worker["availability"].pop("slot", None)
        seen = recorded(read(table | {"unit": unit}, "spot"), folder, until=1000)
        assert [t for t, _ in turns(seen)] == times


def test_a_run_that_outlives_its_trace_is_refused_with_the_traces_length(folder: Path) -> None:
    errors = for_all('after="error"')
    with pytest.raises(InputError, match=r"zone-.\.json: the trace ends at 2,400 s, and the run"):
        records(folder, *errors)
    assert records(folder, *errors, "job.iterations=2")


def test_a_random_start_is_the_seeds_and_common_to_all_zones(folder: Path) -> None:
    asked = for_all('start="random"', 'after="repeat"')
    rows = [letters(folder, *asked, f"seed={seed}") for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]
    fixed = [it.replace('"random"', "22") for it in asked]
    assert letters(folder, *fixed)["b"].startswith("..")


def test_slots_of_two_lengths_are_refused_with_the_remedy(folder: Path) -> None:
    problem = "slots of 120 s and 60 s in one scenario; accepted: slot = 60"
    with pytest.raises(InputError, match=problem):
        records(folder, "workers.0.availability.slot=120")


def test_young_and_daly_count_with_the_mtbf_of_the_traces(folder: Path) -> None:
    """UP for 18, 17 and 16 ticks of two slots, and DOWN after an UP twice: 51 slots."""
    asked = ["protection.kind=images", 'protection.period="young"', "master.image=1"]
    found = records(folder, *asked)[1:]  # after the line that has the scenario
    assert found == records(folder, *asked, "protection.mtbf=51")[1:]
    assert found != records(folder, *asked, "protection.mtbf=5")[1:]
