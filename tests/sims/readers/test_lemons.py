"""Lemons in a log of failures: two rates and a share, with intervals, and whether one rate does as
well."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

from sims.cli.commands import run_command
from sims.errors import InputError
from sims.readers.lemons import LemonFit, fit_lemons, lemons_of

DAY = 86400.0


def drawn(seed: int, share: float = 0.1, nodes: int = 200, time: float = 100.0) -> LemonFit:
    """A fleet of well nodes that fail once in 50, and of lemons that fail once in 5; the first ones
    are the lemons."""
    rng, bad = default_rng(seed), round(share * nodes)
    rates = np.where(np.arange(nodes) < bad, 1 / 5, 1 / 50)
    return fit_lemons(rng.poisson(rates * time).tolist(), [time] * nodes)


def test_rates_and_share_of_a_fleet_with_lemons_are_found() -> None:
    found = drawn(1)
    assert found.two
    for bounded, truth in ((found.well, 0.02), (found.lemon, 0.2), (found.share, 0.1)):
        assert bounded.low < truth < bounded.high
        assert bounded.low < bounded.value < bounded.high < 3 * bounded.low
    assert set(found.lemons) == {str(it) for it in range(20)}


def test_nodes_that_are_alike_have_no_lemons() -> None:
    found = [drawn(seed, share=0.0) for seed in range(8)]
    assert sum(it.two for it in found) <= 2  # one in 20 at a level of 5 %
    one = next(it for it in found if not it.two)
    assert one.lemons == ()
    assert one.share.high > 10 * one.share.low


def test_the_fit_is_at_least_as_likely_as_the_truth_and_as_every_near_mixture() -> None:
    found = drawn(3)
    counts = found.counts

    def likelihood(well: float, lemon: float, share: float) -> float:
        n, t = counts.failures, counts.times
        parts = ((1 - share) * well**n * np.exp(-well * t), share * lemon**n * np.exp(-lemon * t))
        return float(np.log(sum(parts)).sum())

    best = found.well.value, found.lemon.value, found.share.value
    top = likelihood(*best)
    assert top >= likelihood(0.02, 0.2, 0.1)
    for k in range(3):
        for factor in (0.98, 1.02):
            near = [it * (factor if k == place else 1) for place, it in enumerate(best)]
            assert top >= likelihood(*near)
    # At the ends of an interval the best mixture is less likely by half of 3.84.
    ends = [found.share.low, found.share.high]
    for share in ends:
        wells, lemons = np.linspace(0.8, 1.2, 41) * best[0], np.linspace(0.8, 1.2, 41) * best[1]
        profile = max(likelihood(a, b, share) for a in wells for b in lemons)
        assert top - profile == pytest.approx(3.841 / 2, abs=0.02)


def test_times_that_differ_between_nodes_are_heeded() -> None:
    """A node that was watched ten times as long is no lemon for ten times the failures."""
    rng = default_rng(5)
    times = [10.0] * 100 + [100.0] * 100
    failures = rng.poisson(np.array(times) / 20)
    assert not fit_lemons(failures.tolist(), times).two
    assert fit_lemons(failures.tolist(), [50.0] * 200).two


def test_what_a_few_failures_do_not_bound_is_infinite() -> None:
    found = fit_lemons([0, 0, 0, 1], [1.0] * 4)
    assert not found.two
    assert found.lemon.high == inf or found.share.low < 1e-6


def test_expected_numbers_of_nodes_sum_up_to_all_of_them() -> None:
    two, one = drawn(2).expected(range(80))
    assert two.sum() == pytest.approx(200, abs=1e-3) and one.sum() == pytest.approx(200, abs=1e-3)


@pytest.mark.parametrize(
    ("failures", "times"), [([1], [1.0]), ([0, 0], [1.0, 1.0]), ([1, 2], [1.0, 0.0]), ([1], [])]
)
def test_what_cannot_be_fitted_is_refused(failures: list[float], times: list[float]) -> None:
    with pytest.raises(ValueError, match=r"two nodes|observed times"):
        fit_lemons(failures, times)


def log_of(folder: Path, counts: list[int], watched: bool = True) -> Path:
    """A log of 100 days, of failures of an hour; without `watched`, of failures alone."""
    lines = []
    for node, count in enumerate(counts):
        if watched:
            lines.append(f"0 1 {node} 1 n{node} 1 0 {100 * DAY:.0f} NULL")
        times = ((k + 0.5) * 100 * DAY / count for k in range(count))
        lines += [f"1 1 {node} 1 n{node} 0 {t:.0f} {t + 3600:.0f} NULL" for t in times]
    path = folder / "failures.tab"
    path.write_text("\n".join(lines) + "\n")
    return path


COUNTS = [30, 25, 28] + [0, 1, 2, 1, 0, 3, 2, 1] * 5


def test_nodes_that_a_log_of_failures_leaves_out_can_be_counted(tmp_path: Path) -> None:
    """Watched over all of its 100 days: 3 of 43 are lemons. A log of failures alone lacks ten."""
    whole = lemons_of(log_of(tmp_path, COUNTS))
    assert set(whole.lemons) == {"0", "1", "2"}
    assert whole.counts.times[0] == 100 * DAY - 30 * 3600
    alone = log_of(tmp_path, COUNTS, watched=False)
    few, more = lemons_of(alone), lemons_of(alone, nodes=43)
    assert len(few.counts.times) == 33
    assert len(more.counts.times) == 43
    assert more.well.value < few.well.value
    assert more.share.value == pytest.approx(whole.share.value, rel=0.01)


def test_more_nodes_than_there_are_cannot_be_in_the_log(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="43 or more"):
        lemons_of(log_of(tmp_path, COUNTS), nodes=42)


def test_the_command_says_which_nodes_are_lemons_and_what_a_scenario_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log_of(tmp_path, COUNTS)
    assert run_command(["lemons", str(path), "-o", str(tmp_path / "it.png")]) == 0
    said = capsys.readouterr().out
    assert "3 nodes, by probability: 0 (1), " in said
    assert 'faults.laws = [{ mtbf = "' in said
    assert (tmp_path / "it.png").stat().st_size > 1000
    assert run_command(["lemons", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["two"] and found["nodes"] == 43 and found["share"][1] < 3 / 43 < found["share"][2]


def test_the_command_names_its_options_where_they_do_not_fit_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(log_of(tmp_path, COUNTS))
    assert run_command(["lemons", path, "--nodes", "42"]) == 2
    assert "command line: --nodes: 42 are fewer" in capsys.readouterr().err
    assert run_command(["lemons", path, "--platform", "99"]) == 2
    assert "command line: --platform: 99 is not in" in capsys.readouterr().err


def test_an_interval_of_a_time_between_failures_may_have_no_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two nodes in three have no failure: as far as the log shows, well nodes may never fail."""
    path = log_of(tmp_path, [*[0] * 24, *[1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8]])
    assert run_command(["lemons", str(path)]) == 0
    [well] = (it for it in capsys.readouterr().out.splitlines() if it.startswith("  well"))
    assert well.endswith(", no end]")


def test_the_command_says_where_one_rate_does_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log_of(tmp_path, [0, 1, 2, 1, 0, 3, 2, 1] * 5)
    assert run_command(["lemons", str(path)]) == 0
    said = capsys.readouterr().out
    assert "do no better" in said and 'faults = { mtbf = "' in said
