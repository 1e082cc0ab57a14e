"""Small random worlds in which an agent of the user's is tried."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from hypothesis import strategies as st

from actors.agents.agent import Agent
from actors.runtime import Record
from sims.audit.audit import audit
from sims.kit import AskedCase
from sims.session import load
from sims.world import run, with_given

Table = dict[str, Any]
LONGEST = 1e7
"""Time at which a run is cut off, so that an agent that goes on for ever ends."""


@st.composite
def worlds(draw: st.DrawFn) -> AskedCase:
    """Draw a world for an agent: up to six workers in nodes, up to four rigid jobs, perhaps faults.

    Jobs that the agent submits are added by the names that it has for them.
    """
    workers, node = draw(st.integers(1, 6)), draw(st.integers(1, 2))
    job = st.fixed_dictionaries(
        {
            "processors": st.integers(1, workers),
            "time": st.integers(1, 40),
            "release": st.integers(0, 20),
        }
    )
    table: Table = {
        "name": "trial",
        "seed": draw(st.integers(0, 9)),
        "platform": {"workers": workers, "node": node},
        "job": {"kind": "rigid", "jobs": draw(st.lists(job, min_size=1, max_size=4))},
        "policy": {"name": "EASY"},
    }
    if draw(st.booleans()):
        strikes = [[draw(st.integers(1, 60)), draw(st.integers(0, workers - 1))] for _ in range(2)]
        table["faults"] = {"kind": "list", "strikes": sorted(strikes), "downtime": 5}
    return AskedCase((table,), acts)


def acts(agent: Agent, table: Table) -> list[str]:
    """Run the world with a copy of the agent, and return what the agents did, as texts.

    Raises what the run raises, and AssertionError where the log breaks a law of the world.
    """
    own = [{"name": it.replace("*", "1"), "processors": 1, "time": 7} for it in agent.jobs]
    jobs = [*table["job"]["jobs"], *own]
    scenario = load(table | {"job": table["job"] | {"jobs": jobs}})
    records: list[Record] = []
    run(with_given(scenario, actors=[evolve(agent)]), [records.append], until=LONGEST)
    broken = next(audit(iter(records)), None)
    assert broken is None, broken
    about = f"'{agent.name}'"
    return [f"{it.t:g}: {it.event}" for it in records if about in repr(it.event)]
