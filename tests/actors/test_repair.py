"""What faults strike is repaired in stages, blamed on others, and retired (rules.md, R6 to R8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from actors.decisions import BadDecision
from actors.events import (
    End,
    FaultBlamed,
    JobCompleted,
    RepairEnded,
    RepairStarted,
    RunEnded,
    RunStarted,
    ScenarioEnded,
    ScenarioStarted,
    StandbysHeld,
    UnitFailed,
    UnitRetired,
    WorkerChanged,
)
from actors.intervals import numbers_in
from actors.runtime import Event, Record
from actors.runtime.errors import WorkersRetired
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.audit.scenario import given
from sims.errors import InputError
from sims.history.summary import Summary
from sims.log import LogFile
from sims.scenario.loader import scenario_of
from sims.session import run

UP, DOWN = WorkerState.UP, WorkerState.DOWN
Table = dict[str, Any]


def scenario_with(strikes: list[list[float]], repair: Table, **more: Any) -> Table:
    """A job of 12 s on 2 workers of 3, whose checkpoints are free and come each 1 s, where faults
    strike at these times."""
    job = {"name": "A", "processors": 2, "time": 12}
    table = {
        "name": "repaired",
        "platform": {"workers": 3},
        "faults": {"kind": "list", "strikes": strikes},
        "repair": repair,
        "protection": {"kind": "images", "period": 1},
        "job": {"kind": "rigid", "jobs": [job], "cap": 500},
    }
    for key, value in more.items():
        merged = isinstance(value, dict) and key in table and "laws" not in value
        table[key] = table[key] | value if merged else value
    return table


def records(strikes: list[list[float]], repair: Table, **more: Any) -> list[Record]:
    """The log of such a scenario; the audit finds nothing wrong with it."""
    found = list(run(scenario_with(strikes, repair, **more)).records())
    assert list(audit(found)) == []
    return found


def fixed(*times: float, **more: Any) -> Table:
    """Stages of these lengths, of which each hands everything on to the next."""
    stages = [{"time": time, "law": "fixed", "passes_on": 1} for time in times]
    del stages[-1]["passes_on"]
    return {"stages": stages} | more


def times(found: list[Record], kind: type[Event], **fields: object) -> list[float]:
    """When events of a kind come whose fields are these."""
    return [
        it.t
        for it in found
        if isinstance(it.event, kind)
        and all(getattr(it.event, name) == value for name, value in fields.items())
    ]


def changes(found: list[Record], worker: int) -> list[tuple[float, WorkerState]]:
    """Each change of a worker's state."""
    return [
        (it.t, it.event.state)
        for it in found
        if isinstance(it.event, WorkerChanged) and it.event.worker == worker
    ]


# --- R6 -------------------------------------------------------------------------------------------


def test_a_worker_is_down_until_all_stages_have_repaired_it() -> None:
    """Struck at 5, it is repaired for 2 s and then for 3 s: it is UP from 10 on. The job goes on
    with worker 2 from 5 s on, of which the last whole second is saved: it ends at 12."""
    found = records([[5, 0]], fixed(2, 3))
    assert changes(found, 0) == [(5, DOWN), (10, UP)]
    assert times(found, RepairStarted) == [5, 7]
    assert times(found, JobCompleted) == [12]


@pytest.mark.parametrize("policy", ["FCFS", "SRPT+R"])
def test_what_fails_is_repaired_whoever_decides(policy: str) -> None:
    jobs = [{"name": "A", "processors": 1, "time": 12}]
    about = {"policy": {"name": policy}, "job": {"jobs": jobs}}
    found = records([[3, 0]], fixed(2), **about)
    assert times(found, RepairStarted) == [3]
    assert changes(found, 0) == [(3, DOWN), (5, UP)]


def test_the_crew_of_a_stage_repairs_one_after_the_other_the_lowest_worker_first() -> None:
    """Both are struck at 5: worker 0 is repaired until 9, worker 1 from then until 13."""
    stages = [{"time": 4, "law": "fixed", "crews": 1}]
    found = records([[5, 1], [5, 0]], {"stages": stages})
    assert changes(found, 0) == [(5, DOWN), (9, UP)]
    assert changes(found, 1) == [(5, DOWN), (13, UP)]


