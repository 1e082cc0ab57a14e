"""The regenerated figures and tables of the five papers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from actors.events import Outcome
from actors.runtime import stream
from policies.maths.gains import gain_at
from policies.maths.silent_errors import draw_failures
from policies.maths.speeds import TwoPoint, UniformSlots
from sims.campaign.engine import execute
from sims.campaign.plan import Cases
from sims.history.summary import Summary
from sims.papers import item
from sims.papers.malleable17 import FAULT_FREE, courses, pack, pictures
from sims.papers.redundancy17 import bounded, concave, drain, guarantee
from sims.papers.silent import rigid
from sims.papers.values import Value
from sims.papers.volatile13 import Makespans, scores
from sims.scenario import Scenario
from sims.scenario.jobs import RigidSection
from sims.scenario.jobs.drawn import Model, SyntheticJobs, UniformJobs
from sims.scenario.loader import read
from sims.world import run
from tests.case_files import case_file, listed
from tests.sims.cli.commands import Shell
from tests.sims.papers.papers import ZONES

SETS = 10


def expect(value: Value, reference: float, error: float) -> None:
    """The reference within this sample's 99.9 % interval and the reference's own error."""
    found = value.ours.at(0.999)
    assert abs(found.mean - reference) <= found.half + 3 * error


@pytest.mark.parametrize(
    ("heuristic", "reading", "average", "reference"), listed(__file__, "figure5")
)
def test_mean_ratios_of_figure_5_are_reproduced(heuristic, reading, average, reference) -> None:
    """P = 10,000, LPT; reference values with a standard error of about 0.004."""
    own = {f"{heuristic} LPT": {"policy.name": heuristic, "policy.order": "LPT"}}
    found = figure5(own, average, set={"policy.reading": reading})
    expect(found[f"{heuristic} LPT", "makespan / L(f)"], reference, 0.004)


def test_the_catalogue_prints_of_table_1_what_the_cases_say(cases_dir: Path) -> None:
    names = {"fails": "#fails", "diff_pct": "%diff", "wins_pct": "%wins", "wins30_pct": "%wins30"}
    printed = item("volatile13/table1").printed
    for made in case_file(cases_dir, "table1-volatile.json")["runs"].values():
        for heuristic, told in made["heuristics"].items():
            row = dict(zip(printed["columns"], map(float, printed[heuristic]), strict=True))
            assert {names.get(key, key): value for key, value in told["paper"].items()} == row


def figure5(variants: dict, average: float, **changes: object) -> dict[tuple[str, str], Value]:
    one = item("rigid21/figure5")
    axes = {"errors.average": (average,), "number": tuple(range(SETS))}
    question = one.campaign("default", {**changes, "replications": 2})
    found = one.values(
        execute(evolve(question, varied=evolve(question.varied, variants=variants, axes=axes)))
    )
    return {(it.who, it.what): it for it in found}


@pytest.mark.parametrize(("model", "lpa", "batch"), listed(__file__, "table1"))
def test_expected_ratios_of_table_1_are_reproduced_at_default_parameters(
    model: str, lpa: float, batch: float
) -> None:
    one = item("moldable21/table1")
    whole = one.campaign("default", {"replications": 1})
    axes = {"job.synthetic.model": (model,), "number": tuple(range(SETS))}
    own = {name: whole.varied.variants[name] for name in ("LPA", "BATCH")}
    varied = evolve(whole.varied, variants=own, axes=axes)
    found = one.values(execute(evolve(whole, varied=varied)))
    by_key = {(it.who, it.what): it for it in found}
    expect(by_key["LPA", "expected"], lpa, 0.01 * lpa)
    expect(by_key["BATCH", "expected"], batch, 0.01 * batch)


def test_the_same_failures_are_drawn_whatever_is_compared() -> None:
    changes = {"axes": {"number": [3], "errors.average": [0.3]}, "replications": 2}
    cases = Cases.of(item("rigid21/figure5").campaign("default", changes))
    assert len({drawn(case.scenario(0)) for case in cases}) == 1
    assert drawn(cases[0].scenario(0)) != drawn(cases[0].scenario(1))


def drawn(scenario: Scenario) -> tuple[int, ...]:
    section = scenario.job
    assert isinstance(section, RigidSection)
    assert section.synthetic is not None
    works = np.array([job.work for job in section.synthetic.draw()])
    chances = scenario.errors.probabilities(works)
    return tuple(draw_failures(chances, stream(scenario.seed, "failures")))


def test_a_runs_failures_are_those_of_its_lower_bound() -> None:
    """What the views compute beside a run is what the run met."""
    scenario = read(rigid(3), "rigid21")
    summary = Summary()
    run(scenario, [summary])
    assert summary.outcomes[Outcome.FAILED] == sum(drawn(scenario))


def test_synthetic_jobs_lie_in_the_ranges_that_the_paper_states() -> None:
    for model in Model:
        for job in SyntheticJobs(model=model, count=50).draw():
            assert 5_000 <= job.work <= 4_000_000
    assert all(
        50 <= job.processors <= 2000 and 100 <= job.length <= 20_000
        for job in UniformJobs(seed=0).draw()
    )


NONE = "none"


def makespans(policies: tuple[str, ...], seed: int, **setting: Any) -> dict[str, float]:
    """By policy, on the same pack and faults."""
    return {name: _makespan(pack(name, seed, **setting), seed) for name in policies}


def _makespan(table: dict[str, Any], seed: int) -> float:
    summary = Summary()
    run(read(table | {"seed": table["seed"] + seed}, "malleable17"), [summary])
    assert summary.makespan is not None
    return summary.makespan


def test_all_policies_of_a_point_meet_the_same_pack_and_faults() -> None:
    one, other = (read(pack(name, 3), "malleable17") for name in ("EndLocal", NONE))
    assert one.job == other.job
    assert (one.faults, one.seed) == (other.faults, other.seed)


def test_points_of_a_curve_have_packs_of_their_own() -> None:
    one, other = (read(pack(NONE, 3, unit=unit), "malleable17") for unit in (0.1, 1.0))
    assert one.job != other.job


def test_the_fault_free_run_bounds_what_redistribution_can_gain() -> None:
    names = (NONE, FAULT_FREE, "EndLocal")
    found = makespans(names, 1, applications=10, processors=60, mtbf_years=10)
    assert found[FAULT_FREE] < found["EndLocal"] < found[NONE]


def test_figure_11_follows_each_policy_from_fault_to_fault(tmp_path: Path) -> None:
    found = courses(2, applications=8, processors=40, mtbf_years=5)
    reference = found[NONE]
    assert len(reference) > 3
    assert all(a.makespan <= b.makespan for a, b in pairwise(reference))
    greedy = found["IteratedGreedy-EndLocal"]
    assert greedy[-1].makespan < reference[-1].makespan
    drawn = list(pictures(tmp_path, found))
    assert [path.name for path in drawn] == ["figure11-makespan.png", "figure11-spread.png"]
    assert all(path.exists() for path in drawn)


def test_redistribution_gains_about_as_much_as_the_study_found() -> None:
    """One point of figure 10 (n = 100, p = 500): the study's gain there is near 30 %."""
    names = ("IteratedGreedy-EndGreedy", "ShortestApplicationsFirst-EndLocal")
    found = [makespans((NONE, *names), seed, processors=500) for seed in range(4)]
    for name in names:
        ratios = [trial[name] / trial[NONE] for trial in found]
        assert 0.6 < sum(ratios) / len(ratios) < 0.85


