"""Scenario files of rigid and moldable jobs."""

import tomllib
from pathlib import Path

import pytest

from actors.events import JobsLeftOut, JobSubmitted, Outcome, RunStarted, WorkerChanged
from actors.runtime import Record
from policies.availability import WorkerState
from sims.history.rows import Use
from sims.metrics.report import Report
from sims.scenario.loader import read
from tests.sims.kinds import SCENARIOS, recorded
from tests.sims.oneworld import members

RIGID = """
name = "r"
[platform]
workers = 4
[job]
kind = "rigid"
[[job.jobs]]
processors = 3
time = 5
failures = 1
[[job.jobs]]
name = "late"
processors = 2
time = 4
release = 2
[policy]
name = "R-LIST-0"
"""

KEPT = """
name = "kept"
[platform]
workers = 8
[job]
kind = "rigid"
jobs = [
  { processors = 6, time = 30, estimate = 10 },
  { processors = 7, time = 5 },
  { processors = 8, time = 5 },
]
[policy]
name = "R-LIST-2"
order = "FCFS"
reading = "kept"
"""

MOLDABLE = """
name = "m"
[platform]
workers = 4
[job]
kind = "moldable"
[[job.jobs]]
speedup = { kind = "roofline", work = 12, degree = 3 }
[policy]
allocation = "LPA"
"""


def fails(record: Record) -> bool:
    """Whether a fault strikes there."""
    event = record.event
    return isinstance(event, WorkerChanged) and event.state is WorkerState.DOWN


def run(text: str = RIGID, folder: Path = SCENARIOS) -> tuple[list[Record], Report]:
    records = recorded(read(tomllib.loads(text), "file"), folder)
    return records, Report.of(records)


def shipped(name: str, old: str = "", new: str = "") -> tuple[list[Record], Report]:
    """An example, with one thing changed."""
    return run((SCENARIOS / f"{name}.toml").read_text().replace(old, new))


def test_listed_jobs_arrive_fail_and_end_as_written() -> None:
    _, report = run()
    outcomes = report.summary.outcomes
    assert report.summary.makespan == 14
    assert (outcomes.total(), outcomes[Outcome.FAILED]) == (3, 1)


def test_jobs_left_out_are_counted_and_explained() -> None:
    records, report = run(RIGID.replace("processors = 3", "processors = 9"))
    reasons = [r.event for r in records if isinstance(r.event, JobsLeftOut)]
    assert reasons == [JobsLeftOut("needs more than the platform's 4 workers", 1)]
    assert (list(report.summary.left_out.values()), len(report.summary.submitted)) == ([1], 1)


def test_a_log_gives_its_jobs_at_their_times_and_says_what_it_left_out() -> None:
    records, report = shipped("batch-easy")
    submitted = [r for r in records if isinstance(r.event, JobSubmitted)]
    assert (len(submitted), list(report.summary.left_out.values())) == (59, [1])
    assert submitted[-1].t > submitted[0].t == 0


def test_killing_takes_jobs_out_at_their_estimate() -> None:
    _, report = shipped("batch-easy", 'overrun = "finish"', 'overrun = "kill"')
    assert (len(report.summary.killed), len(report.summary.completed)) == (1, 58)


def test_the_same_failures_strike_under_every_policy() -> None:
    seen = set()
    for policy in ("R-LIST-0", "R-LIST-1", "R-LIST-7", "R-SHELF-B", "R-SHELFFILL-NB"):
        records, report = shipped("batch-rigid", "R-LIST-0", policy)
        per_job: dict[str, int] = {}
        for record in records:
            if isinstance(record.event, RunStarted):
                per_job[record.event.job] = record.event.run
        seen.add(tuple(sorted(per_job.items())))
        assert report.summary.outcomes[Outcome.FAILED] > 0
    assert len(seen) == 1