def test_who_comes_first_is_repaired_first_though_its_number_is_higher() -> None:
    stages = [{"time": 4, "law": "fixed", "crews": 1}]
    found = records([[1, 0], [2, 2], [3, 1]], {"stages": stages})
    assert [changes(found, worker)[-1][0] for worker in (0, 2, 1)] == [5, 9, 13]


def test_a_fault_of_what_is_in_repair_changes_nothing() -> None:
    found = records([[5, 0], [6, 0], [8, 0]], fixed(4))
    assert changes(found, 0) == [(5, DOWN), (9, UP)]
    assert times(found, UnitFailed) == [5]


def test_at_the_instant_at_which_a_repair_ends_a_fault_strikes() -> None:
    """The repair ends at 6, the next fault strikes then: it stays DOWN until 10."""
    found = records([[2, 0], [6, 0]], fixed(4))
    assert changes(found, 0) == [(2, DOWN), (10, UP)]
    assert times(found, UnitFailed) == [2, 6]


def test_a_fault_of_an_owners_down_begins_a_repair() -> None:
    """Its owner has worker 0 DOWN over [3, 6); struck at 5, it is repaired until 9."""
    workers = [{"availability": "uuuddduuuuuuuuuuuuuuuuuuuuu"}, {}, {}]
    found = records([[5, 0]], fixed(4), platform={"workers": 0}, workers=workers)
    assert changes(found, 0) == [(3, DOWN), (9, UP)]


def test_repairs_go_on_whatever_the_owner_says() -> None:
    """Struck at 2 and repaired until 8; its owner has it DOWN over [6, 10)."""
    workers = [{"availability": "uuuuuudddduuuuuuuuuuuuuuuu"}, {}, {}]
    found = records([[2, 0]], fixed(6), platform={"workers": 0}, workers=workers)
    assert times(found, RepairEnded) == [8]
    assert changes(found, 0) == [(2, DOWN), (10, UP)]


def test_a_repair_begins_once_the_fault_is_detected() -> None:
    """Struck at 5 and detected at 8: the run is lost then, and the repair lasts until 12."""
    found = records([[5, 0]], fixed(4), faults={"detection": 3})
    assert times(found, RunEnded, job="A")[0] == 8
    assert times(found, RepairStarted) == [8]
    assert changes(found, 0) == [(5, DOWN), (12, UP)]


def test_the_fault_of_an_idle_worker_is_repaired_at_once() -> None:
    found = records([[5, 2]], fixed(4), faults={"detection": 3})
    assert times(found, RepairStarted) == [5]


def test_a_node_is_repaired_as_one() -> None:
    """One crew and one stage bring both workers of node 0 back at 9."""
    stages = [{"time": 4, "law": "fixed", "crews": 1}]
    found = records(
        [[5, 0]], {"stages": stages}, platform={"workers": 4, "node": 2}, faults={"of": "nodes"}
    )
    assert changes(found, 0) == changes(found, 1) == [(5, DOWN), (9, UP)]
    assert len(times(found, RepairStarted)) == 1


def test_a_worker_is_down_while_any_repair_of_it_lasts() -> None:
    """Worker 0 is struck at 2, its node at 3; their repairs end at 8 and 9."""
    laws = [
        {"kind": "list", "strikes": [[2, 0]]},
        {"kind": "list", "strikes": [[3, 0]], "of": "nodes"},
    ]
    found = records([], fixed(6), platform={"workers": 4, "node": 2}, faults={"laws": laws})
    assert changes(found, 0) == [(2, DOWN), (9, UP)]
    assert changes(found, 1) == [(3, DOWN), (9, UP)]


@pytest.mark.parametrize(("fixes", "struck"), [([1], 1), ([0, 1], 2)])
def test_a_repair_that_removes_the_cause_takes_its_unit_out_of_curable_laws(
    fixes: list[int], struck: int
) -> None:
    """Worker 0 is a lemon that computes for 2 s between two faults. Once its repair has fixed it,
    it fails no more."""
    lemons = {"mtbf": 1e9, "clock": "computing", "units": "0", "curable": True}
    lemons["gaps"] = [[2, 2, 2, 2]]
    stages = [{"time": 1, "law": "fixed", "fixes": fixes}]
    platform = {"workers": 2}
    found = records(
        [], {"stages": stages}, platform=platform, faults=lemons | {"kind": "exponential"}
    )
    assert len(times(found, UnitFailed)) == struck


