"""Whatever mechanisms meet, a run's log breaks no law."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests import sound
from tests.case_files import case_files
from tests.oracle.coincidences import TENTH
from tests.oracle.scenarios import generate
from tests.sims.anything import TABLES
from tests.sims.oneworld import as_file, cases

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*no buddy", "ignore:.*has no effect"),
    pytest.mark.usefixtures("unchecked"),
]
SMALLEST = {
    "a choice replaces a run by one on a member whose fault nobody has heard of": """
platform.workers = 1
master = { channels = 2, program = 3 }
policy.name = "P-IAY"
job = { kind = "iterative", tasks = 5, iterations = 3 }

[[workers]]
availability = "rrrddddddduuuuuuuurdddduuuuuuuuuuuuuuuuu"
belief.rows = [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]

[[workers]]
task_time = 4
availability = "uuuurrrruuuuuuuuuuuuuuurrrrruuuuuuuudddddddu"
belief.rows = [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]

[[workers]]
task_time = 4
availability = "rrrrrrruuuuuuduuuuudduuuuuu"
belief.rows = [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]

[[workers]]
task_time = 3
availability = "uuuurrrrddrrrrrrruuuuuuuuuuuuu"
belief.rows = [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]

[[faults]]
kind = "list"
downtime = 1.5
strikes = [[8.75, 0], [9, 3]]

[[faults]]
kind = "list"
downtime = 2
detection = 1
strikes = [[9.25, 2], [10.125, 1]]
""",
    "members that wait are resized, and fetch the image of their buddies' checkpoint": """
platform.workers = 5
master = { channels = 2, program = 2, image = 2 }
protection = { kind = "buddies", period = 6, images_every = 1 }
faults = { kind = "list", downtime = 1.5, strikes = [[14, 3], [40, 0]] }
policy.name = "ShortestApplicationsFirst-EndLocal"
job.kind = "malleable"
job.pair = 1
job.jobs = [
  { footprint = 12, speedup = { kind = "power", delta = 0.7 } },
  { footprint = 9, protection = { kind = "buddies", period = inf } },
]
""",
    "a member is replaced so late that when it ends is nearly what was expected": """
platform = { workers = 3, spares = 1 }
master = { channels = 1, program = 2 }
protection = { kind = "buddies", period = 8, cost = 0.5, replace_after = 0 }
policy.name = "IteratedGreedy-EndLocal"
job.kind = "malleable"
job.pair = 1
job.jobs = [{ release = 300_000, footprint = 12 }]

[faults]
kind = "list"
downtime = 6
detection = 0.5
strikes = [[300_001, 0], [300_001.0001, 1]]
""",
    "who has lost a message that nobody has heard of is enrolled again at once": """
platform.workers = 1
master = { channels = 1, program = 2 }
faults = { kind = "list", downtime = 1, detection = 3, strikes = [[1, 0]] }
policy = { name = "IE", reuse = true }
job = { kind = "iterative", tasks = 1, iterations = 1 }
""",
    "a member that lacks nothing comes UP, and has just changed its speed": """
master = { channels = 1, program = 2 }
job.kind = "malleable"
job.jobs = [{ footprint = 12 }]

[[workers]]
availability = { kind = "letters", states = "uuruuu" }
speed = { kind = "list", changes = [[0, 1], [3, 0.5]] }

[[workers]]
""",
    "a copy starts on workers that its decision has freed: too late to replace a member": """
platform.workers = 5
protection = { kind = "buddies", period = 5, replace_after = 0 }
faults = { kind = "list", downtime = 6, strikes = [[3, 1]] }
policy.name = "IteratedGreedy-EndGreedy"
job.kind = "malleable"
job.pair = 1
job.jobs = [
  { footprint = 4, speedup = { kind = "power", delta = 0.7 } },
  { footprint = 4, speedup = { kind = "amdahl", fraction = 0.2 }, protection = { copies = 2 } },
]
""",
    "a spare comes back UP after the time at which it was wanted": """
platform = { workers = 6, spares = 2 }
protection = { kind = "buddies", period = 5, replace_after = 3 }
faults = { kind = "list", downtime = 30, strikes = [[10, 4], [10, 5], [20, 0], [21, 1]] }
policy.name = "EASY"
job.kind = "rigid"
job.jobs = [{ processors = 4, time = 50 }]
""",
    "a run starts on workers of which others have promised some": """
