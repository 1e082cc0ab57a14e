"""Runs share the bandwidth of the storage to which they save and from which they load (rules.md,
S1). Expected times are worked by hand, with the arithmetic in each test."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from typing import Any

import pytest
from numpy.random import default_rng

from actors.events import (
    BandwidthShared,
    CheckpointStored,
    CheckpointTaken,
    EndExpected,
    JobCompleted,
    RunStarted,
    Stage,
    StageStarted,
)
from actors.parts.storage import max_min
from actors.runtime import Record
from policies.maths.checkpoint import daly_work, young_work
from sims.audit.audit import audit
from sims.errors import InputError
from sims.plots.pictures import bandwidth_used
from sims.plots.scene import Scene
from sims.session import check, run
from tests.sims.anything import TABLES, runs
from tests.sims.drawn import on_storage
from tests.sims.kinds import SCENARIOS
from tests.sims.oneworld import records_of
from tests.sound import wrong

Table = dict[str, Any]
IMAGES = {"kind": "images", "period": 5, "bytes": 20}


def scenario(jobs: list[Table], storage: Table, protection: Table, **more: Any) -> Table:
    workers = more.pop("workers", sum(job["processors"] for job in jobs))
    table = {"name": "stored", "unit": "s", "platform": {"workers": workers}, "storage": storage}
    return table | {"job": {"kind": "rigid", "jobs": jobs}, "protection": protection} | more


def audited(table: Table) -> list[Record]:
    """Return the log of a run, in which the audit finds nothing wrong."""
    found = list(run(table).records())
    assert [str(it) for it in audit(iter(found))] == []
    return found


def times(records: list[Record], kind: type) -> list[tuple[str, float]]:
    """Return the job and the time of each event of this class."""
    return [(it.event.job, it.t) for it in records if isinstance(it.event, kind)]


def bandwidths(records: list[Record]) -> list[tuple[float, str, float]]:
    shared = [it for it in records if isinstance(it.event, BandwidthShared)]
    return [(it.t, it.event.job, it.event.bandwidth) for it in shared]


def approx(expected: list[tuple[Any, ...]]) -> list[Any]:
    """Return the same rows, whose numbers are equal but for rounding."""
    return [
        tuple(pytest.approx(it) if isinstance(it, float | int) else it for it in row)
        for row in expected
    ]


# --- water filling --------------------------------------------------------------------------------


def test_equal_caps_above_an_equal_part_share_alike() -> None:
    """12 for three runs of cap 5: the level 12 / 3 = 4 lies below every cap."""
    assert max_min(12, [5, 5, 5]) == [4, 4, 4]


def test_what_a_capped_run_leaves_is_shared_by_the_others() -> None:
    """10 for caps 1, 4, 8: the first gets 1; 9 / 2 = 4.5 is above 4; 10 - 1 - 4 = 5 remain."""
    assert max_min(10, [1, 4, 8]) == [1, 4, 5]


def test_bandwidth_that_all_caps_together_do_not_reach_is_left_over() -> None:
    """20 for caps 2, 3, 6: 20 / 3 > 2, 18 / 2 > 3, 15 > 6: each gets its cap, 9 are not used."""
    assert max_min(20, [2, 3, 6]) == [2, 3, 6]


# --- saving ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 5])
def test_jobs_that_save_at_once_each_take_that_many_times_as_long(count: int) -> None:
    """20 bytes at 10 a second take 2 s alone, and n x 2 s where n jobs save at 5: the jobs of 8 s
    end at 8 + 2 n."""
    jobs = [{"name": f"J{k}", "processors": 1, "time": 8} for k in range(count)]
    found = audited(scenario(jobs, {"bandwidth": 10}, IMAGES))
    saved = [t for _, t in times(found, CheckpointTaken)]
    assert saved == pytest.approx([5 + 2 * count] * count)
    assert [t for _, t in times(found, JobCompleted)] == pytest.approx([8 + 2 * count] * count)


def test_the_caps_of_members_bound_what_a_job_gets() -> None:
    """At 5, caps are 2 x (1, 2, 3) = 2, 4, 6, of 10: 2, 4, then 10 - 6 = 4. A (2 a second) takes
    20 / 2 = 10 s; B and C 20 / 4 = 5 s. A is not faster once they are done: its cap binds."""
    jobs = [{"name": name, "processors": k, "time": 8} for k, name in enumerate("ABC", 1)]
    found = audited(scenario(jobs, {"bandwidth": 10, "worker_bandwidth": 2}, IMAGES))
    assert bandwidths(found) == approx([(5, "A", 2), (5, "B", 4), (5, "C", 4)])
    assert times(found, CheckpointTaken) == approx([("B", 10), ("C", 10), ("A", 15)])


def test_a_save_that_ends_leaves_its_share_to_the_others() -> None:
    """A saves from 5 at 10, B from 6 (released at 1): both at 5. A has saved 10, 10 more take it
    until 8; B has saved 10 by then and saves the other 10 at 10 until 9."""
    jobs = [
        {"name": "A", "processors": 1, "time": 8},
        {"name": "B", "processors": 1, "time": 8, "release": 1},
    ]
    found = audited(scenario(jobs, {"bandwidth": 10}, IMAGES))
    shares = [(5, "A", 10), (6, "A", 5), (6, "B", 5), (8, "B", 10)]
    assert bandwidths(found) == approx(shares)
    assert times(found, CheckpointTaken) == approx([("A", 8), ("B", 9)])
    assert times(found, JobCompleted) == approx([("A", 11), ("B", 12)])


def test_non_blocking_saves_share_with_blocking_ones() -> None:
    """A works on while it saves, from 5 at 10; B stands still and saves from 6, both at 5. A's 20
    bytes are saved at 8, B's at 9; A's work of 9 s ends at 9, B's of 8 s at 1 + 8 + 3 = 12."""
    own = {"kind": "images", "period": 5, "bytes": 20}
    jobs = [
        {"name": "A", "processors": 1, "time": 9, "protection": own | {"blocking": False}},
        {"name": "B", "processors": 1, "time": 8, "release": 1, "protection": own},
    ]
    found = audited(scenario(jobs, {"bandwidth": 10}, {"kind": "none"}))
    assert times(found, CheckpointTaken) == approx([("A", 8), ("B", 9)])
    assert times(found, JobCompleted) == approx([("A", 9), ("B", 12)])