def test_laws_of_a_share_are_curable_and_others_are_not() -> None:
    laws = [
        {"mtbf": 1e9},
        {"mtbf": 1e9, "share": 0.5},
        {"mtbf": 1e9, "share": 0.5, "curable": False},
    ]
    found = records([], fixed(1), faults={"laws": laws})
    started = found[0].event
    assert isinstance(started, ScenarioStarted)
    derived = given(started).repair
    assert derived is not None and derived.curable == {1}
    assert [law.cured for law in scenario_of(started.text, "log").faults.laws] == [0, 1, 0]


# --- R7 -------------------------------------------------------------------------------------------


def test_a_fault_blamed_on_nobody_has_its_worker_back_at_once() -> None:
    """The run is lost with the work since 5, and begins again on the same workers."""
    found = records([[5.5, 0]], fixed(4, blamed=[0]))
    assert changes(found, 0) == [(5.5, DOWN), (5.5, UP)]
    assert times(found, RepairStarted) == []
    assert times(found, RunStarted, processors="0-1") == [0, 5.5]
    assert times(found, JobCompleted) == [12.5]


def test_a_fault_blamed_on_another_takes_that_one_down() -> None:
    """Worker 0 is struck and back at once; its fellow, worker 1, goes to repair in its place."""
    found = records([[5.5, 0]], fixed(4, mistaken=[1]))
    assert changes(found, 0) == [(5.5, DOWN), (5.5, UP)]
    assert changes(found, 1) == [(5.5, DOWN), (9.5, UP)]
    assert times(found, FaultBlamed, workers="0", blamed="1") == [5.5]
    assert times(found, RunStarted, processors="0 2") == [5.5]


def test_a_fault_that_no_run_held_is_blamed_on_what_it_struck() -> None:
    found = records([[5.5, 2]], fixed(4, blamed=[0], mistaken=[1]))
    assert times(found, FaultBlamed, workers="2", blamed="2") == [5.5]


def test_the_other_is_drawn_by_number_among_members_that_were_not_down() -> None:
    """Under buddies worker 0 is DOWN since 2; a fault of worker 2 at 2 too is blamed on the second
    of those that may be: workers 1 and 3."""
    job = {"name": "A", "processors": 4, "time": 12}
    found = records(
        [[2, 2]],
        fixed(4, mistaken=[1], others=[2]),
        platform={"workers": 4},
        job={"jobs": [job]},
        protection={"kind": "buddies", "period": 1},
    )
    assert times(found, FaultBlamed, workers="2", blamed="3") == [2]


def test_both_places_of_a_mistake_are_lost_to_buddies() -> None:
    """The struck one and the blamed one have both gone DOWN: together they held a checkpoint."""
    job = {"name": "A", "processors": 2, "time": 12}
    found = records(
        [[5, 0]],
        fixed(4, mistaken=[1]),
        platform={"workers": 2},
        job={"jobs": [job]},
        protection={"kind": "buddies", "period": 1},
    )
    assert times(found, RunStarted, begun=0) == [0, 9]
    assert times(found, JobCompleted) == [21]


# --- R8 -------------------------------------------------------------------------------------------


def test_a_unit_with_two_faults_within_the_window_retires() -> None:
    """Blamed at 2 and 5, each repaired for 1 s: at 6 both lie within 5 s."""
    retirement = {"kind": "faults-within", "faults": 2, "window": 5}
    found = records([[2, 0], [5, 0]], fixed(1, retirement=retirement))
    assert times(found, UnitRetired, workers="0") == [6]
    assert changes(found, 0) == [(2, DOWN), (3, UP), (5, DOWN)]


@pytest.mark.parametrize(("faults", "window"), [((2, 5), 4), ((1.1, 2.8), 2.7)])
def test_a_fault_at_the_begin_of_the_window_does_not_count(
    faults: tuple[float, float], window: float
) -> None:
    """Nor in decimals, where 3.8 - 2.7 is a little below 1.1."""
    retirement = {"kind": "faults-within", "faults": 2, "window": window}
    found = records([[it, 0] for it in faults], fixed(1, retirement=retirement))
    assert times(found, UnitRetired) == []


