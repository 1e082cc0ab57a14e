"""Whatever the policy and whatever befalls workers, the logs of queues and packs break no law."""

from __future__ import annotations

import pytest

from actors.events import FaultIgnored
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


def test_workers_that_were_promised_join_a_job_that_waits_for_its_members() -> None:
    """The second application ends while the first, which was struck, is DOWN."""
    assert broken(pack(110)) == []
