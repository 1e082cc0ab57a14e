"""Jobs with deadlines on spot and on-demand workers: whole runs, beside a replay slot by slot."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from actors.decisions import BadDecision
from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.examples import example
from sims.history.rows import Use
from sims.metrics.report import Report
from sims.papers.published.deadline import PRICES, start
from sims.scenario.loader import read
from sims.world import run
from tests.sims.cli.commands import Shell

WORK, DELAY = 60.0, 1.2
"""Slots."""


def scenario(states: str, policy: str, deadline: float) -> dict[str, Any]:
    table = start(0, "fitted chains", policy, deadline / 12, WORK / 12, DELAY / 12)
    table["workers"][0]["availability"] = {"kind": "letters", "states": states, "after": "repeat"}
    return table


def simulated(table: dict[str, Any], folder: Path = Path()) -> tuple[list[Record], Report]:
    seen: list[Record] = []
    run(read(table, "test"), [seen.append], folder)
    return seen, Report.of(seen, workers=True)


def replayed(states: str, policy: str, deadline: float) -> tuple[float, float]:
    """Slots of work on demand, slots paid on demand: what the benchmark's simulator does."""
    left, kind, wait, slot, done, paid = WORK, "", 0.0, 0, 0.0, 0.0
    while left > 1e-9:
        spot = "spot" if states[slot % len(states)] == "u" else ""
        kind = kind if kind != "spot" else spot
        line = (WORK - left) * deadline / WORK - slot + 1e-9
        if left + 2 * DELAY > deadline - slot + 1e-9:
            wanted = "on-demand"
        elif policy == "greedy":
            wanted = spot
        elif kind == "on-demand":
            wanted = spot if spot and line >= 2 * DELAY else kind
        else:
            wanted = spot or ("" if line >= 0 else "on-demand")
        wait = DELAY if wanted != kind else wait
        kind, passed = wanted, min(wait, 1.0)
        wait -= passed
        step = min(1 - passed, left) if kind else 0.0
        left -= step
        if kind == "on-demand":
            done, paid = done + step, paid + passed + step
        slot += 1
    return done, paid


@pytest.mark.parametrize("policy", ["greedy", "uniform-progress"])
@pytest.mark.parametrize("seed", range(4))
def test_costs_are_those_of_a_replay_slot_by_slot(policy: str, seed: int) -> None:
    rng = random.Random(seed)
    states = "".join(rng.choice("ud") * round(rng.expovariate(0.2) + 1) for _ in range(40))
    deadline = rng.choice((66.0, 75.0, 90.0))
    seen, report = simulated(scenario(states, policy, deadline))
    done, paid = replayed(states, policy, deadline)
    [spot, demand] = [report.ledger.by_worker[worker] for worker in (0, 1)]
    assert float(demand[Use.USEFUL]) == pytest.approx(done)
    assert float(demand[Use.USEFUL] + demand[Use.RECOVERY]) == pytest.approx(paid)
    held = float(spot[Use.USEFUL] + spot[Use.RECOVERY])
    assert report.costs.cost == pytest.approx(
        (paid * PRICES["on-demand"] + held * PRICES["spot"]) / 12
    )
    assert report.late == 0
    assert not list(audit(seen))


def test_whatever_else_costs_time_is_allowed_for() -> None:
    """Checkpoints, a recovery, a verification, two workers: never late, where a policy sees to it;
    on spot alone it is."""
    late = []
    for policy in ("greedy", "uniform-progress", "spot"):
        table = scenario("u" * 7 + "d" * 9 + "u" * 3 + "d" * 40, policy, 95.0)
        for worker in table["workers"]:
            worker["count"] = 3
        table["job"] |= {"verification": 0.5, "jobs": [table["job"]["jobs"][0] | {"processors": 2}]}
        table["protection"] |= {"period": 2, "cost": 0.1, "recovery": 0.7, "verified": True}
        seen, report = simulated(table)
        late.append(report.late)
        assert not list(audit(seen))
    assert late == [0, 0, 1]


def test_a_job_is_not_late_before_its_deadline(shell: Shell) -> None:
    """It is due after 60 h; alone on spot it is completed later than that."""
    words = ("run", str(example("deadline")), "--seed", "1", "--set", "policy.name=spot")
    for end, late in (("59 h", 0), ("61 h", 1)):
        shell(*words, "--until", end, "--log", "cut.jsonl")
        assert f"  late        {late} of 1 job with a deadline" in shell("summary", "cut.jsonl").out


@pytest.mark.parametrize(
    ("key", "changed", "problem"),
    [
        ("policy", {"name": "hasty"}, "'hasty' is no policy of deadlines"),
        ("policy", {"name": "greedy", "decider": "deadline"}, "J1 has none"),
        ("protection", {"copies": 2}, "J1 has several copies"),
        ("workers", [{"name": "spot"}], "none is called on-demand"),
    ],
)
def test_what_cannot_be_decided_is_refused(key: str, changed: Any, problem: str) -> None:
    table = scenario("u", "greedy", 75.0) | {key: changed}
    if "none" in problem and key == "policy":
        del table["job"]["jobs"][0]["deadline"]
    with pytest.raises(InputError, match=problem):
        simulated(table)


def test_a_kind_that_there_is_not_is_refused_with_the_policys_name(tmp_path: Path) -> None:
    (tmp_path / "own_kinds.py").write_text("def cheap(job):\n    return 'cheap'\n")
    with pytest.raises(BadDecision, match=r"own_kinds:cheap answered 'cheap': accepted: spot, on"):
        simulated(scenario("u", "own_kinds:cheap", 75.0), tmp_path)