def test_a_score_falls_with_faults_and_rises_with_computing() -> None:
    """Each fault costs 60 of 100. The run until 5 computes for two whole periods of 2 s, and gives
    15 for each to worker 1, but none to worker 0, on which its end is blamed: two faults of worker
    0 leave it with -20, two of worker 1 leave it with 10."""
    score = {"kind": "score", "period": 2, "credit": 15}
    strikes = [[5, 0], [7, 0], [8, 1], [9.5, 1]]
    found = records(strikes, fixed(1, retirement=score), platform={"workers": 4})
    assert times(found, UnitRetired) == times(found, UnitRetired, workers="0") == [8]


def test_a_job_that_needs_more_workers_than_are_left_is_an_error() -> None:
    retirement = {"kind": "faults-within", "faults": 1, "window": 5}
    with pytest.raises(WorkersRetired, match="worker 1 retires, and A needs 2 workers: 1 "):
        records([[2, 0], [5, 1]], fixed(1, retirement=retirement))


@pytest.mark.parametrize(
    ("exclusive", "strikes", "needed", "left"),
    [(False, [[2, 1], [4, 0]], 1, 0), (False, [[2, 1]], 2, 1), (True, [[2, 1]], 1, 0)],
)
def test_a_job_that_needs_more_workers_than_are_left_of_its_partition_is_an_error(
    exclusive: bool, strikes: list[list[float]], needed: int, left: int
) -> None:
    """B comes when A is over, and then it is an error, too. Where B holds whole nodes a worker that
    retires takes the other of its node with it."""
    part = {"name": "b", "units": "0-1", "exclusive": exclusive}
    cells = {"workers": 6, "node": 2, "partitions": [{"name": "a", "units": "2-5"}, part]}
    jobs = [
        {"name": "A", "processors": 2, "time": 9, "queue": "a"},
        {"name": "B", "processors": needed, "time": 9, "queue": "b", "after": ["A"]},
    ]
    repair = fixed(1, retirement={"kind": "faults-within", "faults": 1, "window": 5})
    whose = "whole nodes" if exclusive else "its partition"
    words = f"at 9 .* and B needs {needed} workers: {left} of {whose} "
    with pytest.raises(WorkersRetired, match=words):
        records(strikes, repair, platform=cells, job={"jobs": jobs})


def test_the_log_of_a_run_that_ran_out_of_workers_has_an_end(tmp_path: Path) -> None:
    retirement = {"kind": "faults-within", "faults": 1, "window": 5}
    scenario = scenario_with([[2, 0], [5, 1]], fixed(1, retirement=retirement))
    log = tmp_path / "it.jsonl"
    with pytest.raises(WorkersRetired):
        run(scenario, log=log)
    found = list(LogFile(log))
    assert found[-1].event == ScenarioEnded(End.DEPLETED)
    assert list(audit(found)) == []
    summary = Summary()
    for record in found:
        summary(record)
    assert (summary.depleted, summary.makespan) == (True, None)


def test_no_run_in_which_none_retired_ends_for_want_of_workers() -> None:
    found = records([[2, 0], [5, 1]], fixed(1))
    place = next(k for k, it in enumerate(found) if it.t > 5)
    end = evolve(found[place], event=ScenarioEnded(End.DEPLETED), t=5, cause=place - 1)
    [violation] = audit([*found[:place], end])
    assert "no worker retired that a job lacks" in violation.why


@pytest.mark.parametrize("strikes", [[[2, 2], [3, 0]], [[2, 2], [2, 0]]])
def test_a_kept_member_that_retires_without_a_standby_is_an_error(
    strikes: list[list[float]],
) -> None:
    """Worker 2, the standby, is struck before; worker 3 is free, and no standby."""
    with pytest.raises(WorkersRetired, match="worker 0 retires, and A keeps it as a member"):
        records(
            strikes,
            fixed(2, retirement={"kind": "faults-within", "faults": 1, "window": 100}),
            platform={"workers": 4},
            protection={"kind": "buddies", "period": 3},
            job={"jobs": [{"name": "A", "processors": 2, "time": 12, "standbys": 1}]},
        )


def test_a_kept_member_that_retires_is_replaced_at_once() -> None:
    """A spare would take its place 100 s after the fault; retired at 6, it is replaced then."""
    found = records(
        [[5, 0]],
        fixed(1, retirement={"kind": "faults-within", "faults": 1, "window": 5}),
        platform={"workers": 4, "spares": 1},
        protection={"kind": "buddies", "period": 1, "replace_after": 100},
    )
    assert times(found, RunStarted, keeps=0) == [6]
    assert times(found, JobCompleted) == [13]


