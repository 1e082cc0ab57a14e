"""Whatever the policy and whatever befalls workers, the logs of queues and packs break no law."""

from __future__ import annotations

import tomllib

import pytest

from actors.events import (
    CheckpointTaken,
    FaultIgnored,
    MembersReleased,
    ReservationMade,
    RunEnded,
    WorkerChanged,
)
from sims.audit.audit import audit
from tests.sims.audit.anything import Table, pack, queue, records_of, shares

pytestmark = pytest.mark.filterwarnings("ignore:.*no buddy")
SEEDS = 40


def broken(table: Table) -> list[str]:
    return [str(violation) for violation in audit(records_of(table))]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_log_of_a_random_queue_breaks_no_law(seed: int) -> None:
    assert broken(queue(seed)) == []


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_log_of_a_random_pack_breaks_no_law(seed: int) -> None:
    assert broken(pack(seed)) == []


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_log_of_a_random_cluster_that_places_copies_afresh_breaks_no_law(seed: int) -> None:
    assert broken(shares(seed)) == []


def test_of_two_faults_at_one_instant_the_second_is_ignored_by_the_first_ones_law() -> None:
    """What is ignored is told before the worker's change that excuses it."""
    table = pack(307)
    first = table["faults"]["strikes"][0]
    table["faults"]["strikes"].insert(0, first)
    records = records_of(table)
    assert any(isinstance(it.event, FaultIgnored) and it.t == first[0] for it in records)
    assert broken(table) == []


def test_an_application_that_moves_with_no_work_left_ends_with_its_checkpoint() -> None:
    """What had passed of its checkpoint counted as its last work when it was resized."""
    table = pack(2271019)
    records = records_of(table)
    ends = [it for it in records if isinstance(it.event, RunEnded)]
    assert any(isinstance(records[it.cause or 0].event, CheckpointTaken) for it in ends)
    assert broken(table) == []


def test_a_promise_is_caused_by_what_called_for_it_not_by_a_batch_that_opened_before() -> None:
    """At 1 a worker is reclaimed that somebody holds: nobody is freed, and no batch opens."""
    records = records_of(queue(1892649))
    (promise,) = (it for it in records if it.t == 1 and isinstance(it.event, ReservationMade))
    cause = records[promise.cause or 0]
    assert (cause.t, type(cause.event)) == (1, WorkerChanged)


def test_a_job_may_be_promised_workers_at_the_instant_at_which_its_copies_gave_theirs_back() -> (
    None
):
    """One of the iteration's two copies lost a worker and kept the other; the other one was first,
    and the second iteration waits behind J2."""
    table = tomllib.loads("""
name = "released"
platform.workers = 4
faults = { kind = "list", strikes = [[0.5, 0]], downtime = 5 }
protection = { kind = "buddies", period = 9, copies = 2 }
job.kind = "rigid"
job.jobs = [
  { kind = "iterative", processors = 2, tasks = 2, iterations = 2 },
  { processors = 3, time = 4, release = 0.25 },
]
policy = { name = "R-LIST-Q", order = "LPT", reading = "kept" }
""")
    events = [it.event for it in records_of(table)]
    promised = [it.job for it in events if isinstance(it, ReservationMade)]
    assert any(isinstance(it, MembersReleased) for it in events) and "J1" in promised
    assert broken(table) == []


def test_workers_that_were_promised_join_a_job_that_waits_for_its_members() -> None:
    """The second application ends while the first, which was struck, is DOWN."""
    assert broken(pack(110)) == []