def scored(scenarios: list[Makespans]) -> dict[tuple[str, str], Value]:
    return {(it.who, it.what): it for it in scores(scenarios)}


def test_differences_are_of_means_over_trials_in_which_both_succeed() -> None:
    found = scored(
        [
            {"IE": [100, 300, 100], "H": [50, 150, None]},
            {"IE": [100, 100], "H": [120, 140]},
        ]
    )
    assert found["H", "#fails"].ours.mean == 1
    assert found["H", "%diff"].ours.mean == pytest.approx((-100 + 30) / 2)
    assert found["H", "%wins"].ours.mean == pytest.approx((100 + 0) / 2)
    assert found["H", "%wins30"].ours.mean == pytest.approx((100 + 50) / 2)
    assert found["H", "stdv"].ours.mean == pytest.approx(1.3 / 2**0.5)
    assert found["IE", "%diff"].ours.mean == 0


def test_figure_2_takes_scores_apart_by_wmin() -> None:
    one = item("volatile13/figure2")
    axes = {"fastest": [1, 2], "channels": [5], "number": [0]}
    found = one.values(execute(one.campaign("smoke", {"axes": axes, "replications": 1})))
    assert {it.place for it in found} == {(("fastest", 1),), (("fastest", 2),)}


def test_every_heuristic_of_table_1_runs_on_the_same_instance_again_and_again() -> None:
    one = item("volatile13/table1")
    axes = {"fastest": [1], "channels": [5], "number": [0]}
    changes = {"axes": axes, "set": {"job": {"cap": 20_000}}, "replications": 1}
    first, again = (execute(one.campaign("default", changes)) for _ in range(2))
    cell, same = first.comparisons()[0], again.comparisons()[0]
    found = {line.variant: line.runs[0].value or 20_000 for line in cell.lines}
    assert sorted(found) == sorted(set(one.printed) - {"columns"})
    assert found == {line.variant: line.runs[0].value or 20_000 for line in same.lines}
    assert min(found.values()) > 10
    assert found["RANDOM"] > max(value for name, value in found.items() if name != "RANDOM")


