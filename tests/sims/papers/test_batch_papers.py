"""The regenerated figures and tables of 001 and 000."""

from pathlib import Path

import pytest

from policies.queue.lists import Reading
from sims.papers import moldable, prop3, rigid
from sims.papers.moldable_example import schedule
from sims.papers.moldable_runs import Point as MoldablePoint
from sims.papers.moldable_runs import ratios
from sims.papers.rigid_runs import Point, outcomes, scenarios, synthetic
from sims.scenario.jobs.moldable import Model, SyntheticJobs
from sims.statistics import mean_interval

SWF = Path(rigid.__file__).parent.parent / "scenarios" / "batch-small.swf"
SETS = 10


def expect(values: list[float], reference: float, error: float) -> None:
    """The reference within this sample's 99.9 % interval and the reference's own error."""
    found = mean_interval(values, 0.999)
    assert abs(found.mean - reference) <= found.half + 3 * error


@pytest.mark.parametrize(
    ("heuristic", "reading", "average", "reference"),
    [
        ("R-LIST-0", Reading.FRESH, 0.0, 1.036),
        ("R-LIST-0", Reading.FRESH, 0.3, 1.103),
        ("R-LIST-Q", Reading.FRESH, 0.1, 1.032),
        ("R-LIST-Q", Reading.KEPT, 0.1, 1.143),
        ("R-LIST-Q", Reading.KEPT, 0.3, 1.255),
        ("R-SHELFFILL-B", Reading.FRESH, 0.3, 1.200),
        ("R-SHELFFILL-B", Reading.FRESH, 0.9, 1.085),
    ],
)
def test_mean_ratios_of_figure_5_are_reproduced(heuristic, reading, average, reference) -> None:
    """P = 10,000, LPT; reference values with a standard error of about 0.004."""
    cells = ((heuristic, "LPT"),)
    found = [
        outcomes(Point(f"set {k}", synthetic(k), 10_000, average, 2, cells, reading))
        for k in range(SETS)
    ]
    expect([result.mean(cells[0]) for result in found], reference, 0.004)


@pytest.mark.parametrize(
    ("model", "lpa", "batch"),
    [
        (Model.ROOFLINE, 1.047, 1.115),
        (Model.COMMUNICATION, 1.293, 1.378),
        (Model.AMDAHL, 1.964, 1.475),
        (Model.MIX_LOW_COM, 1.927, 1.485),
        (Model.MIX, 1.910, 1.491),
        (Model.POWER, 1.895, 1.520),
    ],
)
def test_expected_ratios_of_table_1_are_reproduced_at_default_parameters(
    model: Model, lpa: float, batch: float
) -> None:
    cells = (("LPA", "LPT"), ("BATCH", "LPT"))
    found = [ratios(MoldablePoint(model, k, 500, 7500, 1e-7, 1, cells, 0.1)) for k in range(SETS)]
    expect([result[cells[0]][0] for result in found], lpa, 0.01 * lpa)
    expect([result[cells[1]][0] for result in found], batch, 0.01 * batch)


def test_the_same_failures_are_drawn_whatever_is_compared() -> None:
    jobs = synthetic(3)
    one = Point("set 3", jobs, 10_000, 0.3, 3, (("R-LIST-0", "LPT"),), Reading.FRESH)
    other = Point("set 3", jobs, 5_000, 0.3, 3, (("R-SHELF-B", "SA"),), Reading.KEPT)
    assert scenarios(one) == scenarios(other)
    assert scenarios(one)[0] != scenarios(one)[1]


def test_the_example_of_section_47_takes_13_under_both_algorithms() -> None:
    from policies.queue.allocation import LocalProcessorAllocation
    from policies.queue.batches import Exact

    for rule in (LocalProcessorAllocation(), Exact()):
        assert max(end for _, _, _, end in schedule(rule)) == 13


def test_synthetic_jobs_lie_in_the_ranges_that_the_paper_states() -> None:
    for model in Model:
        for job in SyntheticJobs(model=model, count=50).draw():
            assert 5_000 <= job.work <= 4_000_000
    assert all(50 <= job.processors <= 2000 and 100 <= job.length <= 20_000 for job in synthetic(0))


SMALL = ["--sets", "2", "--scenarios", "1"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["figure4", *SMALL, "--averages", "0.3", "--platforms", "5000"], "paper: 4.8 %"),
        (["figure5", *SMALL, "--averages", "0.1", "--orders", "LPT", "SPT"], "R-SHELFFILL-NB"),
        (["figure6", *SMALL, "--platforms", "8000", "9000", "--orders", "LA"], "9000"),
        (["table1-swf", str(SWF), "--scenarios", "2"], "1 run time unknown or 0 s"),
    ],
)
def test_each_rigid_experiment_prints_its_table(words, expected, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    plot = ["--plot", str(tmp_path / "p.png")] if words[0] != "table1-swf" else []
    assert rigid.main([*words, *plot]) == 0
    assert expected in capsys.readouterr().out
    assert not plot or (tmp_path / "p.png").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["example"], "makespan 13 (paper: 13)"),
        (["table1", *SMALL, "--models", "mix"], "1.867"),
        (["table1", *SMALL, "--models", "roofline", "--exact"], "exact"),
    ],
)
def test_each_moldable_experiment_prints_its_table(words, expected, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert moldable.main(words) == 0
    assert expected in capsys.readouterr().out


def test_the_figures_of_000_are_drawn(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(moldable, "PROCESSORS", (1000,))
    monkeypatch.setattr(moldable, "JOBS", (100,))
    monkeypatch.setattr(moldable, "RATES", (1e-8,))
    one = ["--sets", "1", "--scenarios", "1", "--models", "roofline"]
    for name in ("figure4", "figure5"):
        assert moldable.main([name, *one, "--plot", str(tmp_path / f"{name}.png")]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "figure4.png",
        "figure5-P.png",
        "figure5-n.png",
        "figure5-lambda.png",
    }


def test_each_of_several_models_has_a_picture_of_its_own(tmp_path: Path) -> None:
    words = ["figure4", "--sets", "1", "--scenarios", "1", "--models", "roofline", "amdahl"]
    assert moldable.main([*words, "--plot", str(tmp_path / "figure4.png")]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"figure4-roofline.png", "figure4-amdahl.png"}


def test_a_log_that_is_not_there_is_an_error_of_one_line(capsys) -> None:
    assert rigid.main(["table1-swf", "/nowhere.swf"]) == 2
    assert "/nowhere.swf" in capsys.readouterr().err


def test_proposition_3s_expected_ratios_are_printed_beside_the_papers(capsys) -> None:
    assert prop3.main([]) == 0
    assert "1.00005" in capsys.readouterr().out