def test_a_run_that_ends_drops_what_it_saves_beside_its_work() -> None:
    """A saves from 5 at 2 a second, and completes its 8 s of work at 8 with 6 of 20 bytes saved: no
    checkpoint is ever complete."""
    jobs = [{"name": "A", "processors": 1, "time": 8}]
    found = audited(scenario(jobs, {"bandwidth": 2}, IMAGES | {"blocking": False}))
    assert times(found, CheckpointTaken) == []
    assert times(found, JobCompleted) == approx([("A", 8)])


def test_a_reclaimed_member_holds_no_share_and_keeps_what_has_passed() -> None:
    """A and B save from 5 at 5 each. A's owner has its worker over [6, 9): B saves at 10 from 6 on,
    its 15 bytes until 7.5. A goes on at 9 with 15 bytes at 10, until 10.5."""
    jobs = [{"name": name, "processors": 1, "time": 8} for name in "AB"]
    reclaims = {"reclaims": [[6, 9, 0]]}
    found = audited(scenario(jobs, {"bandwidth": 10}, IMAGES, **reclaims))
    expected = [(5, "A", 5), (5, "B", 5), (6, "A", 0), (6, "B", 10), (9, "A", 10)]
    assert bandwidths(found) == approx(expected)
    assert times(found, CheckpointTaken) == approx([("B", 7.5), ("A", 10.5)])


def test_a_fault_that_nobody_has_heard_of_suspends_a_save() -> None:
    """A and B save from 5 at 5 each. At 6 A's worker fails for 9 s, which is heard of 3 s later:
    from 6 on B saves its 15 bytes at 10, until 7.5. A's save is never complete."""
    jobs = [{"name": name, "processors": 1, "time": 8} for name in "AB"]
    faults = {"kind": "list", "strikes": [[6, 0]], "downtime": 9, "detection": 3}
    found = audited(scenario(jobs, {"bandwidth": 10}, IMAGES, faults=faults))
    assert bandwidths(found)[2:4] == approx([(6, "A", 0), (6, "B", 10)])
    assert times(found, CheckpointTaken)[0] == ("B", pytest.approx(7.5))


# --- loading --------------------------------------------------------------------------------------


