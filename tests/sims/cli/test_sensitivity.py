"""`holdfast sensitivity`: which numbers of a scenario matter."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import holdfast
import pytest
from matplotlib.figure import Figure

from sims.campaign.shifts import measured_keys
from sims.plots import maps, tornado
from sims.scenario.loader import parse, read
from tests.sims.cli.commands import Shell

SCENARIO = """name = "study"
unit = "s"

[platform]
workers = 2

[job]
kind = "rigid"
jobs = [{ processors = 2, time = 100 }]

[protection]
kind = "images"
period = "20 s"
cost = 5
recovery = 3

[[faults]]
kind = "list"
strikes = [[50, 0]]
downtime = 10

[[faults]]
kind = "exponential"
mtbf = 1e9
"""


WHOLE = """name = "whole"
unit = "s"
platform = { workers = 12 }
[job]
kind = "rigid"
jobs = [{ processors = 2, time = 100, standbys = 1 }, { processors = 9, time = 90 }]
"""


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    (tmp_path / "study.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


def test_every_number_with_a_unit_that_the_file_gives_is_a_key_and_nothing_else(
    shell: Shell, tmp_path: Path
) -> None:
    table = parse(tmp_path / "study.toml")
    assert list(measured_keys(table, read(table, "study.toml", tmp_path))) == [
        "job.jobs.0.time",
        "protection.period",
        "protection.cost",
        "protection.recovery",
        "faults.0.downtime",
        "faults.1.mtbf",
    ]


def test_bytes_bandwidths_rates_and_prices_have_units_too(tmp_path: Path) -> None:
    table = {
        "name": "units",
        "platform": {"workers": 2},
        "workers": [{"price": 2}, {}],
        "errors": {"rate": 0.1},
        "storage": {"bandwidth": 8, "worker_bandwidth": 4},
        "protection": {"kind": "images", "bytes": 16, "period": 5},
        "job": {"kind": "rigid", "jobs": [{"processors": 2, "time": 10}]},
    }
    del table["platform"]
    found = set(measured_keys(table, read(table, "units.toml", tmp_path)))
    assert {"workers.0.price", "errors.rate", "storage.bandwidth", "protection.bytes"} <= found
    assert "job.jobs.0.processors" not in found


def test_the_ratios_are_those_of_the_runs(shell: Shell) -> None:
    """With cost 5, images after 20 of work end at 25 and 50, at which a fault strikes: recovery
    after the downtime of 10, then 60 of work and two images of 5, as none is taken when no work is
    left: 50 + 10 + 3 + 60 + 10 = 133. With cost 4 (20 % less) images end at 24 and 48, and 2 of
    work are lost: 50 + 10 + 3 + 60 + 8 = 131. With cost 6 the second image is lost, as it would end
    at 52: 50 + 10 + 3 + 80 + 18 = 161."""
    said = shell("sensitivity", "study.toml", "--keys", "protection.cost", "--runs", "2", "--json")
    assert said.code == 0, said.err
    [row] = json.loads(said.out)["keys"]
    assert row["less_mean"] == pytest.approx(131 / 133)
    assert row["more_mean"] == pytest.approx(161 / 133)


def test_numbers_are_ranked_and_the_sentence_names_the_first(shell: Shell, tmp_path: Path) -> None:
    changes = {"faults": {"kind": "exponential", "mtbf": 200, "downtime": 1}}
    found = holdfast.sensitivity(
        "study.toml", ["job.jobs.0.time", "protection.recovery"], changes=changes, seed=1
    )
    assert [it.key for it in found.factors] == ["job.jobs.0.time", "protection.recovery"]
    assert found.sentence.startswith("job.jobs.0.time matters most: 20 % less and more change")
    assert len(found.frame()) == 2
    assert found.plot(tmp_path / "tornado.png").stat().st_size > 10_000


def test_a_number_matters_most_only_where_intervals_tell_it_from_all_others(shell: Shell) -> None:
    """The interval of `mtbf` allows for more than that of `time` shows."""
    law = "faults={kind='exponential', mtbf=300, downtime=1}"
    words = ("--set", law, "--keys", "job.jobs.0.time,faults.mtbf", "--runs", "36", "--seed", "1")
    found = json.loads(shell("sensitivity", "study.toml", *words, "--json").out)
    first, second = found["keys"]
    assert first["matters"]
    assert second["less_high"] - 1 > max(1 - first["less_high"], first["more_low"] - 1)
    assert found["sentence"].startswith("job.jobs.0.time matters: 20 % less and more change")
    assert "; faults.mtbf may matter as much; " in found["sentence"]


def test_a_measure_that_no_run_has_is_refused_and_missing_intervals_are_explained(
    shell: Shell,
) -> None:
    """No run ends by 20; without randomness two runs of a change are one observation."""
    words = ("sensitivity", "study.toml", "--keys", "job.jobs.0.time", "--runs", "2")
    line = shell.refused(*words, "--until", "20")
    assert "--measure: no run of the scenario as it is has a makespan; accepted:" in line
    out = shell(*words).out
    assert "All runs of a variant have the same makespan: the seed does not change it" in out
    assert "Bonferroni" not in out
    out = shell(*words, "--until", "140").out
    assert "Not completed, and in no mean: job.jobs.0.time +: 2 capped. Variants are" in out


def test_where_nothing_matters_the_sentence_says_so(shell: Shell) -> None:
    found = holdfast.sensitivity("study.toml", ["faults.1.mtbf"], runs=3, seed=1)
    assert found.sentence == (
        "Nothing shows that any of them matters, changed by 20 %; 3 runs each."
    )


def test_where_only_one_change_has_a_ratio_the_sentence_says_which(shell: Shell) -> None:
    """On one worker the first job is left out. On three its jobs run side by side, in two thirds of
    the time or less."""
    jobs = "[{processors = 2, time = 50}, {processors = 1, time = 50}, {processors = 1, time = 99}]"
    law = "{kind = 'exponential', mtbf = 900, downtime = 1}"
    words = ("--set", f"job.jobs={jobs}", "--set", f"faults={law}", "--by", "50%", "--runs", "20")
    said = shell("sensitivity", "study.toml", *words, "--keys", "platform.workers", "--seed", "1")
    assert said.code == 0, said.err
    assert "platform.workers matters: 50 % more changes makespan by -" in said.out


def test_a_change_of_more_than_twice_is_told_without_an_exponent(shell: Shell) -> None:
    """Nothing saves the work, and a fault comes each 30 s: twice the work takes far more than twice
    the time."""
    words = ("--keys", "job.jobs.0.time", "--by", "99%", "--runs", "8", "--seed", "1")
    law = "faults={kind='exponential', mtbf=60, downtime=1}"
    said = shell("sensitivity", "study.toml", *words, "--set", law, "--set", "protection={}")
    assert said.code == 0, said.err
    assert "job.jobs.0.time matters: 99 % less and more change makespan by" in said.out
    assert "e+" not in said.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--keys", "platform.worker"), "holds no number above 0"),
        (("--keys", "protection.kind"), "holds no number above 0"),
        (("--by", "120%"), "above 0 %, below 100 %"),
        (("--by", "much"), "a percentage such as 20%"),
    ],
)
def test_what_cannot_be_varied_is_refused_in_one_line(
    shell: Shell, words: tuple[str, ...], said: str
) -> None:
    found = shell("sensitivity", "study.toml", *words)
    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1


def test_a_notebook_shows_the_table_and_its_sentences(shell: Shell) -> None:
    found = holdfast.sensitivity("study.toml", ["faults.1.mtbf"], runs=2, seed=1)
    shown = found._repr_html_()
    assert "<td" in shown
    assert "<p>Nothing shows that any of them matters" in shown


def test_two_numbers_are_changed_together_and_drawn_as_a_map(shell: Shell, tmp_path: Path) -> None:
    """The corners of the map are the runs with both numbers changed: with cost 6 and period 16,
    images after 16 end at 22, 44 and 66 of which the fault at 50 loses the third: 44 + 6 of it are
    lost with 32 saved. Then 10 + 3 + 68 of work and four images: 50 + 13 + 68 + 24 = 155."""
    words = ["--pairs", "protection.period,protection.cost", "--runs", "2"]
    said = shell("sensitivity", "study.toml", *words, "--json")
    assert said.code == 0, said.err
    points = json.loads(said.out)["points"]
    assert len(points) == 25
    at = {(it["protection.period"], it["protection.cost"]): it["mean"] for it in points}
    assert at[20, 5] == 1
    assert at[16, 6] == pytest.approx(155 / 133)
    drawn = 'faults={kind="exponential",mtbf=200,downtime=1}'
    said = shell("sensitivity", "study.toml", *words[:3], "40", "--set", drawn, "-o", "map.png")
    assert "Within 20 % of both, makespan over its mean as it is becomes " in said.out
    assert (tmp_path / "map.png").stat().st_size > 10_000


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Figures that are drawn, instead of files."""
    found: list[Figure] = []
    for module in (maps, tornado):
        monkeypatch.setattr(module, "save", lambda figure, path: found.append(figure))
    return found


