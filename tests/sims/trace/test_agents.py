"""What a log tells of agents: in the lives of jobs, and in their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import define
from holdfast.agents import Agent

from sims.examples import example
from sims.log import LogFile
from sims.session import run
from sims.trace.agents import find_agent
from sims.trace.read import find_life


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for name in ("closed-loop", "adversary"):
        run(example(name), log=folder / f"{name}.jsonl")
    return folder


def test_an_agents_life_has_what_it_did_and_because_of_what(logs: Path) -> None:
    life = find_agent(LogFile(logs / "closed-loop.jsonl"), "ada")
    assert life is not None
    said = [(it.title, it.start, it.cause) for it in life.root.children]
    assert said[:2] == [("submits A1", 0, 0), ("submits A2", 3000, 12)]
    assert str(life).startswith("0 s to 6:14:00.45")
    assert life.data["agent"] == "ada"


def test_who_is_no_agent_has_no_life_as_one(logs: Path) -> None:
    assert find_agent(LogFile(logs / "closed-loop.jsonl"), "A1") is None


def test_a_jobs_life_says_which_agent_submitted_it(logs: Path) -> None:
    life = find_life(LogFile(logs / "closed-loop.jsonl"), "A2")
    assert life.root.title == "A2 submitted by the agent ada: rigid"


def test_a_jobs_life_says_what_an_agent_did_to_its_workers(logs: Path) -> None:
    told = str(find_life(LogFile(logs / "adversary.jsonl"), "J1"))
    assert "the agent Adversary takes worker 0 DOWN" in told
    assert "the agent Adversary gives worker 0 back" in told


def test_a_jobs_life_says_which_agent_cancelled_it(tmp_path: Path) -> None:
    @define(eq=False)
    class Impatient(Agent):
        def begin(self, cause: int) -> None:
            self.submit("own", cause, after=1)
            self.cancel_job("own", cause, after=5)

    jobs = [{"processors": 1, "time": 30}, {"processors": 1, "time": 20, "name": "own"}]
    table = {"name": "a", "platform": {"workers": 1}, "job": {"kind": "rigid", "jobs": jobs}}
    run(table, log=tmp_path / "a.jsonl", actors=[Impatient(jobs=("own",))])
    life = find_life(LogFile(tmp_path / "a.jsonl"), "own")
    assert life.root.children[-1].title == "cancelled by the agent Impatient"
    agent = find_agent(LogFile(tmp_path / "a.jsonl"), "Impatient")
    assert agent is not None
    assert [it.title for it in agent.root.children] == ["submits own", "cancels own"]