def test_a_burst_of_restarts_after_a_racks_failure_loads_slowly() -> None:
    """Four jobs save 20 bytes of 40 a second at 5, in 2 s each; rack 0 (workers 0 to 2) fails at 8
    for 1 s: three restarts load at 40 / 3 each, 1.5 s in place of 0.5. They compute from 5 s of
    work on at 10.5, and end at 10.5 + 3; the fourth ends at 7 + 3 = 10."""
    jobs = [{"name": f"J{k}", "processors": 1, "time": 8} for k in range(4)]
    faults = {"kind": "list", "strikes": [[8, 0]], "of": "racks", "downtime": 1}
    platform = {"platform": {"workers": 4, "rack": 3}}
    found = audited(scenario(jobs, {"bandwidth": 40}, IMAGES, faults=faults, **platform))
    loads = [it.t for it in found if getattr(it.event, "stage", None) is Stage.RECOVERING]
    assert loads == pytest.approx([9, 9, 9])
    ended = dict(times(found, JobCompleted))
    assert ended == pytest.approx({"J0": 13.5, "J1": 13.5, "J2": 13.5, "J3": 10})


def test_loading_follows_the_messages_of_the_master() -> None:
    """The program takes 1 s: computing from 1 to 6, 2 s of saving to 8. The fault at 9 (1 s) costs
    the program too: 10 to 11, then 2 s of loading, then 3 of 8 s: 16."""
    jobs = [{"name": "A", "processors": 1, "time": 8}]
    more = {
        "faults": {"kind": "list", "strikes": [[9, 0]], "downtime": 1},
        "master": {"channels": 1, "program": 1},
    }
    found = audited(scenario(jobs, {"bandwidth": 10}, IMAGES, **more))
    assert times(found, JobCompleted) == approx([("A", 16)])


def test_a_job_changes_over_before_it_loads() -> None:
    """The example's job moves between a spot zone and an instance on demand: 12 minutes, then
    40 GB at 1 GB/s."""
    table = tomllib.loads((SCENARIOS / "deadline.toml").read_text())
    table["protection"] = {"kind": "images", "period": "10 min", "bytes": 40e9}
    table["storage"] = {"bandwidth": 2e9, "worker_bandwidth": 1e9}
    records = list(run(table, folder=SCENARIOS).records())
    assert list(audit(iter(records))) == []
    first = {it.event.run: it.event.source for it in records if isinstance(it.event, RunStarted)}
    parts = [it for it in records if getattr(it.event, "stage", None) is Stage.RECOVERING]
    pairs = [(a, b) for a, b in pairwise(parts) if a.event.run == b.event.run]
    assert pairs
    for changing, loading in pairs:
        assert first[changing.event.run] is not None
        assert loading.t - changing.t == pytest.approx(720)
        shares = [it.event.bandwidth for it in records if it.cause == loading.seq]
        assert shares == [1e9]


def test_images_of_buddies_go_to_the_storage_and_are_loaded_before_the_recovery() -> None:
    """Workers 0 and 1: computing to 4, 1 s among buddies, 20 bytes at 10 to storage: 7. Both fail
    at 8 for 1 s: fatal. From 9: 2 s of loading, 3 s of recovery, then 6 - 4 = 2 s of work: 16."""
    jobs = [{"name": "A", "processors": 2, "time": 6}]
    buddies = {"kind": "buddies", "period": 4, "cost": 1, "recovery": 3}
    buddies |= {"images_every": 1, "bytes": 20}
    faults = {"kind": "list", "strikes": [[8, 0], [8, 1]], "downtime": 1}
    found = audited(scenario(jobs, {"bandwidth": 10}, buddies, faults=faults))
    assert times(found, CheckpointStored) == approx([("A", 7)])
    assert times(found, JobCompleted) == approx([("A", 16)])


def test_buddies_that_keep_their_checkpoint_load_nothing() -> None:
    """As above, but one worker fails at 8: from 9, 3 s of recovery and 2 s of work: 14."""
    jobs = [{"name": "A", "processors": 2, "time": 6}]
    buddies = {"kind": "buddies", "period": 4, "cost": 1, "recovery": 3}
    buddies |= {"images_every": 1, "bytes": 20}
    faults = {"kind": "list", "strikes": [[8, 0]], "downtime": 1}
    found = audited(scenario(jobs, {"bandwidth": 10}, buddies, faults=faults))
    assert times(found, JobCompleted) == approx([("A", 14)])