def test_a_map_explains_its_rings_in_a_legend_and_has_units_on_its_axes(
    shell: Shell, figures: list[Figure]
) -> None:
    law = {"faults": {"kind": "exponential", "mtbf": 200, "downtime": 1}}
    pairs = ["protection.period", "job.jobs.0.time"]
    found = holdfast.sensitivity("study.toml", pairs=pairs, changes=law, runs=12, seed=1)
    found.plot("map.png")
    [figure] = figures
    assert figure.get_suptitle().replace("\n", " ") == found.sentence
    [legend] = figure.legends
    assert [it.get_text() for it in legend.get_texts()] == ["an interval shows that it matters"]
    axes = figure.axes[0]
    assert axes.get_xlabel() == "work between two checkpoints, s"
    assert axes.get_ylabel() == "time (job jobs 0), s"


def test_a_tornado_names_each_number_with_its_unit(shell: Shell, figures: list[Figure]) -> None:
    stored = {"kind": "images", "period": "20 s", "bytes": 16}
    changes = {"protection": stored, "storage": {"bandwidth": 8}}
    keys = ["protection.period", "faults.1.mtbf", "protection.bytes"]
    holdfast.sensitivity("study.toml", keys, changes=changes, runs=2, seed=1).plot("tornado.png")
    labels = {it.get_text() for it in figures[0].axes[0].get_yticklabels()}
    assert labels == {
        "protection.period = 20 s",
        "faults.1.mtbf = 11,574 d",
        "protection.bytes = 16",
    }