def test_the_same_faults_strike_under_every_policy() -> None:
    seen = []
    for policy in ("R-LIST-0", "R-LIST-Q", "R-SHELF-B", "R-SHELFFILL-NB"):
        records, report = shipped("batch-faults", "R-LIST-1", policy)
        failed = [(it.t, it.event) for it in records if fails(it)]
        seen.append([it for it in failed if it[0] < 40_000])
        assert report.summary.outcomes[Outcome.LOST] > 0
        assert report.ledger.total[Use.DOWN] > 0
    assert seen[0]
    assert all(faults == seen[0] for faults in seen)


def test_moldable_jobs_meet_faults_too() -> None:
    faults = '[faults]\nkind = "list"\nstrikes = [[1, 0]]\n'
    records, report = run(MOLDABLE.replace("[policy]", f"{faults}[policy]"))
    assert [it.t for it in records if fails(it)] == [1]
    assert report.summary.outcomes[Outcome.LOST] == 1


def test_a_batch_workload_of_batsim_is_read(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text(
        '{"nb_res": 4, "jobs": [{"id": "1", "subtime": 3, "walltime": 9, "res": 2,'
        ' "profile": "d"}],'
        ' "profiles": {"d": {"type": "delay", "delay": 5}}}'
    )
    start = RIGID.index("[[job.jobs]]")
    text = RIGID[:start] + '[job.batsim]\nfile = "w.json"\n' + RIGID[RIGID.index("[policy]") :]
    assert run(text, tmp_path)[1].summary.makespan == 5  # from the first submission


def test_a_policy_of_ones_own_needs_one_file(tmp_path: Path) -> None:
    (tmp_path / "mine_batch.py").write_text(
        "from policies.interface import Decision\n"
        "def last_first(view):\n"
        "    fitting = [q for q in view.queue if q.processors <= view.free]\n"
        "    return Decision(fitting[-1:])\n"
        "def by_name(job, processors, time, platform, draw):\n"
        "    return -ord(job.name[0])\n"
        "def single(jobs, processors):\n"
        "    return [1] * len(jobs)\n"
    )
    text = RIGID.replace('"R-LIST-0"', '"mine_batch:last_first"\norder = "mine_batch:by_name"')
    assert len(run(text, tmp_path)[1].summary.completed) == 2
    own = MOLDABLE.replace('"LPA"', '"mine_batch:single"')
    _, report = run(own, tmp_path)
    assert report.summary.makespan == 12


def test_an_allocation_rule_an_order_and_a_strategy_combine_freely() -> None:
    for rule in ("LPA", "BATCH", "MINTIME", "MINAREA"):
        for strategy in ("R-LIST-0", "R-LIST-Q", "R-SHELFFILL-B"):
            text = MOLDABLE.replace('"LPA"', f'"{rule}"\norder = "SA"\nname = "{strategy}"')
            assert run(text)[1].summary.makespan == (12 if rule == "MINAREA" else 4)


@pytest.mark.parametrize(
    ("allotment", "second_batch"),
    [("exact", [2, 2, 1, 1]), ("mixed", [4, 2, 2, 1]), ("programme", [2, 2, 1, 1])],
)
def test_a_scenario_names_the_allotment_of_its_batches(
    allotment: str, second_batch: list[int]
) -> None:
    """moldable21, section 4.7, but both attempts of the second batch are needed."""
    example = (SCENARIOS / "batch-moldable.toml").read_text()
    text = example.replace("failures = 1", "failures = 2")
    records, _ = run(text.replace('"exact"', f'"{allotment}"\neps = 0.3'))
    events = [record.event for record in records]
    started = [e for e in events if isinstance(e, RunStarted)]
    sized = [(e.job, e.run, len(members(e.processors))) for e in started]
    assert [processors for _, run, processors in sorted(sized) if run] == second_batch


def test_utilisation_counts_what_attempts_held() -> None:
    _, report = run()
    assert report.utilisation == pytest.approx((3 * 10 + 2 * 4) / (4 * 14))


def test_a_kept_reservation_waits_for_a_job_that_outlives_its_estimate() -> None:
    """The promise's time has come and its processors have not: it must not be asked for again and
    again at one instant."""
    records, _ = run(KEPT)
    started = [record.t for record in records if isinstance(record.event, RunStarted)]
    assert started == [0, 30, 35]
