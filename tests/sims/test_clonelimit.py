"""How far a master's bandwidth lets protection pay: the study's runs and report."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from sims.clonelimit import (
    QUESTION,
    VARIANTS,
    ProtectionVariant,
    Task,
    at,
    flowtimes,
    main,
    scenario,
)

TASK = Task(4, (2.0,), 1)


def test_a_period_aware_of_the_link_is_longer_the_fewer_channels_there_are() -> None:
    plain, aware = ProtectionVariant(images=True), ProtectionVariant(images=True, aware=True)
    assert plain.period(QUESTION, 1, 2) == plain.period(QUESTION, 100, 2)
    assert aware.period(QUESTION, 100, 2) == plain.period(QUESTION, 100, 2)
    longer = aware.period(QUESTION, 1, 2) / plain.period(QUESTION, 1, 2)
    assert longer == pytest.approx((QUESTION.load * QUESTION.workers) ** 0.5)


def test_all_protections_meet_the_same_jobs_and_workers() -> None:
    variants = [scenario(QUESTION, TASK, variant, 2) for variant in VARIANTS.values()]
    bare = [evolve(it, protection=variants[0].protection) for it in variants]
    assert all(it == bare[0] for it in bare)


def test_images_help_where_there_are_channels_and_harm_where_there_are_none_to_spare() -> None:
    image = at("images, Young", 2)
    wide, narrow = flowtimes(TASK), flowtimes(evolve(TASK, channels=1))
    assert wide == flowtimes(TASK)
    assert wide[image][0] < 0.8 * wide["none"][0]
    assert narrow[image][0] > 2 * narrow["none"][0]


def test_the_study_says_where_each_protection_stops_paying(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--trials", "2", "--channels", "16", "--images", "1", "8")
    assert main((*words, "--plot", str(tmp_path / "p.png"))) == 0
    told = capsys.readouterr().out
    assert "mean flowtime / without protection" in told
    assert "2 copies, cloned: 16 channels: " in told
    assert (tmp_path / "p.png").stat().st_size > 10_000