def test_the_table_gives_times_their_units_and_bytes_as_they_are(shell: Shell) -> None:
    stored = "protection={kind='images', period='20 s', bytes=4096}"
    words = ["--set", stored, "--set", "storage.bandwidth=80", "--set", "job.jobs.0.time='2 h'"]
    keys = ["protection.period", "protection.bytes", "job.jobs.0.time"]
    said = shell("sensitivity", "study.toml", *words, "--keys", ",".join(keys), "--runs", "2")
    rows = (re.search(rf"^  {key} +not shown +(\S+( [a-z]+)?) ", said.out, re.M) for key in keys)
    assert [it and it[1] for it in rows] == ["20 s", "4,096", "2 h"]


def test_a_map_gives_all_values_of_a_time_in_one_unit_also_in_its_sentence(shell: Shell) -> None:
    law = 'faults={kind="exponential",mtbf=200,downtime=1}'
    time = "job.jobs.0.time='2 min'"
    words = ["--pairs", "protection.period,job.jobs.0.time", "--set", law, "--set", time]
    said = shell("sensitivity", "study.toml", *words, "--runs", "12", "--seed", "1").out
    rows = re.findall(r"^  ([\d.]+ s)   ", said, re.M)
    assert rows == ["16 s", "18 s", "20 s", "22 s", "24 s"]
    heads = re.findall(r"job.jobs.0.time = ([\d.]+ min)   ?", said.splitlines()[2])
    assert heads == ["1.6 min", "1.8 min", "2 min", "2.2 min", "2.4 min"]
    assert re.search(r" at protection.period = \d+ s and job.jobs.0.time = 2.4 min; 12 runs", said)


@pytest.mark.parametrize("word", ["protection.cost", "protection.cost,protection.cost", "a,b,c"])
def test_a_map_of_other_than_two_keys_is_refused(shell: Shell, word: str) -> None:
    assert "a map has two axes" in shell.refused("sensitivity", "study.toml", "--pairs", word)


def test_the_jobs_own_lengths_are_left_out_and_named(shell: Shell) -> None:
    out = shell("sensitivity", "study.toml", "--runs", "2").out
    assert "Left out: job.jobs.0.time, of which more is more work; --keys has it." in out
    assert not re.search(r"^  job.jobs.0.time ", out, re.M)
    out = shell("sensitivity", "study.toml", "--runs", "2", "--keys", "job.jobs.0.time").out
    assert re.search(r"^  job.jobs.0.time ", out, re.M)
    assert "Left out" not in out


def test_one_run_is_refused_as_it_has_no_interval(shell: Shell) -> None:
    line = shell.refused("sensitivity", "study.toml", "--runs", "1")
    assert "--runs: 1 is not accepted; accepted: a whole number from 2" in line


def test_a_misspelt_key_gets_a_suggestion(shell: Shell) -> None:
    line = shell.refused("sensitivity", "study.toml", "--keys", "protection.perod")
    assert "command line: --keys: protection.perod holds no number above 0 (did you mean " in line
    assert "protection.period?)" in line


EXACT = """name = "exact"
platform = { workers = 1 }
job = { kind = "rigid", startup = 100, jobs = [{ processors = 1, time = 1000 }] }
protection = { kind = "images", period = 100, cost = 10, recovery = 10 }
"""