def test_a_state_of_no_bytes_takes_no_time() -> None:
    jobs = [{"name": "A", "processors": 1, "time": 8}]
    faults = {"kind": "list", "strikes": [[6, 0]], "downtime": 1}
    found = audited(scenario(jobs, {"bandwidth": 10}, IMAGES | {"bytes": 0}, faults=faults))
    assert times(found, JobCompleted) == approx([("A", 10)])


# --- what it costs --------------------------------------------------------------------------------


def test_saving_is_checkpoint_and_loading_recovery_in_the_ledger() -> None:
    """Computing to 5, 2 s of saving, 1 s lost until the fault at 8, 1 s DOWN, 2 s of loading, 3 s
    of computing."""
    jobs = [{"name": "A", "processors": 1, "time": 8}]
    faults = {"kind": "list", "strikes": [[8, 0]], "downtime": 1}
    ledger = run(scenario(jobs, {"bandwidth": 10}, IMAGES, faults=faults)).ledger
    expected = {"useful": 8, "checkpoint": 2, "lost": 1, "down": 1, "recovery": 2}
    assert {use: t for use, t in ledger.items() if t} == pytest.approx(expected)


@pytest.mark.parametrize(("name", "formula"), [("young", young_work), ("daly", daly_work)])
def test_formulas_take_the_time_that_a_checkpoint_takes_alone(name: str, formula: Any) -> None:
    """20 bytes of 3 members at 2 a second each, of 10: 20 / min(10, 6)."""
    jobs = [{"name": "A", "processors": 3, "time": 300}]
    protection = {"kind": "images", "period": name, "bytes": 20, "mtbf": 3000}
    found = audited(scenario(jobs, {"bandwidth": 10, "worker_bandwidth": 2}, protection))
    first = next(it for it in found if isinstance(it.event, CheckpointTaken))
    assert first.event.done == pytest.approx(formula(1000, 20 / 6))


# --- files ----------------------------------------------------------------------------------------


BUDDIES = {"kind": "buddies", "period": 5, "images_every": 1, "bytes": 20}


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"protection": IMAGES | {"cost": 1}}, "protection.cost"),
        ({"protection": IMAGES | {"recovery": 1}}, "protection.recovery"),
        ({"protection": IMAGES | {"delay": 1}}, "protection.delay"),
        ({"protection": BUDDIES | {"image_cost": 1}}, "protection.image_cost"),
        ({"protection": {"kind": "images", "period": 5}}, "protection.bytes"),
        ({"protection": {"kind": "buddies", "period": 5, "bytes": 20}}, "protection.bytes"),
        ({"protection": {"kind": "none", "bytes": 20}}, "protection.bytes"),
        ({"storage": None}, "protection.bytes"),
        ({"master": {"channels": 1, "image": 1}}, "master.image"),
        ({"storage": {"bandwidth": 0}}, "storage.bandwidth"),
        ({"storage": {"worker_bandwidth": 1}}, "storage.bandwidth"),
    ],
)
def test_a_setting_beside_the_storage_that_has_no_meaning_is_refused(
    changed: Table, key: str
) -> None:
    jobs = [{"name": "A", "processors": 1, "time": 8}]
    table = scenario(jobs, {"bandwidth": 10}, IMAGES) | changed
    with pytest.raises(InputError) as refused:
        check({key: it for key, it in table.items() if it is not None})
    assert refused.value.key == key


def test_a_wrong_share_in_a_log_is_found() -> None:
    jobs = [{"name": name, "processors": 1, "time": 8} for name in "AB"]
    found = list(run(scenario(jobs, {"bandwidth": 10}, IMAGES)).records())
    place = next(k for k, it in enumerate(found) if isinstance(it.event, BandwidthShared))
    event = found[place].event
    altered = BandwidthShared(event.job, event.run, 6, event.left)
    found[place] = Record(found[place].seq, found[place].t, found[place].cause, altered)
    assert len(list(audit(iter(found)))) == 1


def test_a_log_without_a_share_that_is_due_is_found_wanting() -> None:
    jobs = [{"name": name, "processors": 1, "time": 8} for name in "AB"]
    found = list(run(scenario(jobs, {"bandwidth": 10}, IMAGES)).records())
    last = next(k for k, it in enumerate(found) if isinstance(it.event, CheckpointTaken))
    shared = [k for k, it in enumerate(found) if isinstance(it.event, BandwidthShared)]
    assert shared == [last - 2, last - 1]
    later = [Record(it.seq - 1, it.t, it.cause, it.event) for it in found[last:]]
    assert len(list(audit(iter([*found[: last - 1], *later])))) == 1


