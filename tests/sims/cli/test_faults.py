"""Laws of faults as the command line tells of them: ages, fits, and logs that are replayed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from actors.events import FaultsReplayed, WorkerChanged
from actors.runtime import stream
from policies.availability import WorkerState
from policies.maths.renewals import expected_renewals
from sims.log import LogFile
from tests.sims.cli.commands import Shell

SMALL = """\
0 0 0 7 a 0 100 110
1 0 0 7 a 0 150 160
2 0 1 7 b 0 130 165
3 0 1 7 b 0 140 170
4 0 2 7 c 0 180 200
5 1 2 7 c 0 190 195
6 0 0 8 d 0 0 1000
"""
"""From its first failure on, platform 7 has 100 s: node 0 fails over [0, 10) and [50, 60), node 1
over [30, 70), node 2 over [80, 100). A node has a failure each 3 x 100 / 4 = 75 s, and is DOWN for
80 / 300 of the time."""

TIMES = (0, 10, 20, 30, 40, 50, 60, 99, 900, 999)

REPLAY = """\
name = "replay"
platform = { workers = 3 }
faults = { kind = "replayed", file = "small.tab", platform = 7 }
job = { kind = "rigid", jobs = [{ processors = 3, time = 125 }] }
"""
BY_HAND = ("--set", "faults.start=40", "--set", "faults.nodes=[0,1,2]", "--until", 125)

LAW = """\
name = "law"
platform = { workers = 64 }
faults = { kind = "weibull", mtbf = "422 d", shape = 0.405, downtime = 0, age = "new" }
job = { kind = "rigid", jobs = [{ processors = 64, time = "33 d" }] }
"""

FITTED = """\
name = "fitted"
platform = { workers = 10 }
faults = { kind = "fitted", file = "log.tab" }
job = { kind = "rigid", jobs = [{ processors = 10, time = 500 }] }
"""


@pytest.fixture
def replay(shell: Shell) -> Path:
    """A scenario that replays the small log."""
    shell.write(SMALL, "small.tab")
    return shell.write(REPLAY, "replay.toml")


def write_lifetimes(path: Path, shape: float, nodes: int = 60, end: int = 20_000) -> None:
    """Write a log of nodes that fail for a second each, after Weibull times of scale 1,000 s."""
    rng, lines = np.random.default_rng(1), []
    for node in range(nodes):
        times = 1000 * rng.weibull(shape, 400)
        for at in times.cumsum():
            if at < end:
                lines.append(f"0 0 {node} 7 n 0 {at:.3f} {at + 1:.3f}")
    path.write_text("\n".join([*lines, f"0 0 0 7 n 1 0 {end}"]) + "\n")


def downs(log: str) -> list[tuple[float, int, float | None]]:
    """(time, worker, until) of each DOWN."""
    events = [(it.t, it.event) for it in LogFile(Path(log)) if isinstance(it.event, WorkerChanged)]
    return [(t, it.worker, it.until) for t, it in events if it.state is WorkerState.DOWN]


# --- replayed -------------------------------------------------------------------------------------


def test_each_worker_has_the_record_of_a_node_over_one_window(shell: Shell, replay: Path) -> None:
    log = shell.told("run", replay, *BY_HAND)["log"]
    first = [(0, 1, 30), (10, 0, 20), (40, 2, 60), (60, 0, 70), (90, 1, 130), (110, 0, 120)]
    assert downs(log) == first
    assert shell("audit", log).code == 0


def test_a_summary_has_the_faults_that_were_expected_and_those_that_came(
    shell: Shell, replay: Path
) -> None:
    told = shell.told("run", replay, *BY_HAND)
    assert told["faults"] == {"expected": pytest.approx(3 * (80 / 300 + 125 / 75)), "came": 6}
    assert shell.told("summary", told["log"])["faults"] == told["faults"]
    assert "faults      5.8 expected, 6 came" in shell("summary", told["log"]).out
    assert "5.8 expected within 125 s of 3 workers" in shell("check", replay).out


def test_a_summary_of_a_replay_beside_another_law_says_that_they_may_meet(
    shell: Shell, replay: Path
) -> None:
    """The log of failures is not read again for it."""
    one = replay.read_text().split("faults = ")[1].splitlines()[0]
    text = replay.read_text().replace(f"faults = {one}", f"faults = [{one}, {{ mtbf = 100 }}]")
    both = shell.write(text, "both.toml")
    told = shell.told("run", both, "--until", 100)
    Path("small.tab").unlink()
    assert "expected (fewer where they are DOWN), " in shell("summary", told["log"]).out


def test_a_replay_of_several_platforms_expects_what_their_common_time_brings(
    shell: Shell, replay: Path
) -> None:
    """Of two platforms with two nodes, one is there before the other: over [0, 100) and over
    [900, 1000). Ten failures of four nodes in 1,000 s are one in 400 s, not one in 40 s."""
    lines = [f"0 0 {k % 2} {7 + k // 8} n 0 {1000 + t} {1001 + t}" for k, t in enumerate(TIMES)]
    shell.write("\n".join(lines) + "\n", "small.tab")
    keys = ("--set", "job.jobs.0.time=2000")
    shell.write(REPLAY.replace(", platform = 7", ""), "replay.toml")
    told = shell("check", replay, *keys).out
    assert "one failure in 40 s of its platform's time, and one in 400 s of the whole" in told
    # Over 2,000 s each of the three workers meets its node's failures twice: 5 on average.
    counts = [
        shell.told("run", replay, "--seed", seed, "--until", 2000, *keys, "--log", "none")
        for seed in range(40)
    ]
    came = sum(it["faults"]["came"] for it in counts) / 40
    expected = counts[0]["faults"]["expected"]
    assert expected == pytest.approx(3 * (2000 / 400 + 10 / 4000))
    assert abs(came - expected) < 4


def test_the_window_and_each_workers_node_are_drawn_from_streams_of_their_own(
    shell: Shell, replay: Path
) -> None:
    words = (
        "--seed",
        5,
        "--until",
        500,
        "--set",
        "platform.workers=9",
        "--set",
        "faults.nodes=[1]",
    )
    log = shell.told("run", replay, *words)["log"]
    [told] = [it.event for it in LogFile(Path(log)) if isinstance(it.event, FaultsReplayed)]
    drawn = [f"7/{stream(5, f'fault/0/{unit}').integers(3)}" for unit in range(1, 9)]
    assert told.begin == stream(5, "window/0").uniform(0, 100)
    assert told.nodes == ("7/1", *drawn)
    assert shell("audit", log).code == 0


def test_nodes_of_workers_fail_as_whole_nodes_of_the_log(shell: Shell, replay: Path) -> None:
    words = ("--set", "platform.workers=5", "--set", "platform.node=2", "--set", "faults.of=nodes")
    log = shell.told("run", replay, *BY_HAND, *words)["log"]
    assert downs(log)[:5] == [(0, 2, 30), (0, 3, 30), (10, 0, 20), (10, 1, 20), (40, 4, 60)]


@pytest.mark.parametrize(
    ("changes", "key", "why"),
    [
        (["faults.start=100"], "faults.start", "after the log's end"),
        (["faults.nodes=[3]"], "faults.nodes", "3 is not in small.tab"),
        (["faults.platform=9"], "faults.platform", "9 is not in small.tab; accepted: 7, 8"),
        (["faults.downtime=5"], "faults.downtime", "as long as its log says"),
        (["faults.age=new"], "faults.age", "has no meaning"),
        (["unit=slot"], "faults.kind", "the unit is a slot"),
        (["faults.file=replay.toml"], "replay.toml", "line 1"),
    ],
)
def test_what_a_replay_cannot_be_is_refused_by_its_key(
    shell: Shell, replay: Path, changes: list[str], key: str, why: str
) -> None:
    for command in ("check", "run"):
        line = shell.refused(command, replay, *(it for each in changes for it in ("--set", each)))
        assert key in line
        assert why in line


def test_nodes_are_listed_of_a_platform_that_is_said(shell: Shell, replay: Path) -> None:
    text = REPLAY.replace("platform = 7", "nodes = [1]")
    line = shell.refused("check", shell.write(text, "replay.toml"))
    assert "faults.nodes: nodes are numbered within a platform" in line


# --- ages -----------------------------------------------------------------------------------------


def test_an_age_of_listed_faults_has_no_meaning(shell: Shell) -> None:
    text = LAW.replace('"weibull", mtbf = "422 d", shape = 0.405', '"list", strikes = [[5, 0]]')
    assert "faults.age: has no meaning" in shell.refused("check", shell.write(text, "law.toml"))


def test_check_warns_where_the_age_makes_a_difference(shell: Shell) -> None:
    path = shell.write(LAW, "law.toml")
    new, old = 64 * expected_renewals(33, 422, 0.405), 64 * 33 / 422
    told = shell("check", path).out
    assert f"faults      {new:.4g} expected within 33 d of 64 workers" in told
    assert (
        f"{new:.4g} faults are expected of units that are all new at the start, {old:.4g}" in told
    )
    assert f"{old:.4g} expected" in shell("check", path, "--set", "faults.age=stationary").out
    alike = shell("check", path, "--set", "faults.shape=0.99").out
    assert "expected within 33 d" in alike
    assert "Warning" not in alike


def test_as_many_faults_come_as_are_expected_of_each_age(shell: Shell) -> None:
    path = shell.write(LAW, "law.toml")
    for age, number in (("new", 64 * expected_renewals(33, 422, 0.405)), ("stationary", 5.005)):
        words = ("--set", f"faults.age={age}", "--until", 33 * 86400, "--log", "none")
        told = [shell.told("run", path, *words, "--seed", k)["faults"] for k in range(12)]
        assert told[0]["expected"] == pytest.approx(number, rel=1e-3)
        came = sum(it["came"] for it in told)
        assert abs(came - 12 * number) < 6 * (12 * number) ** 0.5


def test_faults_that_a_law_lists_are_expected_too_one_for_each_worker_of_a_node(
    shell: Shell,
) -> None:
    path = shell.write(LAW, "law.toml")
    words = ["platform.node=4", "faults.age=stationary", "faults.strikes=[[10, 0], [2e6, 1]]"]
    for of, listed in (("workers", 1), ("nodes", 4)):
        sets = [it for each in (*words, f"faults.of={of}") for it in ("--set", each)]
        told = shell.told("run", path, *sets, "--until", 86400)["faults"]
        assert told["expected"] == pytest.approx(64 / 422 + listed)
        assert told["came"] >= listed
    refused = shell.refused("run", path, *sets, "--set", "faults.strikes=[[10, 16]]")
    assert "faults.strikes: [10, 16] is not accepted" in refused


def test_a_law_that_says_no_age_is_new_and_its_log_has_not_changed(shell: Shell) -> None:
    text = LAW.replace(', age = "new"', "")
    path = shell.write(text, "law.toml")
    with_age = Path(shell.told("run", shell.write(LAW, "new.toml"), "--until", 9e5)["log"])
    aged = [it for it in with_age.read_text().splitlines() if "FaultsExpected" not in it]
    log = Path(shell.told("run", path, "--until", 9e5)["log"])
    assert len(log.read_text().splitlines()) == len(aged)
    assert "FaultsExpected" not in log.read_text()


def test_failures_that_last_no_time_are_failures(shell: Shell, replay: Path) -> None:
    """Twelve failures of a node, every 1,000 s, half of them without a length; node 1 fails at 900.
    Node 0 has 11 times of 1,000 s and none after its last failure, node 1 11,100 s after its only
    one."""
    lines = [f"0 0 0 7 a 0 {1000 * k} {1000 * k + k % 2}" for k in range(1, 13)]
    lines.append("0 0 1 7 b 0 900 900")
    shell.write("\n".join(lines) + "\n", "log.tab")
    law = ("--set", "faults.law=exponential")
    told = shell("check", shell.write(FITTED, "fitted.toml"), *law).out
    assert "to 11 times between failures of 2 nodes" in told
    assert f"mean {(11_000 + 11_100) / 11:,.0f} s" in told
    lines = ["0 0 0 7 a 0 100 100", "0 0 0 7 a 0 150 150", "0 0 0 7 a 0 190 195"]
    shell.write("\n".join([*lines, "0 0 0 7 a 1 195 200"]) + "\n", "small.tab")
    one = 'job={kind="rigid",jobs=[{processors=1,time=500}]}'
    keys = ("--set", "faults.start=0", "--set", "faults.nodes=[0]", "--until", 120)
    keys += ("--set", "platform.workers=1", "--set", one)
    log = shell.told("run", replay, *keys)["log"]
    assert downs(log) == [(0, 0, None), (50, 0, None), (90, 0, 95), (100, 0, None)]
    assert shell("audit", log).code == 0


def test_a_fitted_law_starts_in_the_middle_of_its_nodes_lives(shell: Shell) -> None:
    write_lifetimes(shell.folder / "log.tab", 0.6)
    told = shell("check", shell.write(FITTED, "fitted.toml")).out
    law = tomllib.loads(told.partition("\n\n")[2])["faults"]
    assert law["age"] == "stationary"
    assert f"faults      {10 * 500 / law['mtbf']:.4g} expected within 500 s" in told
    assert "this scenario has 'stationary'" in told


def test_a_fit_warns_where_its_rate_is_not_the_logs_own(shell: Shell) -> None:
    path = shell.write(FITTED, "fitted.toml")
    write_lifetimes(shell.folder / "log.tab", 1.0)
    told = shell("check", path).out
    assert "  log         a node has one failure in " in told
    assert "its log part" not in told
    write_lifetimes(shell.folder / "other.tab", 0.4, end=3000)
    more = shell("check", path, "--set", "faults.file=other.tab").out
    assert "Warning: faults: the fitted law and its log part" in more
    log = shell.told("run", path, "--set", "faults.file=other.tab", "--until", 900)["log"]
    assert "the fitted law and its log part" in shell("summary", log).out
    assert shell("audit", log).code == 0


SPREADING = """name = "spreading"
platform = { workers = 20, node = 2, rack = 4 }
job = { kind = "rigid", jobs = [{ processors = 1, time = "1 d" }] }
protection = { kind = "images", period = 600, cost = 0 }
[faults]
mtbf = "1 d"
of = "nodes"
spread = 0.5
age = "stationary"
"""
REPAIRED = """[repair]
stages = [{ time = 60 }]
"""


@pytest.mark.parametrize("repair", ["", REPAIRED])
def test_faults_that_spread_are_expected_and_counted_also_where_they_are_repaired(
    shell: Shell, repair: str
) -> None:
    """Of the 3 racks' 10 nodes, 8 have 3 others in their rack and 2 have 1 other: 2.6 on average,
    half of which are struck. 20 workers are hit once a day, and 1.3 others for each."""
    downtime = "" if repair else "downtime = 60\n"
    path = shell.write(f"{SPREADING}{downtime}{repair}", "spreading.toml")
    told = shell("check", path).out
    assert "10 expected within 1 d of 10 nodes; each worker struck, 1.3 others in its rack" in told
    words = ("--until", 86400, "--log", "none")
    each = [shell.told("run", path, *words, "--seed", k)["faults"] for k in range(12)]
    assert each[0]["expected"] == pytest.approx(20 * 2.3)
    # A fault of a node strikes 2 (1 + B) workers, with B binomial of 3 or 1 and a half: the mean
    # of the square is 28 or 10, 24.4 on average, which is the variance for each of 10 faults.
    assert abs(sum(it["came"] for it in each) - 12 * 46) < 4 * (12 * 10 * 24.4) ** 0.5


HUNG = """\
name = "hung"
platform = { workers = 2 }
job = { kind = "rigid", jobs = [{ processors = 2, time = 10 }] }
[[faults.laws]]
kind = "list"
strikes = [[15, 1]]
downtime = 1
[[faults.laws]]
kind = "list"
effect = "hang"
strikes = [[4, 1], [14, 0]]
detection = 3
"""


def test_a_summary_says_how_many_hangs_came_and_how_many_were_detected(shell: Shell) -> None:
    """The hang at 4 is detected at 7; the fault at 15 ends the next run before that of 14 is."""
    said = shell("run", shell.write(HUNG), "--log", "hung.jsonl").out
    assert "  runs        1 completed, 2 lost" in said
    assert "  hangs       2 came, 1 detected" in said
    assert "  hangs       2 came, 1 detected" in shell("summary", "hung.jsonl").out
    assert shell.told("summary", "hung.jsonl")["hangs"] == {"came": 2, "detected": 1}


def test_a_summary_without_hangs_has_no_line_for_them(shell: Shell) -> None:
    said = shell("run", shell.write(HUNG), "--set", "faults=off", "--log", "none").out
    assert "  runs        1 completed\n  events" in said