def test_table_sentence_and_picture_say_that_effects_are_exact_where_nothing_is_random(
    shell: Shell, tmp_path: Path, figures: list[Figure]
) -> None:
    """100 of start-up, 1,000 of work and nine images of 10 take 1,190. A period of 80 has twelve
    images: 1,220. One of 120 has eight: 1,180. A start-up of 80 or 120 takes 1,170 or 1,210; images
    of 8 or 12, 1,172 or 1,208; a recovery without faults, nothing."""
    (tmp_path / "exact.toml").write_text(EXACT)
    said = shell("sensitivity", "exact.toml", "-o", "tornado.svg")
    assert said.code == 0, said.err
    sentence = (
        "protection.period matters most: 20 % less and more change makespan by +2.5 % and -0.84 %; "
        "protection.recovery does not matter; 30 runs each."
    )
    assert sentence in said.out
    assert "The runs draw nothing at random: each figure is exact." in said.out
    assert "Bonferroni" not in said.out
    assert re.search(r"protection.period +shown +100 s +1.0252101 ± 0 +0.99159664 ± 0", said.out)
    assert re.search(r"protection.recovery +does not +10 s +1 ± 0 +1 ± 0", said.out)
    [figure] = figures
    assert figure.get_suptitle().replace("\n", " ") == sentence
    [legend] = figure.legends
    assert legend.get_title().get_text() == "exact"
    ratios = [1220, 1170, 1172, 1190, 1180, 1210, 1208, 1190]
    bars: list[Any] = list(figure.axes[0].patches)
    assert [bar.get_width() for bar in bars] == pytest.approx([it / 1190 - 1 for it in ratios])
    lines: list[Any] = list(figure.axes[0].collections)
    assert not any(len(it.get_segments()) for it in lines)


def test_a_number_that_changes_nothing_does_not_matter_where_nothing_is_random(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "exact.toml").write_text(EXACT)
    alone = shell("sensitivity", "exact.toml", "--keys", "protection.recovery").out
    assert "None of them matters, changed by 20 %; 30 runs each." in alone
    instant = ("--set", "protection.kind=images", "--set", "protection.period=2000")
    pair = ("--pairs", "protection.recovery,protection.cost", "--runs", "2")
    both = shell("sensitivity", "exact.toml", *instant, *pair).out
    assert "Neither protection.recovery nor protection.cost, within 20 %, matters; 2 runs" in both


def test_whole_numbers_are_rounded_and_the_answer_says_so(shell: Shell) -> None:
    """20 % of 12 is 2.4, so that 10 and 14 are looked at; of 1 it is less than one."""
    path = shell.write(WHOLE, "whole.toml")
    keys = "--keys", "platform.workers,job.jobs.0.standbys"
    said = shell("sensitivity", path, *keys, "--runs=2")
    assert said.code == 0
    text = " ".join(said.out.split())
    assert "platform.workers at 10, 12, 14; job.jobs.0.standbys at 0, 1, 2" in text
    # With 10 workers the second job waits for the first one.
    assert "platform.workers matters" in text


def test_a_map_of_whole_numbers_has_each_number_once(shell: Shell) -> None:
    path = shell.write(WHOLE, "whole.toml")
    pairs = "--pairs", "platform.workers,job.jobs.0.standbys"
    said = shell("sensitivity", path, *pairs, "--runs=2", "--json").json()
    assert {(row["platform.workers"]) for row in said["points"]} == {10, 11, 12, 13, 14}


def test_repeated_measures_are_columns_ranked_by_the_first(shell: Shell) -> None:
    """Of the 133 s the worker is DOWN in 10, and the job holds the two for 123 (of 131: for 121, of
    161: for 151), of which 100 are useful."""
    words = ("sensitivity", "study.toml", "--keys", "protection.cost", "--runs", "2")
    measures = ("--measure", "makespan", "--measure", "goodput")
    [row] = shell.told(*words, *measures)["keys"]
    assert row["less_mean"] == pytest.approx(131 / 133)
    assert row["goodput_less_mean"] == pytest.approx(123 / 121)
    assert row["goodput_more_mean"] == pytest.approx(123 / 151)
    out = shell(*words, *measures).out
    assert "study: makespan, goodput over their means as it is" in out
    assert "makespan: 20 % less" in out and "goodput: 20 % more" in out
    assert "Ranked by makespan." in out
    ours = holdfast.sensitivity(
        "study.toml", ["protection.cost"], runs=2, measure=["makespan", "goodput"]
    )
    assert ours.rows()[0]["goodput_less_mean"] == pytest.approx(123 / 121)
    line = shell.refused(*words[:2], "--pairs", "protection.cost,protection.period", *measures)
    assert "command line: --measure: makespan, goodput: a map has one" in line
    line = shell.refused(*words, *measures, "--measure", "cost")
    assert "--measure: no run of the scenario as it is has a cost" in line