def test_random_scenarios_on_storage_pass_the_audit() -> None:
    tables = [TABLES["stored"](seed) for seed in range(40)]
    assert [wrong(table) for table in tables] == [[]] * len(tables)
    kinds = {type(it.event) for table in tables[:20] for it in records_of(table)}
    assert {BandwidthShared, StageStarted} <= kinds


# --- what reads the log ---------------------------------------------------------------------------

BURST = scenario(
    [{"name": name, "processors": k, "time": 12} for k, name in enumerate("abc", 1)],
    {"bandwidth": 10, "worker_bandwidth": 4},
    IMAGES,
    faults={"kind": "list", "strikes": [[11, 0]], "downtime": 1},
)
"""Three saves at 5 take 20 / (10 / 3) = 6 s. Job a is lost at 11 and loads from 12 on at 4, its
cap. b and c save again at 16, when 16 of a's 20 bytes have passed: its 4 take 1.2 s at 10 / 3. The
16 bytes that b and c each still have then pass at 5, until 20.4. At last a saves from 22.2 to 27.2,
at 4, and completes at 29.2."""


def test_a_trace_says_why_a_save_is_slow() -> None:
    text = run(BURST).trace("b").text
    slow = "takes a checkpoint: 20 bytes left, at 3.333 bytes a s, 41.7% of what it gets alone"
    assert f"16 s to 17.2 s (1.2 s)   {slow}: others use the storage" in text
    assert "(3.2 s) takes a checkpoint: 16 bytes left, at 5 bytes a s, 62.5% of" in text
    assert "checkpoint                      10.4 s   46.4%" in text


def test_a_trace_says_what_bounds_a_load_that_has_the_storage_for_itself() -> None:
    text = run(BURST).trace("a").text
    assert "recovers: 20 bytes left, at 4 bytes a s, the most that 1 member can take" in text


def test_a_trace_says_how_many_bytes_a_replica_has_left_to_load() -> None:
    """Two of four members load 15 bytes at 5 from 5 on; 5 are left at 7, when a save begins."""
    jobs = [
        {"processors": 4, "time": 20, "replicas": 2, "regroup": 1},
        {"processors": 2, "time": 6},
    ]
    faults = {"kind": "list", "strikes": [[4, 3]], "downtime": 1}
    kept = {"kind": "images", "period": 5, "bytes": 30}
    text = run(scenario(jobs, {"bandwidth": 10}, kept, faults=faults)).trace("J1").text
    assert "workers 2-3 load the state: 15 bytes left, at 5 " in text
    assert "workers 2-3 load the state: 5 bytes left, at 3.333 " in text


def test_a_summary_says_how_much_of_the_storages_bandwidth_is_used() -> None:
    """Seven times 20 bytes pass: a, b and c save twice each, a loads once. 140 / (29.2 x 10)."""
    result = run(BURST)
    assert result.report.storage == pytest.approx(140 / 292)
    expected = ("storage", "47.9% of its bandwidth used: 140 bytes saved and loaded")
    assert expected in list(result.report.rows())


def test_a_picture_has_the_bandwidth_of_saves_and_of_loads_over_time() -> None:
    times, levels = bandwidth_used(Scene.of(run(BURST).records()))
    found = dict(zip(times.tolist(), zip(*levels.values(), strict=True), strict=True))
    assert list(levels) == ["saving", "loading"]
    expected = {0: (0, 0), 5: (10, 0), 11: (0, 0), 12: (0, 4), 16: (20 / 3, 10 / 3), 17.2: (10, 0)}
    expected |= {20.4: (0, 0), 22.2: (4, 0), 27.2: (0, 0)}
    assert list(found) == pytest.approx(list(expected))
    assert [it for row in found.values() for it in row] == pytest.approx(
        [it for row in expected.values() for it in row]
    )


