from __future__ import annotations

import pytest

from sims.bench import log
from sims.bench.log import RUNS, measure


@pytest.mark.parametrize("name", RUNS)
def test_writing_the_log_costs_at_most_as_much_as_the_run_that_it_writes(name: str) -> None:
    # The goal is 1; the tolerance is for a machine that others use while this measures.
    assert measure(name, repeats=2).writing < 1.5


@pytest.mark.parametrize("only", [None, "batch-moldable"])
def test_a_row_a_scenario_tells_what_its_log_costs(
    only: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "RUNS", {"batch-moldable": ()})
    monkeypatch.setattr(log, "SHORT", 0.0)
    monkeypatch.setenv("COLUMNS", "120")
    log.main(repeats=1, suffix=".jsonl.gz" if only else ".jsonl", only=only)
    [row] = [it for it in capsys.readouterr().out.splitlines() if "batch-moldable" in it]
    name, events, *figures = row.split()
    assert (name, len(figures)) == ("batch-moldable", len(log.HEADS) - 2)
    assert int(events) > 10
    assert 0 < float(figures[0]) < 1
