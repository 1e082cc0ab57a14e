"""A lie in the text of a log's first line shows in what the lines after it tell."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from actors.runtime import Record
from sims.audit.audit import audit
from tests.sims.audit.altered import told_of
from tests.sims.oneworld import records_of

pytestmark = pytest.mark.usefixtures("unchecked")
Table = dict[str, Any]


def rigid(*jobs: Table, **more: Any) -> Table:
    """Rigid jobs on a pool of 6 workers."""
    section = {"kind": "rigid", "jobs": list(jobs)}
    pool = {"workers": 6, **more.pop("platform", {})}
    policy = more.pop("policy", {"name": "FCFS"})
    return {"name": "told", "unit": "s", "platform": pool, "job": section, "policy": policy, **more}


FAULT = {"kind": "list", "strikes": [[5, 0]], "downtime": 20}
SAVING = {"kind": "buddies", "period": 4, "cost": 1, "recovery": 1}
IMAGES = {"kind": "images", "period": 4, "bytes": 8}
HELD = {
    "standbys": rigid({"processors": 2, "time": 9, "standbys": 1}),
    "startup": rigid({"processors": 2, "time": 9, "startup": 3, "select": 2}),
    "replicas": rigid(
        {"processors": 4, "time": 9, "replicas": 2, "regroup": 2, "rejoin": 3},
        faults={**FAULT, "downtime": 1},
    ),
    "beside": rigid(
        {"processors": 2, "time": 9},
        protection={**SAVING, "blocking": False, "slowdown": 0.5},
    ),
    "levels": rigid(
        {"processors": 2, "time": 19}, protection={**SAVING, "images_every": 2, "image_cost": 3}
    ),
    "replaced": rigid(
        {"processors": 2, "time": 19}, faults=FAULT, protection={**SAVING, "replace_after": 2}
    ),
    "stored": rigid(
        {"processors": 2, "time": 9},
        protection=IMAGES,
        storage={"bandwidth": 8, "worker_bandwidth": 2},
    ),
    "spares": rigid({"processors": 4, "time": 9}, platform={"spares": 2}),
    "late": rigid({"processors": 2, "time": 9}, faults={**FAULT, "detection": 3}),
    "reserve": rigid({"processors": 6, "time": 9}, platform={"reserve": 1, "reserve_delay": 2}),
    "repair": rigid(
        {"processors": 2, "time": 9},
        {"processors": 2, "time": 9},
        faults={"kind": "list", "strikes": [[1, 0], [2, 2]]},
        repair={"stages": [{"time": 4, "law": "fixed", "crews": 1}]},
    ),
    "owners": rigid(
        {"processors": 2, "time": 9},
        platform={"workers": 0},
        workers=[{"availability": "uuruuu"}, {}],
    ),
    "link": rigid(
        {"processors": 2, "time": 9, "data": 3},
        master={"channels": 2, "program": 2, "data": 1},
    ),
    "memory": {
        "name": "told",
        "workers": [{"availability": "uuuuuuu", "memory": 2}, {"memory": 1}],
        "job": {"kind": "iterative", "tasks": 3, "iterations": 1},
        "policy": {"name": "IE"},
    },
    "partitions": rigid(
        {"processors": 2, "time": 9, "queue": "left", "estimate": 12, "verification": 1},
        {"processors": 2, "time": 9},
        platform={
            "partitions": [
                {"name": "left", "units": "0-1", "longest": 15},
                {"name": "right", "units": "2-5", "default": True},
            ]
        },
    ),
}
"""Scenarios whose logs are told with another text."""
LIES = [
    ("standbys", "standbys = 1", "standbys = 2", "gets 2 standbys"),
    ("standbys", "standbys = 1", "standbys = 0", "stage=computing, rate=1, done=0) must come now"),
    ("standbys", "standbys = 1", 'standbys = "one"', "standbys = one"),
    ("startup", "startup = 3", "startup = 4", "nothing leads to this now"),
    ("startup", "select = 2", "select = 1", "must come at 4"),
    ("replicas", "regroup = 2", "regroup = 1", "length must be 1"),
    ("replicas", "rejoin = 3", "rejoin = 4", "length must be 4"),
    ("replicas", "replicas = 2", "replicas = 2\nleast = 2", "outcome=lost, done=5.0"),
    ("replicas", "replicas = 2", "replicas = 2\nleast = 3", "no such replicas"),
    (
        "beside",
        "blocking = false",
        "blocking = true",
        "stage=checkpointing, rate=1, done=4) must come first",
    ),
    ("beside", "slowdown = 0.5", "slowdown = 0.25", "rate must be 0.75"),
    ("beside", "slowdown = 0.5", "slowdown = 2", "slowdown = 2"),
    ("levels", "images_every = 2", "images_every = 3", "stage must be computing"),
    ("levels", "image_cost = 3", "image_cost = 4", "nothing leads to this now"),
    ("replaced", "replace_after = 2", "replace_after = 3", "nobody is to be replaced now"),
    ("stored", "bytes = 8", "bytes = 16", "left must be 16"),
    ("stored", "worker_bandwidth = 2", "worker_bandwidth = 1", "bandwidth must be 2"),
    ("spares", "workers = 6", "workers = 7", "its scenario has 7 workers"),
    ("spares", "spares = 2", "spares = 6", "are spares"),
    ("late", "detection = 3", "detection = 2", "must come"),
    ("reserve", "reserve = 1", "reserve = 2", "worker 4 is called before"),
    ("reserve", "reserve_delay = 2", "reserve_delay = 3", "its owner keeps it"),
    ("repair", "crews = 1", "crews = 2", "a crew repairs"),
    ("repair", "time = 4", "time = 5", "it takes its time"),
    ("owners", 'kind = "letters"', 'kind = "always"', "it has no owner"),
    ("link", "channels = 2", "channels = 1", "nobody's channel changes now"),
    ("link", "channels = 2", "channels = 0", "0 channels"),
    ("link", "program = 2", "program = 3", "left must be 3"),
    ("link", "data = 3", "data = 2", "left must be 2"),
    ("memory", "memory = 2", "memory = 1", "0 holds at most 1"),
    ("partitions", "0-1", "0-2", "J2 takes 2 of (3, 6) first"),
    ("partitions", "2-5", "3-5", "are not for J2"),
    ("partitions", "estimate = 12", "estimate = 13", "its estimate is 13"),
    ("partitions", "verification = 1", "verification = 2", "its verification takes 2"),
    ("partitions", "longest = 15", "longest = 11", "lets none run so long"),
    ("partitions", "default = true", "default = false", "is in no partition"),
]


@cache
def log(name: str) -> list[Record]:
    return records_of(HELD[name])


@pytest.mark.parametrize("name", HELD)
def test_the_logs_themselves_break_no_law(name: str) -> None:
    assert list(audit(log(name))) == []


@pytest.mark.parametrize(("name", "said", "other", "words"), LIES)
def test_what_the_scenario_does_not_say_is_noticed(
    name: str, said: str, other: str, words: str
) -> None:
    found = [it.why for it in audit(told_of(log(name), said, other))]
    assert found and words in found[0]
