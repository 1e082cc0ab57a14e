"""Every pair of the mechanisms of fleets, and of each with a master's link, runs together and obeys
the laws (rules.md, F2 to F6, R5 to R9, P11, P12, E1, S1 and M2)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.ledger import account
from sims.scenario.loader import read
from sims.world import run

Table = dict[str, Any]

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*has no effect", "ignore:.*no buddy", "ignore:.*startup"),
    pytest.mark.usefixtures("unchecked"),
]

PROTECTIONS: tuple[Table, ...] = (
    {"kind": "none"},
    {"kind": "images", "period": 4, "cost": 1, "recovery": 1},
    {"kind": "buddies", "period": 4, "cost": 1, "recovery": 1, "replace_after": 2},
)
WORKERS = 12


def base(protection: Table) -> Table:
    """Two jobs on a platform of three racks."""
    job = {"processors": 4, "time": 15}
    return {
        "name": "pair",
        "unit": "s",
        "platform": {"workers": WORKERS, "node": 2, "rack": 2},
        "faults": [{"kind": "exponential", "mtbf": 60, "downtime": 3}],
        "job": {"kind": "rigid", "cap": 400, "jobs": [dict(job), job | {"release": 3}]},
        "protection": dict(protection),
        "policy": {"name": "FCFS"},
    }


def lemons(table: Table) -> None:
    table["faults"].append({"kind": "exponential", "mtbf": 15, "share": 0.25, "downtime": 2})


def racks(table: Table) -> None:
    table["faults"].append({"kind": "exponential", "of": "racks", "mtbf": 80, "downtime": 3})


def spreads(table: Table) -> None:
    about = {"mtbf": 70, "spread": 0.5, "downtime": 3}
    table["faults"].append({"kind": "exponential", "of": "nodes"} | about)


def clocks(table: Table) -> None:
    table["faults"][0]["clock"] = "computing"


def ages(table: Table) -> None:
    about = {"mtbf": 60, "shape": 0.6, "age": "stationary", "downtime": 2}
    table["faults"].append({"kind": "weibull"} | about)


def hangs(table: Table) -> None:
    table["faults"].append({"kind": "exponential", "mtbf": 60, "effect": "hang", "detection": 2})


def startup(table: Table) -> None:
    table["job"] |= {"startup": 2, "select": 1}


def repair(table: Table) -> None:
    stages = [{"time": 2, "passes_on": 0.4, "crews": 1}, {"time": 4, "fixes": 0.5}]
    table["repair"] = {"stages": stages, "blamed": 0.8, "mistaken": 0.3}


def retires(table: Table) -> None:
    rule = {"kind": "faults-within", "faults": 3, "window": 5}
    table["repair"] = {"stages": [{"time": 2}], "retirement": rule}


def placed(table: Table) -> None:
    if "repair" not in table:  # which keeps the records
        repair(table)
    table["policy"]["placement"] = "fewest-faults"


def reserve(table: Table) -> None:
    table["platform"] |= {"reserve": 2, "reserve_delay": 1}


def standbys(table: Table) -> None:
    table["job"]["jobs"][0]["standbys"] = 2


def replicas(table: Table) -> None:
    table["job"]["jobs"][0] |= {"replicas": 2, "regroup": 1, "rejoin": 1}


def storage(table: Table) -> None:
    table["storage"] = {"bandwidth": 4}
    protection = table["protection"]
    for key in ("cost", "recovery"):
        if protection["kind"] == "images":
            del protection[key]
    if protection["kind"] == "buddies":
        protection["images_every"] = 2
    if protection["kind"] != "none":
        protection["bytes"] = 8


def linked(table: Table) -> None:
    """Programs that take as long to send as a standby may have to wait for its place."""
    table["master"] = {"channels": 2, "program": 3, "data": 1}


def windows(table: Table) -> None:
    table["platform"]["maintenance"] = [{"from": 10, "to": 14, "units": "0-5"}]


MECHANISMS = (
    *(lemons, racks, spreads, clocks, ages, hangs, startup, repair, retires, placed, reserve),
    *(standbys, replicas, storage, windows, linked),
)


@pytest.mark.parametrize("first", MECHANISMS, ids=lambda it: str(it.__name__))
def test_each_pair_of_mechanisms_runs_and_obeys_the_laws(first: Any) -> None:
    pairs = [pair for pair in combinations(MECHANISMS, 2) if pair[0] is first]
    for number, pair in enumerate(pairs):
        table = base(PROTECTIONS[(MECHANISMS.index(first) + number) % len(PROTECTIONS)])
        for change in pair:
            change(table)
        for law in table["faults"] if "repair" in table else ():
            law.pop("downtime", None)
        name, records = " and ".join(it.__name__ for it in pair), list[Record]()
        run(read(table, name), [records.append])
        assert list(audit(iter(records))) == [], name
        ledger = account(records, WORKERS)
        assert sum(ledger.total.values()) == ledger.capacity, name


def test_a_placement_by_records_that_nobody_keeps_is_refused() -> None:
    table = base(PROTECTIONS[0])
    table["policy"]["placement"] = "fewest-faults"
    with pytest.raises(InputError, match="records of workers are kept"):
        run(read(table, "placed"), [])