@pytest.mark.parametrize("evidence", [False, True])
def test_real_traces_are_fitted_and_run_and_their_evidence_can_be_seen(
    evidence: bool, shell: Shell
) -> None:
    words = ["papers", "run", "volatile13/realtraces", "--size", "smoke", "--input", ZONES]
    told = ["--evidence"] if evidence else []
    out = shell(*words, "--axis", "number=[0]", "--set", "cap=10", *told).out
    assert "on fitted chains" in out
    assert "RANDOM" in out
    assert out.count("log-likelihood") == (len(list(ZONES.glob("*.json"))) if evidence else 0)
    assert ("slots independent of the one before" in out) == evidence


SET = {"platform": {"workers": 4}, "job": {"stream": {"count": 100}}}


def over_bounds(policies: tuple[str, ...], speeds: list[float]) -> dict[tuple[str, float], float]:
    """Flowtime over its bound by policy and speed, the worst and best of both semantics."""
    one = item("redundancy17/bounds")
    variants = {name: {"policy": {"name": name}} for name in policies}
    changes = {"set": SET, "axes": {"speed": speeds}, "variants": variants, "replications": 1}
    found = one.values(execute(one.campaign("default", changes)))
    assert len({dict(it.place)["semantics"] for it in found}) == 2
    return {
        (f"{it.who} {dict(it.place)['semantics']}", dict(it.place)["speed"]): it.ours.mean
        for it in found
        if it.what == "flowtime / bound"
    }


def test_srpt_r_stays_within_theorem_1() -> None:
    for (who, speed), ratio in over_bounds(("SRPT+R",), [1.5, 3.0]).items():
        if who.startswith("SRPT+R "):
            most = guarantee("SRPT+R", speed)
            assert most is not None
            assert 0 < ratio < most


def test_no_policy_beats_the_bound_at_unit_speed() -> None:
    found = over_bounds(("SRPT+R", "SRPT+R-even", "LAPS+R(1/2)", "FCFS"), [1.0])
    assert len(found) == 8
    assert min(found.values()) >= 1


@pytest.mark.parametrize("process", [TwoPoint(4.0, 0.3), UniformSlots(2.0, 0.5)])
def test_lemmas_1_and_2_hold(process: TwoPoint | UniformSlots) -> None:
    at = gain_at(process, 500, np.random.default_rng(1))
    gains = [at(copies, 0.7) for copies in range(1, 9)]
    assert concave(gains)
    assert bounded(gains, process.peak, 0.7)


def test_lemma_5_holds() -> None:
    simulated, formula = drain(20, 3, 0.5, np.random.default_rng(1))
    assert simulated == pytest.approx(formula, rel=1e-12)