# --- R9 -------------------------------------------------------------------------------------------


def test_jobs_are_placed_on_the_workers_with_the_fewest_faults() -> None:
    """Worker 0 was struck at 1 and is UP again at 2; worker 2 is struck at 5. At 5 workers 1 and 3
    have no fault, worker 0 has one."""
    found = records(
        [[1, 0], [5, 2]],
        fixed(1),
        platform={"workers": 4},
        policy={"placement": "fewest-faults"},
    )
    assert times(found, RunStarted, processors="1-2") == [1]
    assert times(found, RunStarted, processors="1 3") == [5]


def test_jobs_are_placed_on_the_workers_with_the_highest_scores() -> None:
    """Worker 0 was struck at 1: its score is 40. The others computed for 4 s: theirs are higher."""
    score = {"kind": "score", "period": 4}
    found = records(
        [[1, 0], [5.5, 2]],
        fixed(1, retirement=score),
        platform={"workers": 4},
        policy={"placement": "highest-score"},
    )
    assert times(found, RunStarted, processors="1 3") == [5.5]


def test_jobs_are_placed_on_the_workers_that_came_back_longest_ago() -> None:
    """Workers that were never away come first: 2 and 3 at 4, 3 at 6. Worker 0 is back since 2,
    worker 1 since 5, and worker 2 since 7."""
    found = records(
        [[1, 0], [4, 1], [6, 2], [8, 3]],
        fixed(1),
        platform={"workers": 4},
        policy={"placement": "longest-back"},
    )
    for time, processors in ((1, "1-2"), (4, "2-3"), (6, "0 3"), (8, "0-1")):
        assert times(found, RunStarted, processors=processors)[-1] == time


def test_ties_between_records_are_drawn_where_the_policy_says_so() -> None:
    """Two of six workers without a fault in each of 60 runs: each has 20, give or take four
    standard deviations of 3.7. Once worker 0 has a fault, it is chosen no more."""
    drawn, about = Counter[int](), {"placement": "fewest-faults", "ties": "random"}
    for seed in range(60):
        found = records(
            [[1, 0], [1, 0]], fixed(1), platform={"workers": 6}, policy=about, seed=seed
        )
        first, *others = [it.event for it in found if isinstance(it.event, RunStarted)]
        drawn.update(numbers_in(first.processors))
        assert all(0 not in numbers_in(it.processors) for it in others)
    assert set(drawn) == set(range(6))
    assert all(abs(times - 20) < 15 for times in drawn.values())


@pytest.mark.parametrize("placement", ["fewest-faults", "highest-score", "longest-back"])
def test_a_placement_by_records_that_nobody_keeps_is_refused(placement: str) -> None:
    table = {
        "name": "a",
        "platform": {"workers": 2},
        "policy": {"placement": placement},
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 1}]},
    }
    with pytest.raises(InputError, match=placement) as refused:
        run(table)
    assert refused.value.key == "policy.placement"


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"faults": {"downtime": 5}}, "faults.downtime"),
        ({"repair": None, "faults": {"curable": True}}, "faults.curable"),
        ({"repair": {"stages": []}}, "repair.stages"),
        ({"repair": {"stages": [{"time": 1, "passes_on": 0.5}]}}, "repair.stages.0.passes_on"),
        (
            {"repair": {"stages": [{"time": 1, "law": "fixed", "times": [2]}]}},
            "repair.stages.0.times",
        ),
    ],
)
def test_settings_without_a_meaning_are_refused(change: Table, key: str) -> None:
    with pytest.raises(InputError) as refused:
        records([[5, 0]], change.pop("repair", fixed(1)), **change)
    assert refused.value.key == key


OWN = """
class Never:
    def retires(self, workers, view):
        return {answer}
"""


def test_a_retirement_policy_of_a_users_own_decides(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN.format(answer="view.record(workers[0]).repairs >= 2"))
    table = {
        "name": "own",
        "platform": {"workers": 3},
        "faults": {"kind": "list", "strikes": [[1, 0], [3, 0]]},
        "repair": fixed(1, retirement="mine:Never"),
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 12}]},
    }
    found = list(run(table, folder=tmp_path).records())
    assert times(found, UnitRetired) == [4]


