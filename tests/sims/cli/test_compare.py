"""`holdfast compare`: its answers, what it refuses, and where it goes on after Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
from math import inf
from pathlib import Path

import holdfast
import pytest
from matplotlib.figure import Figure

from sims.campaign import asking
from sims.campaign.batches import RunResult
from sims.campaign.results import Store
from sims.errors import InputError
from sims.estimates import rounded
from sims.intervals import NONE, Estimate
from sims.plots import comparisons
from tests.case_files import listed
from tests.sims.cli.commands import FEW, STATED, TINY, Shell, ended, python, spawn, until
from tests.sims.kinds import SCENARIOS

VOLATILE = SCENARIOS / "volatile20.toml"
RIGID = SCENARIOS / "batch-rigid.toml"

MINE = '''\
"""Policies of my own."""

from policies.interface import Configuration
from policies.interface.queue import Decision


def first(view, rng):
    if view.up & 1:
        return Configuration(((0, view.enrolment.tasks),))


def stubborn(view, rng):
    if view.elapsed > 3 or view.up >> 1 & 1:
        return Configuration(((1, 2),))


def idle(view):
    return Decision()
'''


@pytest.fixture
def own(shell: Shell) -> Shell:
    """The command line beside a file of policies."""
    shell.write(MINE, "mine.py")
    return shell


def test_faults_are_compared_off_on_and_as_a_table_in_one_option(shell: Shell) -> None:
    path = shell.write(
        f"{FEW}\n[faults]\nkind = 'list'\nstrikes = [[100, 0], [100, 7]]\ndowntime = 9\n"
    )
    table = '{kind="list",strikes=[[200,0],[200,7]],downtime=1}'
    words = ("compare", path, "--runs", "1", "--json", "--measure", "wasted")
    said = shell(*words, "--vary", f"faults=off,on,{table}").json()
    off, early, late = (it["mean"]["mean"] for it in said["variants"])
    assert off == 0 < early < late


def test_few_runs_that_no_fault_struck_have_no_interval_of_width_0(shell: Shell) -> None:
    """Runs without a fault may be some of many with one."""
    faults = "[faults]\nkind = 'exponential'\nmtbf = 10000\ndowntime = 9\n"
    words = ("compare", shell.write(f"{FEW}\n{faults}"), "--vary", "faults=off,on", "--runs")
    two, six = (shell(*words, many).out for many in ("2", "6"))
    for printed in (two, six):
        [on] = [row for row in printed.splitlines() if " on " in row and " of " in row]
        assert "± 0 " not in on
    assert "paired by seed" in six


@pytest.mark.parametrize(
    ("mtbf", "varied", "runs", "said"),
    [
        (
            *("10000", "faults=none,on", 4),
            "Assumed: no faults, no start-up; or exponential faults of new units, no start",
        ),
        ("'90 y'", "faults.downtime=9,10", 2, "the seed does not change it in these runs"),
    ],
    ids=["what all variants assume", "that no seed met a fault, where faults are rare"],
)
def test_a_comparison_says_what_its_figures_rest_on(
    shell: Shell, mtbf: str, varied: str, runs: int, said: str
) -> None:
    faults = f"[faults]\nkind = 'exponential'\nmtbf = {mtbf}\ndowntime = 9\n"
    file = shell.write(f"{FEW}\n{faults}")
    assert said in shell("compare", file, "--vary", varied, "--runs", runs).out


def test_a_value_that_is_no_law_of_faults_is_refused_with_the_form(shell: Shell) -> None:
    path = shell.write(FEW)
    told = shell.refused("compare", path, "--vary", "faults=off,{kind=list}")
    assert """--vary 'faults=off,{kind="exponential",mtbf=1000}'""" in told
    assert "{ kind = ..., KEY = VALUE }" in shell.refused("compare", path, "--vary", "faults=off,x")
    assert "faults=on: the file has none" in shell.refused(
        "compare", path, "--vary", "faults=on,off"
    )


# --- answers --------------------------------------------------------------------------------------


def test_more_channels_make_an_application_shorter(shell: Shell) -> None:
    said = shell(
        *("compare", VOLATILE, "--vary", "master.channels=1,20", "--set", "master.data=8"),
        *("--runs", "24", "--set", "job.iterations=4", "--json"),
    )
    told = said.json()
    one, twenty = told["variants"]
    assert (said.code, said.err) == (0, "")
    assert [it["settings"]["master.channels"] for it in (one, twenty)] == [1, 20]
    assert one["ratio"] == {"mean": 1, "half": 0, "low": 1, "high": 1, "size": 24}
    assert (one["verdict"], twenty["verdict"]) == ("baseline", "better")
    assert twenty["ratio"]["mean"] + twenty["ratio"]["half"] < 1
    assert twenty["best"] > one["best"]
    assert told["seeds"] == [run["seed"] for run in one["runs"]] == list(range(1, 25))


def test_a_variant_compared_with_itself_is_no_better_and_no_worse(shell: Shell) -> None:
    path = shell.write(TINY)
    said = shell("compare", path, "--vary", "policy.name=IE,IE", "--runs", "3")
    rows = [it.split() for it in said.out.splitlines() if it.startswith("  policy.name=IE ")]
    assert rows[0][-7:] == ["1", "±", "0", "3", "of", "3", "baseline"]
    assert rows[1][:-9] == [rows[0][0], "(2)", *rows[0][1:-7]]
    assert rows[1][-6:-3] == rows[0][-4:-1]
    assert rows[1][-3:] == ["no", "difference", "shown"]


@pytest.mark.parametrize("runs", ["1", "5"])
@pytest.mark.parametrize("effect", [(), ("--difference",)])
def test_where_nothing_is_random_figures_are_exact(
    shell: Shell, runs: str, effect: tuple[str, ...]
) -> None:
    """EASY has waits of 0, 9, 17 and 7 s; under FCFS the last job waits for the third one to begin,
    at 19 s, and so 16 s. One run shows it as five do."""
    path = shell.write(STATED)
    words = ("compare", path, "--vary", "policy.name=EASY,FCFS", "--measure", "wait", *effect)
    said = shell(*words, "--runs", runs)
    assert "The runs draw nothing at random: each figure is exact." in said.out
    assert ("One run of each variant says as much." in said.out) == (runs == "5")
    assert "worse: policy.name=FCFS" in said.out
    assert not any(it in said.out for it in ("no verdict", "No intervals", "Bonferroni"))
    easy, fcfs = shell.told(*words, "--runs", runs)["variants"]
    assert (easy["mean"]["mean"], fcfs["mean"]["mean"]) == (8.25, 10.5)
    kind, value = ("difference", 2.25) if effect else ("ratio", 10.5 / 8.25)
    assert easy["mean"]["half"] == fcfs[kind]["half"] == 0
    assert fcfs[kind]["mean"] == pytest.approx(value)
    assert (easy["verdict"], fcfs["verdict"]) == ("baseline", "worse")


@pytest.mark.parametrize("runs", ["1", "5"])
def test_a_log_is_one_observation_however_often_it_is_run(shell: Shell, runs: str) -> None:
    words = ("compare", SCENARIOS / "batch-easy.toml", "--vary", "policy.name=EASY,FCFS")
    said = shell(*words, "--runs", runs)
    assert "exact" not in said.out and "±" not in said.out
    _, fcfs = shell.told(*words, "--runs", runs)["variants"]
    assert (fcfs["ratio"]["low"], fcfs["verdict"]) == (None, "no verdict")


STREAM = """
name = "queue"
[platform]
workers = 4
[job]
kind = "rigid"
jobs = [
    { processors = 4, time = 90, release = 0, user = "bob" },
    { processors = 4, time = 95, release = 1, user = "bob" },
    { processors = 4, time = 5, release = 2, user = "alice" },
]
[errors]
average = 0.4
[policy]
name = "EASY"
"""


def test_who_loses_is_reported_by_user_with_an_interval(shell: Shell) -> None:
    """Short jobs are alice's, long ones bob's: the shortest first serves her at his expense."""
    words = ("--vary", "policy.order=FCFS,SPT", "--by", "user", "--runs", "8", "--measure", "wait")
    path = shell.write(STREAM)
    cells = shell.told("compare", path, *words)["cells"]
    assert [cell["at"] for cell in cells] == [{"user": "bob"}, {"user": "alice"}]
    bob, alice = (cell["variants"][1] for cell in cells)
    out = shell("compare", path, *words).out
    more = bob["mean"]["mean"] - cells[0]["variants"][0]["mean"]["mean"]
    [last] = [it for it in out.splitlines() if it.startswith("Under policy.order=SPT ")]
    lost = bob["verdict"] == "worse"
    assert ("these lose by their wait, the most first: bob (" in last) is lost
    assert f"bob ({more:.3g} " in last or f"bob ({more / 60:.3g} min" in last
    assert "; of 2 users, " in last
    assert alice["ratio"]["mean"] < 1 < bob["ratio"]["mean"]
    assert all(
        it["ratio"]["low"] < it["ratio"]["mean"] < it["ratio"]["high"] for it in (alice, bob)
    )
    for cell in cells:
        for line in cell["variants"]:
            order = line["settings"]["policy.order"]
            order_of_run = ("--set", f"policy.order={order}", "--log", f"{order}.jsonl")
            assert shell("run", path, *order_of_run).code == 0
            by = shell.told("summary", f"{order}.jsonl", "--by", "user")["by"]
            assert line["runs"][0]["value"] == pytest.approx(by[cell["at"]["user"]]["wait"]["mean"])


def test_distributions_are_drawn_a_variant_beside_the_other(shell: Shell) -> None:
    words = ("--vary", "policy.name=IE,Y-IE", "--runs", "3", "-o", "spread.svg")
    assert "picture  spread.svg\n" in shell("compare", shell.write(TINY), *words).out
    assert (shell.folder / "spread.svg").read_text().count("<svg") == 1


def test_a_picture_of_runs_draws_the_intervals_that_its_title_promises(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    monkeypatch.setattr(comparisons, "save", lambda figure, path: drawn.append(figure) or path)
    words = ("compare", shell.write(TINY), "--vary", "policy.name=IE,Y-IE", "--runs", "5")
    shell(*words, "-o", "spread.svg")
    [axes] = drawn[0].axes
    bars = [it.lines[2][0].get_segments()[0][:, 0] for it in axes.containers]
    for bar, line in zip(bars, shell.told(*words)["variants"], strict=True):
        assert bar == pytest.approx([line["mean"]["low"], line["mean"]["high"]])


@pytest.mark.parametrize("suffix", [".tex", ".csv", ".parquet"])
def test_a_comparison_is_written_as_a_table(shell: Shell, suffix: str) -> None:
    words = ("--vary", "policy.name=IE,Y-IE", "--runs", "3", "-o", f"table{suffix}")
    assert f"table    table{suffix}: 2 rows\n" in shell("compare", shell.write(TINY), *words).out
    assert (shell.folder / f"table{suffix}").stat().st_size > 0
    line = shell.refused("compare", "tiny.toml", *words[:-1], "table.doc")
    assert "NAME.svg" in line and "NAME.tex" in line


def test_capped_runs_are_counted_and_in_no_mean(shell: Shell) -> None:
    path = shell.write(TINY)
    words = ("compare", path, "--vary", "job.cap=30,1000", "--runs", "6")
    told = shell.told(*words)
    short, long = told["variants"]
    capped = [run["seed"] for run in short["runs"] if run["end"] == "capped"]
    assert 0 < len(capped) < 6
    assert all(run["value"] is None for run in short["runs"] if run["end"] == "capped")
    assert told["paired"] == [seed for seed in range(6) if seed not in capped]
    assert (short["as_asked"], long["as_asked"]) == (6 - len(capped), 6)
    assert (long["ratio"]["mean"], long["ratio"]["size"]) == (1, 6 - len(capped))
    assert long["mean"]["size"] == 6
    note = f"Not completed, and in no mean: job.cap=30: {len(capped)} capped. Variants are compared"
    out = shell(*words).out
    assert note in out
    assert "6 runs of each variant, compared over the seeds on which both have a value." in out


def test_notes_name_the_cells_that_they_are_about(shell: Shell) -> None:
    """Jobs on one processor never wait, whatever the seed; those on 17 to 32 do."""
    words = ("--vary", "policy.order=FCFS,SJF", "--measure", "wait", "--runs", "4", "--by", "size")
    out = shell("compare", SCENARIOS / "batch-faults.toml", *words).out
    assert "No intervals, no verdict at size=1; size=3-4: the run has fewer than 2" in out
    assert "does not change it in these runs at size=1; size=3-4; they are one" in out


def test_where_every_run_is_cut_off_there_are_dashes_for_makespans_but_shares_are_known(
    shell: Shell,
) -> None:
    words = ("compare", VOLATILE, "--vary", "policy.name=IE,Y-IE", "--runs", "2", "--until", "9")
    said = shell(*words)
    rows = [line.split() for line in said.out.splitlines() if "IE   " in line]
    assert [row[1:] for row in rows] == [
        ["0", "of", "2", "-", "-", "-", *verdict] for verdict in (["baseline"], ["no", "verdict"])
    ]
    told = shell.told(*words, "--measure", "utilisation")
    assert [line["as_asked"] for line in told["variants"]] == [2, 2]
    assert (told["unit"], told["higher_is_better"], told["until"]) == (None, True, 9)


def test_runs_that_are_cut_off_are_not_told_as_completed_though_their_shares_count(
    shell: Shell,
) -> None:
    """Both runs end at 2,000 with J1 at work: all that it has computed counts as lost."""
    words = ("--vary", "policy.order=FCFS,SJF", "--runs", "1", "--until", "2000")
    path = shell.write(FEW)
    out = shell("compare", path, *words, "--measure", "goodput").out
    assert re.search(r"FCFS +0 of 1 +0 ", out), out
    assert "Not completed, but in the mean: policy.order=FCFS: 1 capped; policy.order=SJF: 1" in out
    assert "What unfinished jobs had computed when a run ended counts as lost." in out
    out = shell("compare", path, *words, "--measure", "utilisation").out
    assert "but in the mean" in out and "counts as lost" not in out


def test_a_completed_run_without_the_measure_is_not_told_as_not_completed(shell: Shell) -> None:
    words = ("--vary", "policy.order=FCFS,SJF", "--runs", "1", "--measure", "cost")
    out = shell("compare", shell.write(FEW), *words).out
    assert re.search(r"FCFS +1 of 1 +- ", out), out
    assert "In no mean: policy.order=FCFS: 1 without a cost;" in out
    assert "Not completed" not in out


def test_alike_runs_are_not_said_to_have_narrow_intervals(shell: Shell) -> None:
    words = ("--vary", "policy.order=FCFS,SJF", "--runs", "2", "--precision", "1%")
    out = shell("compare", shell.write(FEW), *words).out
    assert "No runs were added: those of each variant are all alike" in out
    assert "narrow enough" not in out


def test_a_policy_that_starves_its_jobs_is_left_out_by_name(own: Shell) -> None:
    vary = ("--vary", "policy.name=R-LIST-0,mine:idle")
    said = own("compare", RIGID, *vary, "--runs", "2", "--policies", ".")
    assert (said.code, said.err) == (0, "")
    note = "policy.name=mine:idle: 2 starved. Variants are compared over the seeds on which both"
    assert f"{note} have a value, best is over the 0 of 2 on which all have." in said.out


def test_a_measure_that_a_kind_of_job_does_not_have_is_left_out(shell: Shell) -> None:
    words = ("--vary", "policy.name=IE,IY", "--measure", "stretch", "--runs", "2")
    said = shell("compare", shell.write(TINY), *words)
    assert "policy.name=IE: 2 without a stretch" in said.out


def about(mean: float, half: float) -> Estimate:
    return Estimate(mean, mean - half, mean + half, 9)


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [
        (None, "-"),
        (NONE, "-"),
        (Estimate(967.0, -inf, inf, 1), "967"),
        (about(1.0, 0.0), "1 ± 0"),
        (about(0.87412, 0.0731), "0.874 ± 0.073"),
        (about(21_564_535.2, 310_369.4), "21,564,535 ± 310,369"),
        (about(12.345, 9.96), "12.3 ± 10.0"),
        (Estimate(12.345, 11.0, 15.0, 9), "12.3 [11.0, 15.0]"),
    ],
)
def test_figures_are_shown_to_two_digits_of_their_interval(
    estimate: Estimate | None, shown: str
) -> None:
    assert rounded(estimate) == shown


# --- policies of one's own ------------------------------------------------------------------------


def test_policies_beside_the_scenario_and_of_the_command_work_in_workers(
    own: Shell,
) -> None:
    (own.folder / "deep").mkdir()
    path = own.write(TINY, "deep/tiny.toml")
    own.write(MINE, "deep/beside.py")
    words = ("--vary", "policy.name=mine:first,beside:first", "--runs", "2", "--json")
    told = own("compare", path, *words, "--policies", ".").json()
    assert [line["mean"]["mean"] for line in told["variants"]] == [28, 28]


def test_they_work_in_workers_that_are_born_without_them(own: Shell) -> None:
    """Where processes are not forked."""
    path = own.write(TINY)
    code = (
        "import multiprocessing, sys; from sims.cli import main; "
        "multiprocessing.set_start_method('spawn'); sys.exit(main(sys.argv[1:]))"
    )
    words = ("compare", path, "--vary", "policy.name=mine:first,IE", "--runs", "2", "--json")
    told = ended(python("-c", code, *words)).json()
    assert told["variants"][0]["mean"]["mean"] == 28


def test_a_decision_that_cannot_be_is_reported_with_the_variant_and_the_seed(own: Shell) -> None:
    path = own.write(TINY)
    line = own.refused("compare", path, "--vary", "policy.name=IE,mine:stubborn", "--runs", "6")
    assert line.startswith("holdfast: policy.name=mine:stubborn, seed ")
    assert "worker 1 is not UP" in line


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "problem"), listed(__file__, "refused"))
def test_what_cannot_be_compared_is_refused(shell: Shell, words: str, problem: str) -> None:
    said = shell("compare", shell.write(TINY), *words.split())
    assert (said.code, said.out) == (2, "")
    assert problem in said.complaint()


# --- stores and Ctrl-C ----------------------------------------------------------------------------


def kept(store: Path) -> dict[str, RunResult]:
    """All that a store has."""
    return Store(store).results


def test_the_answer_hangs_on_neither_the_store_nor_the_order_in_which_runs_ended(
    shell: Shell,
) -> None:
    store = shell.folder / "store"
    vary = "policy.name=IE,Y-IE,P-IE"
    words = ("compare", shell.write(TINY), "--vary", vary, "--runs", "4", "--json")
    fresh = shell(*words).out
    stored = shell(*words, "--store", store).out
    before = kept(store)
    for path in Store(store).files()[::2]:
        path.unlink()
    resumed = shell(*words, "--store", store).out
    assert fresh == stored == resumed
    assert kept(store).keys() == before.keys()
    assert len(before) == 12


@pytest.mark.usefixtures("hears_ctrl_c")
def test_control_c_is_one_line_and_the_same_command_goes_on(shell: Shell) -> None:
    """The variant of a million iterations never ends; what ends before it is kept."""
    path, store = shell.write(TINY.replace("tasks = 2", "tasks = 2\ncap = inf")), Path("store")
    words = ("compare", path, "--runs", "2", "--store", store, "--json", "--vary")
    process = spawn(*words, "job.iterations=3,1000000")
    until(Store(store).files, process)
    os.kill(process.pid, signal.SIGINT)
    line = f"holdfast: interrupted; what is finished is in {store}: the same command goes on"
    said = ended(process)
    assert (said.code, said.complaint()) == (130, line)
    before = kept(store)
    assert before
    assert shell(*words, "job.iterations=3,2").code == 0
    assert len(kept(store)) == 4
    assert before.items() <= kept(store).items()


def test_without_a_store_control_c_says_that_nothing_is_kept(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(asking, "execute", interrupted)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    words = ("compare", shell.write(TINY), "--vary", "policy.name=IE,IY")
    said = shell(*words, "--store", "none")
    assert said.code == 130
    assert said.complaint() == "holdfast: interrupted; with --store none nothing is kept"
    assert shell(*words).complaint() == "holdfast: interrupted; no run has finished yet"


# --- several cells, another baseline --------------------------------------------------------------


def test_variants_are_held_against_the_baseline_chosen_in_each_cell(shell: Shell) -> None:
    words = ("--vary", "policy.name=IE,Y-IE", "--across", "master.channels=1,2", "--runs", "3")
    told = shell.told("compare", shell.write(TINY), *words, "--baseline", "Y-IE")
    assert [cell["at"] for cell in told["cells"]] == [{"master.channels": n} for n in (1, 2)]
    for cell in told["cells"]:
        by = {it["settings"]["policy.name"]: it for it in cell["variants"]}
        assert by["Y-IE"]["verdict"] == "baseline"
        ours, theirs = (sum(run["value"] for run in by[name]["runs"]) for name in ("IE", "Y-IE"))
        assert by["IE"]["ratio"]["mean"] == pytest.approx(ours / theirs)


def test_repeated_measures_are_compared_in_one_table_with_a_sentence_each(shell: Shell) -> None:
    """Jobs of 30, 21 and 3 s come at 0, 1 and 2 s. FCFS starts them at 0, 30 and 51 s: they wait 0,
    29 and 49 s. SPT starts the last one second: 0, 28 and 32 s. Both end at 54 s."""
    jobs = ", ".join(
        f"{{processors = 1, time = {time}, release = {k}}}" for k, time in enumerate((30, 21, 3))
    )
    head = 'name = "turns"\nplatform = {workers = 1}\npolicy = {name = "R-LIST-0"}\n'
    path = shell.write(f'{head}job = {{kind = "rigid", jobs = [{jobs}]}}\n')
    words = ("compare", path, "--vary", "policy.order=FCFS,SPT", "--runs", "2")
    both = (*words, "--measure", "wait", "--measure", "makespan", "--measure", "cost")
    out = shell(*both).out
    assert re.search(r"wait, s +FCFS +2 of 2 +26 ± 0 ", out), out
    assert re.search(r"wait, s +SPT +2 of 2 +20 ± 0 .* better ", out), out
    assert re.search(r"makespan, s +SPT +2 of 2 +54 ± 0 +1 ± 0 ", out), out
    assert "policy.order=SPT is better than policy.order=FCFS: wait 0.76923077 ± 0 of its" in out
    assert "Nothing shows that any variant's makespan differs from policy.order=FCFS's" in out
    assert "In no mean: policy.order=FCFS: 2 without a cost; policy.order=SPT: 2 without" in out
    told = shell.told(*both)
    found = {it["measure"]: it["variants"][1]["mean"]["mean"] for it in told["cells"][:2]}
    assert found == pytest.approx({"wait": 20, "makespan": 54})
    alone = shell.told(*words, "--measure", "wait", "--measure", "wait")
    assert alone == shell.told(*words, "--measure", "wait")
    path = str(shell.folder / Path(path).name)
    ours = holdfast.compare(
        path, {"policy.order": ["FCFS", "SPT"]}, runs=2, measure=["wait", "makespan"]
    )
    assert [it["measure"] for it in ours.rows()] == ["wait"] * 2 + ["makespan"] * 2
    with pytest.raises(InputError, match="two are called"):
        holdfast.compare(
            path, {"policy.order": ["FCFS", "SPT"]}, measure=[lambda _: 1, lambda _: 2]
        )


def test_one_variant_is_refused_as_there_is_nothing_to_compare_with(shell: Shell) -> None:
    line = shell.refused("compare", shell.write(TINY), "--vary", "policy.name=IE")
    assert "--vary: policy.name=IE is one variant: there is nothing to compare with" in line


def test_the_picture_of_a_comparison_says_its_answer_and_what_its_boxes_are(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr(comparisons, "save", lambda figure, path: figures.append(figure) or path)
    words = ("--vary", "policy.name=IE,Y-IE", "--runs", "6", "-o", "boxes.png")
    said = shell("compare", VOLATILE, *words)
    [figure] = figures
    title = figure.get_suptitle().replace("\n", " ")
    assert title in said.out.splitlines()
    assert "; 6 runs of each variant" in title
    assert "orange: median" in figure.get_supxlabel()
    assert len([it for it in figure.axes[0].lines if len(it.get_xdata()) == 5]) == 2
    shell("compare", VOLATILE, *words[:2], "--runs", "2", "-o", "few.png")
    assert "orange" not in figures[1].get_supxlabel()


def test_the_level_is_told_with_the_pairs_of_any_measure_where_the_first_has_no_ratio(
    shell: Shell,
) -> None:
    path = shell.write(
        "name = 'late'\nplatform = { workers = 1 }\n"
        "faults = { kind = 'exponential', mtbf = 100000, downtime = 10 }\n"
        "job = { kind = 'rigid', jobs = [{ processors = 1, time = 3000, deadline = 3700 }] }\n"
        "protection = { kind = 'images', period = 1000, cost = 20, recovery = 10 }\n"
    )
    about = "--vary", "protection.period=500,3000", "--measure", "late", "--measure", "makespan"
    said = shell("compare", path, *about, "--runs", 10).out
    assert "paired by seed, hold all together at 95 % (1 comparison" in said
    assert "mean late is 0. `--difference` compares such means." in said
