"""Agents that a scenario file names: where they are loaded from, and what they may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.events import AgentDescribed, AgentTookWorker
from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.examples import STARTERS, example
from sims.log import LogFile
from sims.scenario.loader import load
from sims.session import check
from sims.session import run as session_run
from sims.world import run
from tests.sims.cli.commands import Shell

Table = dict[str, Any]
JOBS: list[Table] = [{"processors": 1, "time": 10}, {"processors": 2, "time": 5, "after": ["J1"]}]
OURS = "actors.agents.user:ClosedLoopUser"


def table(**agent: Any) -> Table:
    job = {"kind": "rigid", "jobs": JOBS}
    return {"name": "a", "platform": {"workers": 2}, "job": job, "agents": [agent]}


def refused(folder: Path, asked: Table) -> str:
    with pytest.raises(InputError) as error:
        session_run(asked, folder=folder)
    return str(error.value)


@pytest.mark.parametrize("name", ["closed-loop", "adversary", "autoscaler", "operator"])
def test_a_shipped_scenario_with_an_agent_breaks_no_law(name: str) -> None:
    path, records = example(name), list[Record]()
    run(load(path), [records.append], path.parent)
    assert [str(it) for it in audit(iter(records))] == []
    assert any(isinstance(it.event, AgentDescribed) for it in records)


def test_an_agent_of_the_users_own_is_loaded_from_the_scenarios_folder(tmp_path: Path) -> None:
    (tmp_path / "landlord.py").write_text((STARTERS / "agent.py.txt").read_text())
    asked = table(name="landlord:Landlord", parameters={"worker": 1, "pause": 3})
    result = session_run(asked, folder=tmp_path, log=tmp_path / "a.jsonl")
    lines = list(LogFile(tmp_path / "a.jsonl"))
    taken = [it.event.worker for it in lines if isinstance(it.event, AgentTookWorker)]
    assert (taken, result.makespan) == ([1], 18)  # J2 runs from 10 to 11, and from 14 to 18


def test_the_state_of_the_starting_files_agent_is_no_parameter(tmp_path: Path) -> None:
    (tmp_path / "landlord.py").write_text((STARTERS / "agent.py.txt").read_text())
    asked = table(name="landlord:Landlord", parameters={"free_at": 3})
    assert refused(tmp_path, asked).endswith("accepted: name, jobs, worker, pause")


def test_check_loads_no_agent_and_says_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('it was loaded')")
    (tmp_path / "a.toml").write_text(
        'name = "a"\nagents = [{ name = "evil:Agent" }]\nplatform.workers = 1\n'
        'job = { kind = "rigid", jobs = [{ processors = 1, time = 2 }] }\n'
    )
    checked = check(tmp_path / "a.toml")
    assert checked.code == {"agents.0.name": "evil:Agent"}


OWN = """
import asyncio
from attrs import define
from holdfast.agents import Agent, events, handles

@define(eq=False)
class Mine(Agent):
    early: bool = True

    def begin(self, cause):
        if self.early:
            raise {error}

    @handles(events.JobCompleted)
    def job_completed(self, event, cause):
        raise {error}
"""


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("SystemExit(0)", "SystemExit: 0"),
        ("GeneratorExit", "GeneratorExit"),
        ("asyncio.CancelledError", "CancelledError"),
        ("ValueError('so\\nit is')", "ValueError: so it is"),
    ],
)
def test_whatever_an_agent_raises_ends_the_run_with_a_line_that_names_it(
    shell: Shell, early: bool, error: str, told: str
) -> None:
    (shell.folder / "mine.py").write_text(OWN.format(error=error))
    (shell.folder / "a.toml").write_text(
        f'name = "a"\nplatform.workers = 1\nagents = [{{ name = "mine:Mine", parameters = '
        f"{{ early = {str(early).lower()} }} }}]\n"
        'job = { kind = "rigid", jobs = [{ processors = 1, time = 2 }, { processors = 1, '
        "time = 2 }] }\n"
    )
    line = 12 if early else 16
    said = shell.refused("run", "a.toml", "--log", "none")
    assert said == f"holdfast: agent mine:Mine raised {told} (mine.py, line {line})"


@pytest.mark.parametrize(
    ("agent", "problem"),
    [
        ({"name": "nowhere:Agent"}, "agents.0.name: 'nowhere:Agent': no such module there"),
        ({"name": "os:getcwd"}, "agents.0.name: 'os:getcwd': no such module there"),
        ({"name": "actors.worker:Worker"}, "agents.0.name: 'actors.worker:Worker': no such module"),
        ({"name": "policies.maths.markov:MarkovChain"}, "is no class of agents"),
        ({"name": OURS, "parameters": {"thinks": 3}}, "agents.0.parameters.thinks: unknown key"),
        ({"name": OURS, "parameters": {"jobs": ["X*"]}}, "ClosedLoopUser submits 'X*'"),
        ({"name": OURS, "parameters": {"jobs": ["J2"]}}, "submits J2, which follows others"),
        ({"name": OURS, "parameters": {"name": "J1", "jobs": []}}, "'J1' is the name of another"),
        (
            {"name": OURS, "parameters": {"name": "x\x1b[31my\u202e"}},
            r"'x\x1b[31my\u202e' is not accepted; accepted: names without control characters",
        ),
        ({"name": OURS, "parameters": {"name": 3}}, "agents.0.parameters.name"),
        ({"name": OURS, "parameters": {"name": "scheduler"}}, "'scheduler' is the name of another"),
    ],
)
def test_what_is_no_agent_is_refused(tmp_path: Path, agent: Table, problem: str) -> None:
    assert problem in refused(tmp_path, table(**agent))


def test_two_agents_have_two_names_and_no_job_in_common(tmp_path: Path) -> None:
    asked = table(name=OURS)
    asked["agents"] *= 2
    assert "two agents are called 'ClosedLoopUser'" in refused(tmp_path, asked)
    jobs = [{"name": OURS, "parameters": {"name": it, "jobs": ["J1"]}} for it in ("ada", "bob")]
    assert "ada and bob both submit J1" in refused(tmp_path, asked | {"agents": jobs})


def test_policies_of_copies_leave_no_job_to_an_agent(tmp_path: Path) -> None:
    job = {"kind": "rigid", "jobs": [{"processors": 1, "time": 3}]}
    asked = table(name=OURS, parameters={"jobs": ["*"]}) | {"job": job}
    asked["policy"] = {"name": "SRPT+R"}
    assert "gets each job as it arrives" in refused(tmp_path, asked)
