"""The benchmark of queues."""

import pytest

from sims.bench import queues


def test_the_benchmark_prints_a_row_per_strategy_and_a_column_per_length(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    queues.main([5, 20])
    out = capsys.readouterr().out
    assert all(name in out for name in (*queues.STRATEGIES, "5 jobs", "20 jobs", "20 kinds"))


def test_jobs_of_few_kinds_differ_in_nothing_else_that_a_reservation_knows() -> None:
    found = {(job.profile.processors, job.estimate) for job in queues.jobs(200, 20)}
    assert len(found) <= 20 < len({job.profile.length for job in queues.jobs(200, 20)})