platform.workers = 16
protection = { kind = "buddies" }
faults = { kind = "list", strikes = [[6, 11]] }
policy.name = "IteratedGreedy-EndGreedy"
job.kind = "malleable"
job.jobs = [
  { footprint = 8 },
  { footprint = 12, release = 10 },
  { footprint = 11, speedup = { kind = "roofline", degree = 6 } },
]
""",
    "a redistribution comes when nothing is left but the last verification": """
platform.workers = 3
link.unit = 0
protection = { kind = "buddies", period = 4, verified = true }
faults = { kind = "list", downtime = 1, strikes = [[10, 2]] }
policy.name = "IteratedGreedy-EndGreedy"
job.kind = "malleable"
job.pair = 1
job.verification = 2
job.jobs = [
  { footprint = 4 },
  { footprint = 6, speedup = { kind = "table", times = [40, 21, 15] } },
]
""",
    "a promise that is kept holds up others, though nothing runs": """
platform.workers = 2
policy = { name = "R-LIST-1", order = "SPT", reading = "kept" }
job.kind = "rigid"
job.jobs = [
  { processors = 2, time = 2, estimate = 22 },
  { processors = 1, time = 8, release = 1 },
  { processors = 2, time = 4, estimate = 24, release = 1 },
  { processors = 2, time = 4, estimate = 9 },
]
""",
}
"""Logs that once raised alarms, of the least that it takes."""


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["name"]))
def test_the_log_of_a_one_world_scenario_breaks_no_law(case: dict[str, Any]) -> None:
    assert sound.wrong(as_file(case["scenario"])) == []


@pytest.mark.parametrize("text", SMALLEST.values(), ids=SMALLEST)
def test_the_log_of_a_small_scenario_breaks_no_law(text: str) -> None:
    assert sound.wrong(tomllib.loads(f"name = 'small'\n{text}")) == []


@pytest.mark.parametrize("kind", TABLES)
def test_the_log_of_any_scenario_breaks_no_law(kind: str) -> None:
    assert [seed for seed in range(30) if sound.wrong(TABLES[kind](seed))] == []


def test_scenarios_whose_logs_break_a_law_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert sound.main(17, 1) == 0
    assert capsys.readouterr().out == "0 of 28 logs break a law\n"


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        *(("believed", 477), ("varied pack", 1577), ("overlaid", 1521), ("overlaid", 1833)),
        *(("acted", 11_236_100), ("acted", 11_238_104), ("acted", 11_239_006)),
        *(
            ("acted", 11_242_456),
            ("acted", 11_242_639),
            ("acted", 11_243_295),
            ("acted", 11_244_699),
            ("acted", 11_250_239),
        ),
    ],
)
def test_a_log_that_was_accused_wrongly_breaks_no_law(kind: str, seed: int) -> None:
    assert sound.wrong(TABLES[kind](seed)) == []


def test_a_state_whose_fault_nobody_has_heard_of_counts_in_the_order_of_jobs() -> None:
    """The worker of a job's furthest copy is DOWN, which its policy hears 3 later: by what it knows
    the job has least work left, and is first."""
    images = {"kind": "images", "cost": 0, "recovery": 0, "period": 3}
    assert sound.wrong(TABLES["runs"](194) | {"protection": images}) == []


def test_a_run_that_is_cut_for_a_checkpoint_as_its_part_ends_goes_on_once() -> None:
    _, scenario = generate(530115, practised=True)
    assert sound.wrong(as_file(scenario)) == []


@pytest.mark.parametrize("seed", [890013, 891214, 890285, 47223])
def test_the_log_of_a_practised_fleet_that_was_accused_once_breaks_no_law(seed: int) -> None:
    """A fault that becomes known as a copy ends is blamed after an owner's notice; two members of a
    replica that loads fail at one instant, and are back; so do members of two copies."""
    _, scenario = generate(seed, practised=True, fleet=True)
    assert sound.wrong(as_file(scenario)) == []


@pytest.mark.parametrize("seed", [42189, 42611])
def test_the_log_of_a_practised_fleet_in_groups_that_was_accused_once_breaks_no_law(
    seed: int,
) -> None:
    """Two faults strike a worker whose repair ends at that instant. A line says of one of them that
    it is known of another worker. A fault that strikes a replica as its repair ends is blamed on
    nobody."""
    _, scenario = generate(seed, practised=True, fleet=True, groups=True)
    assert sound.wrong(as_file(scenario)) == []


def test_a_window_begins_at_an_instant_that_is_a_little_earlier() -> None:
    """A checkpoint in tenths is over at 29.99999999999996, and the window begins at 30."""
    _, scenario = generate(46075, TENTH, practised=True, fleet=True, groups=True)
    assert sound.wrong(as_file(scenario)) == []


def test_no_scenario_among_the_cases_has_a_log_that_breaks_a_law(cases_dir: Path) -> None:
    files = case_files(cases_dir, "log/*.toml")
    assert {it.name: sound.wrong(tomllib.loads(it.read_text())) for it in files} == {
        it.name: [] for it in files
    }


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        *(("overlaid", 1639752), ("overlaid", 1640833), ("repaired", 3896)),
        *(("fleet", 1416937), ("ready", 1247149)),
        *(("repaired", 1247531), ("repaired", 1247596), ("fleet", 1248242)),
        *(("reserved", 1248168), ("replicated", 1248123), ("fleet", 1249170), ("reserved", 40033)),
        *(("practised", it) for it in (2120652, 2120708, 2121140)),
        *(
            ("overlaid", 2120966),
            ("overlaid", 4631),
            ("malleable cells", 2161863),
            ("fleet", 2162213),
            ("stored", 2162491),
            ("repaired", 2121434),
            ("reserved", 2121846),
        ),
    ],
)
def test_the_log_of_a_drawn_scenario_that_was_accused_once_breaks_no_law(
    kind: str, seed: int
) -> None:
    """A proactive policy is asked while a spare that nobody holds changes its state; a checkpoint
    beside the work is reported at the instant at which an owner takes a worker; a run that is
    cancelled for another one releases a worker whose fault is known only then; an application
    promises its workers while it waits for one of them; a standby replaces a member as soon as it
    has joined, and the next repaired worker does not join any more; an owner's DOWN makes a
    fault known before standbys replace members; a fault is blamed on another worker of an
    application; a worker on which another application computes fails before it joins; a worker of
    the reserve is called at the instant at which its repair ends; an owner takes a member at the
    instant at which another's fault is detected; so does an owner who gives one back; a reservation
    that is kept gets more workers, as its job waits for standbys from the reserve too; a checkpoint
    beside the work is complete at the instant at which another copy's part, or its own run's, ends;
    the end of an application that had promised its workers frees a spare; an owner takes a spare
    that is a member, of which a proactive policy is not told; a job of the queue lacks workers
    until the ends of preempted runs, at the same instant, free some; an owner gives a member back
    while a checkpoint beside the work is under way; a worker changes its speed as a checkpoint is
    lost, and another application waits to tell it; a copy whose checkpoints the log does not tell
    of becomes the oldest of its application."""
    assert sound.wrong(TABLES[kind](seed)) == []


@pytest.mark.parametrize(
    "seed",
    [
        60310,
        200759,
        202167,
        61504,
        61739,
        63626,
        310167,
        401473,
        600187,
        1327,
        820171,
        820642,
        822786,
        843457,
        820349,
        821224,
        865283,
    ],
)
def test_the_log_of_a_fleet_that_was_accused_once_breaks_no_law(seed: int) -> None:
    """A worker whose DOWN ends hangs before another fault takes it at that instant; two faults
    strike what is DOWN, of a node and of its rack, before either's repair begins; a fault detected
    at once drops a replica with one detected late; a standby goes DOWN as a member's fault is
    detected; a kept copy's next run comes before a replica of another copy rejoins; a fault
    strikes a worker whose earlier one becomes known at that instant, as its run is withdrawn; an
    owner takes two replicas' members, of which faults are undetected; faults of a law listed later
    become known before the instant's faults strike, as their run is withdrawn; a copy's fault is
    known once another copy has been lost, and comes before it; the reserve is called as a worker
    retires; a replica drops out at the instant at which another rejoins; an owner takes a member of
    one copy, whose fault becomes known so, before another copy's next run starts; repairs begin
    before all that the run does that they end; messages of a replica that drops out are lost before
    it does; a further fault strikes a member as its earlier one is detected, which makes both
    known."""
    _, scenario = generate(seed, fleet=True)
    assert sound.wrong(as_file(scenario)) == []
