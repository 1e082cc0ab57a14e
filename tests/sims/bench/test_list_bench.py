"""The benchmark of lists."""

from sims.bench import list as bench


def test_the_benchmark_prints_a_row_per_simulation_with_what_it_may_cost(
    capsys, monkeypatch
) -> None:
    monkeypatch.setattr(bench, "seconds_per_task", lambda: 1e-5)
    monkeypatch.setenv("COLUMNS", "120")
    bench.main(rounds=1, scenarios=3)
    out = capsys.readouterr().out
    assert all(name in out for name in ("rigid R-LIST-0", "moldable LPA", "moldable BATCH"))


def test_attempts_are_all_executions_of_all_jobs_in_all_scenarios() -> None:
    trial = bench.rigid(4)
    assert trial.attempts == 400 + sum(map(sum, trial.failures))
    spent = bench.measure(trial, bench.r_list)
    assert 0 < spent.run < spent.whole
