"""The regenerated figures and tables of rigid21 and moldable21."""

import pytest

from actors.events import Outcome
from actors.runtime import stream
from policies.maths.silent_errors import draw_failures
from sims.campaign.engine import execute
from sims.campaign.plan import Cells
from sims.papers import item
from sims.papers.silent import rigid
from sims.papers.values import Value
from sims.scenario import Scenario
from sims.scenario.jobs import RigidSection
from sims.scenario.jobs.drawn import Model, SyntheticJobs, UniformJobs
from sims.scenario.loader import read
from sims.summary import Summary
from sims.world import run
from tests.case_files import listed

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


def figure5(variants: dict, average: float, **changes: object) -> dict[tuple[str, str], Value]:
    one = item("rigid21/figure5")
    axes = {"errors.average": (average,), "number": tuple(range(SETS))}
    update = {"axes": axes, "variants": variants}
    campaign = one.campaign("default", changes).model_copy(update=update)
    found = one.values(execute(campaign.model_copy(update={"replications": 2})))
    return {(it.who, it.what): it for it in found}


@pytest.mark.parametrize(("model", "lpa", "batch"), listed(__file__, "table1"))
def test_expected_ratios_of_table_1_are_reproduced_at_default_parameters(
    model: str, lpa: float, batch: float
) -> None:
    one = item("moldable21/table1")
    whole = one.campaign("default", {"replications": 1})
    axes = {"job.synthetic.model": (model,), "number": tuple(range(SETS))}
    own = {name: whole.variants[name] for name in ("LPA", "BATCH")}
    found = one.values(execute(whole.model_copy(update={"axes": axes, "variants": own})))
    by_key = {(it.who, it.what): it for it in found}
    expect(by_key["LPA", "expected"], lpa, 0.01 * lpa)
    expect(by_key["BATCH", "expected"], batch, 0.01 * batch)


def test_the_same_failures_are_drawn_whatever_is_compared() -> None:
    changes = {"axes": {"number": [3], "errors.average": [0.3]}, "replications": 2}
    cases = Cells.of(item("rigid21/figure5").campaign("default", changes))
    assert len({drawn(case.scenario(0)) for case in cases}) == 1
    assert drawn(cases[0].scenario(0)) != drawn(cases[0].scenario(1))


def drawn(scenario: Scenario) -> tuple[int, ...]:
    section = scenario.job
    assert isinstance(section, RigidSection)
    assert section.synthetic is not None
    works = [job.work for job in section.synthetic.draw()]
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