def test_a_check_says_how_busy_the_storage_is_at_least_and_what_a_checkpoint_costs() -> None:
    """Job a takes 20 / min(10, 3 x 2) s a checkpoint, b 20 / 4 s. Young's periods are
    sqrt(2 x 1,000 x 10 / 3) = 81.65 and sqrt(2 x 1,500 x 5) = 122.5 s: 14 and 9 checkpoints in
    1,200 s. 23 x 20 = 460 bytes are 46 s at 10: 3.83 % of 1,200."""
    jobs = [{"name": name, "processors": k, "time": 1200} for name, k in (("a", 3), ("b", 2))]
    faults = {"kind": "exponential", "mtbf": 3000, "downtime": 1}
    protection = {"kind": "images", "period": "young", "bytes": 20}
    storage = {"bandwidth": 10, "worker_bandwidth": 2}
    table = scenario(jobs, storage, protection, faults=faults)
    lines = "\n".join(check(table).outlook)
    assert "at least 3.83 % busy if nothing fails: 460 bytes within 1,200 s" in lines
    assert "81.65 s; Young's 81.65 s" in lines
    assert "a checkpoint stops the job for 3.333 s" in lines


def test_copies_that_a_policy_schedules_share_the_storage() -> None:
    tables = [on_storage(runs(seed), default_rng([seed, 35])) for seed in range(0, 24, 2)]
    assert [wrong(table) for table in tables] == [[]] * len(tables)
    kinds = {type(it.event) for table in tables[:8] for it in records_of(table)}
    assert BandwidthShared in kinds


def pack(applications: list[Table], storage: Table, protection: Table, **more: Any) -> Table:
    """A pack of applications on two workers each, which are not redistributed."""
    table = {"name": "pack", "unit": "s", "platform": {"workers": 2 * len(applications)}}
    table |= {"job": {"kind": "malleable", "pair": 2, "jobs": applications}, "storage": storage}
    return table | {"policy": {"name": "none"}, "protection": protection} | more


def application(times: list[float]) -> Table:
    return {"footprint": 10, "speedup": {"kind": "table", "times": times}}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_applications_that_save_at_once_each_take_that_many_times_as_long(count: int) -> None:
    """20 bytes at 10 a second take 2 s alone: applications of 8 that save at 5 end at 8 + 2 n."""
    found = audited(pack([application([16, 8])] * count, {"bandwidth": 10}, IMAGES))
    assert [t for _, t in times(found, CheckpointTaken)] == pytest.approx([5 + 2 * count] * count)
    assert [t for _, t in times(found, JobCompleted)] == pytest.approx([8 + 2 * count] * count)


def test_a_pack_counts_on_checkpoints_for_which_it_has_the_storage_to_itself() -> None:
    """Two members of bandwidth 3 save 30 bytes in 30 / 6 = 5 s. With 2,000 s between faults of one
    worker, Young's formula gives sqrt(2 x 1,000 x 5) = 100 s of work: checkpoints end at 105 and
    210, and the 250 s of work at 260."""
    protection = {"kind": "images", "period": "young", "mtbf": 2000, "bytes": 30}
    storage = {"bandwidth": 100, "worker_bandwidth": 3}
    found = audited(pack([application([500, 250])], storage, protection))
    assert times(found, CheckpointTaken) == approx([("J1", 105), ("J1", 210)])
    assert times(found, JobCompleted) == approx([("J1", 260)])


def test_a_check_says_how_much_a_pack_saves_at_least() -> None:
    """On two workers each, work of 8 and of 20 has 1 and 3 checkpoints of 20 bytes: 80 bytes, of
    200 that pass in the 20 s of the longer one."""
    table = pack([application([16, 8]), application([40, 20])], {"bandwidth": 10}, IMAGES)
    least = "at least 80 bytes if nothing fails and no application is resized"
    told = f"  storage     {least}, 40 % of what passes within 20 s, the least time"
    assert list(check(table).outlook) == [told]
    found = audited(table)
    assert len(times(found, CheckpointTaken)) == 4


def test_when_an_application_computes_again_is_not_known_while_it_loads_or_saves() -> None:
    """It saves 20 bytes over [5, 7), is lost at 7.5, and loads them over [7.5, 9.5)."""
    faults = {"kind": "list", "strikes": [[7.5, 0]], "downtime": 0}
    found = audited(pack([application([16, 8])], {"bandwidth": 10}, IMAGES, faults=faults))
    told = [(it.t, it.event.since) for it in found if isinstance(it.event, EndExpected)]
    assert told == approx([(0, 0), (7, 7), (7.5, None), (9.5, 9.5)])
