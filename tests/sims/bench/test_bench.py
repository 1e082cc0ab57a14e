"""The benchmarks' command line, and the smaller benchmarks: what they print at a tiny size."""

from __future__ import annotations

import re
import sys

import pytest

from sims.bench import availability, campaign, messages, simpy_loop, slots
from sims.bench.__main__ import main
from sims.campaign import executors
from sims.errors import InputError


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def numbers(line: str) -> list[float]:
    return [float(it.replace(",", "")) for it in re.findall(r"\d[\d,]*\.?\d*", line)]


def row(out: str, name: str) -> list[float]:
    """The numbers of a table's row."""
    [line] = [it for it in out.splitlines() if re.match(rf"\W*{name}\s", it)]
    return numbers(line.partition(name)[2])


# --- the command line -----------------------------------------------------------------------------


def test_the_benchmarks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert "availability, campaign, cosched, list, log, messages, queues, redundancy, slots" in out


@pytest.mark.parametrize(
    ("words", "problem"), [([], "which benchmark?"), (["speed"], "'speed' is no benchmark")]
)
def test_a_benchmark_that_there_is_not_is_refused_with_those_that_there_are(
    capsys: pytest.CaptureFixture[str], words: list[str], problem: str
) -> None:
    assert main(words) == 2
    said = capsys.readouterr()
    assert f"{problem}; accepted: availability, campaign" in said.err
    assert said.out == ""


def test_a_benchmark_gets_the_words_after_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["availability", "--workers", "20", "--slots", "100"]) == 0
    assert capsys.readouterr().out.startswith("20 workers, 100 slots\n")


# --- messages beside SimPy ------------------------------------------------------------------------


def test_both_loops_do_the_same_tasks_in_the_same_virtual_time() -> None:
    work = simpy_loop.durations(300)
    ours, theirs = messages.run_actors(7, work), simpy_loop.run_simpy(7, work)
    assert ours[1] == theirs[1] > sum(work) / 7
    assert min(ours[0], theirs[0]) > 0


def test_a_row_for_few_and_for_many_workers_tells_both_speeds_and_their_ratio(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "bytes_per_idle_actor", lambda: 1234.0)
    messages.main(tasks=600, repeats=1)
    out = capsys.readouterr().out
    for workers in ("20", "500"):
        ours, theirs, ratio, least, most = row(out, workers)
        assert ratio == least == most == pytest.approx(ours / theirs, abs=0.01)
    assert "bytes per idle actor: 1,234" in out


def test_loops_that_end_at_different_times_are_no_comparison(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages, "run_simpy", lambda workers, work: (1.0, 0.5))
    with pytest.raises(AssertionError, match=r"the two loops differ: they end at .* and 0\.5"):
        messages.compare(2, 10, 1)


def test_an_idle_actor_takes_some_hundred_bytes() -> None:
    assert 100 < messages.bytes_per_idle_actor(500) < 5000


def test_without_simpy_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simpy", None)
    with pytest.raises(InputError, match=r"SimPy is missing; accepted: pip install 'holdfast\[ben"):
        simpy_loop.seconds_per_task(2, 10)


# --- availability, slots, campaigns ---------------------------------------------------------------


def test_workers_that_change_ten_times_as_rarely_change_a_tenth_as_often(
    capsys: pytest.CaptureFixture[str],
) -> None:
    availability.main(workers=100, slots=1000)
    out = capsys.readouterr().out
    often, rare, never = (row(out, stay)[0] for stay in ("1,000", "10,000", "for ever"))
    assert often / 20 < rare < often / 5
    assert often == pytest.approx(100, rel=0.5)
    assert never == 0


def test_a_run_of_slots_ends_at_its_cap_and_is_told_beside_simpys_speed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "POLICIES", ("IE", "RANDOM"))
    monkeypatch.setattr(slots, "seconds_per_task", lambda: 1e-5)
    slots.main(slots=200, platforms=1)
    out = capsys.readouterr().out
    for policy in ("IE", "RANDOM"):
        middle, least, most, tasks = row(out, policy)
        assert middle == least == most
        assert tasks == pytest.approx(1e5 / middle, abs=0.06)
    assert "100,000 tasks/s" in out


def test_a_campaign_is_told_beside_the_bare_loop_of_its_cells(
    capsys: pytest.CaptureFixture[str],
) -> None:
    campaign.main(cells=4, rounds=1)
    out = capsys.readouterr().out
    for way in ("one process", "two processes"):
        cpu, of_bare, wall, gain = row(out, way)
        assert min(cpu, of_bare, wall, gain) > 0
    assert row(out, "bare loop")[1] == row(out, "one process")[3] == 1.0
    assert "cluster" not in out


def test_of_a_cluster_the_wall_time_alone_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("local", "cluster"):
        monkeypatch.setattr(campaign, place, lambda *_: executors.local(1))
    campaign.main(cells=2, rounds=1, scheduler="some.json")
    assert re.search(r"cluster\D+[\d.]+\W+-\W", capsys.readouterr().out)


def test_a_question_has_as_many_cells_as_were_asked_for() -> None:
    asked = campaign.question(10)
    assert asked.replications * len(asked.variants) == 10