def test_an_answer_that_is_neither_true_nor_false_names_the_policy(tmp_path: Path) -> None:
    (tmp_path / "mine_too.py").write_text(OWN.format(answer="None"))
    table = {
        "name": "own",
        "platform": {"workers": 3},
        "faults": {"kind": "list", "strikes": [[1, 0]]},
        "repair": fixed(1, retirement="mine_too:Never"),
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 12}]},
    }
    with pytest.raises(BadDecision, match=r"policy mine_too:Never answered None: .* True"):
        run(table, folder=tmp_path)


def test_a_trace_says_on_what_the_fault_of_a_lost_run_is_blamed(tmp_path: Path) -> None:
    table = {
        "name": "blamed",
        "platform": {"workers": 4},
        "faults": {"kind": "list", "strikes": [[5.5, 0], [9, 2]]},
        "repair": fixed(4, mistaken=[1], blamed=[1, 0]),
        "job": {"kind": "rigid", "jobs": [{"name": "A", "processors": 2, "time": 12}]},
    }
    result = run(table, log=tmp_path / "blamed.jsonl")
    lines = str(result.trace("A")).splitlines()
    said = [line.partition("  (#")[0].partition(" s ")[2].strip() for line in lines]
    assert [it for it in said if "blamed" in it] == [
        "the fault of worker 0 is blamed on worker 1",
        "the fault of worker 2 is blamed on nobody",
    ]


# --- a placement of the user's own ----------------------------------------------------------------

PLACES = """
from policies.interface import StartView

class Mine:
    def places(self, view: StartView):
        told.append((view.now, view.job.name, view.count, tuple(view.free)))
        return {answer}

told = []
"""


def placed(
    tmp_path: Path, answer: str, strikes: Sequence[Sequence[float]] = ((1, 3), (5, 2)), **more: Any
) -> list[Record]:
    """The log of the job that is placed by a policy of the user's, which answers so."""
    (tmp_path / "places.py").write_text(PLACES.format(answer=answer))
    table = {
        "name": "placed",
        "platform": {"workers": 4},
        "faults": {"kind": "list", "strikes": strikes},
        "repair": fixed(1),
        "protection": {"kind": "images", "period": 1},
        "policy": {"placement": "places:Mine"},
        "job": {"kind": "rigid", "jobs": [{"name": "A", "processors": 2, "time": 12} | more]},
    }
    found = list(run(table, folder=tmp_path).records())
    assert list(audit(found)) == []
    return found


def test_a_placement_of_ones_own_chooses_by_records(tmp_path: Path) -> None:
    """The highest numbers without a fault: 2 and 3 at 0, 1 and 2 at 1, when worker 3 has one, and 0
    and 1 at 5."""
    found = placed(
        tmp_path,
        "sorted(view.free, key=lambda it: (len(view.record(it).faults), -it))[: view.count]",
    )
    for time, processors in ((0, "2-3"), (1, "1-2"), (5, "0-1")):
        assert times(found, RunStarted, processors=processors) == [time]


def test_a_placement_of_ones_own_sees_when_workers_came_back(tmp_path: Path) -> None:
    """Worker 1 is back at 2, and comes first at 5, when worker 0 is struck."""
    answer = "sorted(view.free, key=lambda it: -(view.record(it).back or 0))[: view.count]"
    found = placed(tmp_path, answer, ((1, 1), (5, 0)))
    for time, processors in ((0, "0-1"), (1, "0 2"), (5, "1-2")):
        assert times(found, RunStarted, processors=processors) == [time]


def test_the_last_that_a_placement_of_ones_own_chooses_are_standbys(tmp_path: Path) -> None:
    found = placed(tmp_path, "view.free[::-1][: view.count]", standbys=1)
    assert times(found, RunStarted, processors="2-3")[0] == 0
    assert times(found, StandbysHeld, processors="1") == [0]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("[0]", "2 different free workers are accepted"),
        ("[0, 0]", "2 different free workers"),
        ("[0, 9]", "2 different free workers"),
        ("None", "2 different free workers"),
        ("[0.5, 1]", "2 different free workers"),
        ("view.nothing", "places.py, line 7"),
    ],
)
def test_a_placement_that_cannot_be_had_is_told(tmp_path: Path, answer: str, said: str) -> None:
    with pytest.raises(BadDecision, match=said) as raised:
        placed(tmp_path, answer)
    assert "places:Mine" in str(raised.value)
