"""Speedup profiles (moldable21, section 3.1)."""

import pytest

from policies.maths.speedup import Rigid, Table, amdahl, communication, mix, power, roofline


def test_each_model_is_its_printed_formula() -> None:
    assert roofline(12, 3).time(2) == 6
    assert roofline(12, 3).time(5) == 4
    assert communication(12, 0.5).time(4) == 3 + 1.5
    assert amdahl(10, 0.2).time(4) == pytest.approx(10 * (0.8 / 4 + 0.2))
    assert mix(10, 3, 0.2, 0.5).time(5) == pytest.approx(8 / 3 + 2 + 2)
    assert power(16, 0.5).time(4) == 8
    assert Table((5, 4, 3)).time(3) == 3


def test_the_work_is_kept_as_given() -> None:
    assert mix(0.1, 3, 0.3, 0.5).work == 0.1
    assert Table((5, 4, 3)).work == 5


def test_the_work_of_a_rigid_job_is_its_area() -> None:
    assert Rigid(3, 7).work == 21


def test_a_rigid_job_runs_on_the_processors_it_asked_for_only() -> None:
    with pytest.raises(ValueError, match="3 processors was given 2"):
        Rigid(3, 7).time(2)


def test_a_table_does_not_run_on_more_processors_than_it_lists() -> None:
    with pytest.raises(ValueError, match="asked for 3"):
        Table((5, 4)).time(3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: roofline(0, 3),
        lambda: roofline(5, 0),
        lambda: communication(5, -1),
        lambda: amdahl(5, 1.5),
        lambda: power(5, -0.1),
        lambda: Table(()),
        lambda: Table((3, -1)),
    ],
)
def test_impossible_parameters_are_refused(make) -> None:
    with pytest.raises(ValueError, match="must"):
        make()
