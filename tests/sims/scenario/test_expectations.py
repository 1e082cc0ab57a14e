"""Expected numbers of faults, and the assumptions that `check` and `summary` state with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policies.maths.renewals import expected_renewals, lognormal_renewals
from sims.session import check, run

DAY = 86400.0

CURING = {"stages": [{"time": 7200, "fixes": 1}]}
RETIRING = {
    "stages": [{"time": 7200}],
    "retirement": {"kind": "faults-within", "faults": 2, "window": 7 * DAY},
}
COMPUTING = {"mtbf": 10 * DAY, "clock": "computing"}


def table(*laws: dict[str, Any], processors: int = 10, **others: Any) -> dict[str, Any]:
    """A job of 20 days on `processors` of 20 workers, under these laws of faults."""
    return {
        "name": "expected",
        "platform": {"workers": 20},
        "policy": {"name": "FCFS"},
        "protection": {"kind": "images", "period": "continuous"},
        "faults": {"kind": "several", "laws": [{"kind": "exponential", **it} for it in laws]},
        "job": {"kind": "rigid", "jobs": [{"processors": processors, "time": 20 * DAY}]},
        **others,
    }


def told(*laws: dict[str, Any], **others: Any) -> list[str]:
    """The lines of `check` on faults."""
    outlook = check(table(*laws, **others)).outlook
    return [it for it in outlook if "faults  " in it or "hangs  " in it or "Warning" in it]


def test_by_calendar_fewer_faults_come_where_workers_are_down_cured_or_retired() -> None:
    law, share = {"mtbf": 5 * DAY}, {"mtbf": 5 * DAY, "share": 0.5}
    assert told(law | {"downtime": 0})[0].endswith("80 expected within 20 d of 20 workers")
    assert told(law)[0].endswith("of 20 workers; fewer where they are DOWN")
    assert told(law, repair=CURING)[0].endswith("; fewer where they are DOWN")
    assert told(share, repair=CURING)[0].endswith("; fewer where they are DOWN or cured")
    assert told(law, repair=RETIRING)[0].endswith("; fewer where they are DOWN or retired")
    window = [{"from": 0, "to": DAY, "units": "0"}]
    taken = told(law | {"downtime": 0}, platform={"workers": 20, "maintenance": window})
    assert taken[0].endswith("; fewer where they are DOWN")
    others = told(law | {"downtime": 0}, {"mtbf": 9 * DAY, "units": "0", "downtime": 60})
    assert others[0].endswith("; fewer where they are DOWN")


def test_hangs_by_calendar_are_fewer_where_workers_are_idle_or_hanging() -> None:
    lines = told({"mtbf": 5 * DAY, "effect": "hang", "detection": 60})
    assert lines[0].endswith("of 20 workers; fewer where they are idle or hanging")


def test_by_computing_time_the_sum_counts_if_every_worker_has_one_constant_rate() -> None:
    """10 of 20 workers compute for 20 days: 200 / 10 faults, whoever of the 20 they are."""
    line = told(COMPUTING)[0]
    assert "20 expected within 20 d of 20 workers; if they compute as much as" in line
    assert line.endswith("as without faults")
    assert told(COMPUTING, repair=RETIRING)[0].endswith("without faults, and none is retired")


@pytest.mark.parametrize(
    "keys",
    [
        {"units": "0-4"},
        {"share": 0.5},
        {"of": "nodes"},
        {"kind": "weibull", "shape": 0.5},
        {"kind": "lognormal", "sigma": 1.5},
    ],
)
def test_otherwise_computing_time_has_to_be_shared_alike_unless_all_compute_always(
    keys: dict[str, Any],
) -> None:
    platform = {"workers": 20, "node": 2}
    line = told(COMPUTING | keys, platform=platform)[0]
    assert line.endswith("; if all compute alike, as much as without faults")
    full = told(COMPUTING | keys, platform=platform, processors=20)[0]
    assert full.endswith("; if they compute as much as without faults")


def test_a_cured_share_by_computing_time_assumes_that_none_is_cured() -> None:
    line = told(COMPUTING | {"share": 0.5}, repair=CURING)[0]
    assert line.endswith("as much as without faults, and none is cured")


def test_no_worker_computes_longer_than_until_the_end_that_the_line_names() -> None:
    """The run ends after 5 of the 20 days that 20 workers compute."""
    asked = table(COMPUTING, processors=20)
    asked["job"]["cap"] = 5 * DAY
    assert "10 expected within 5 d" in str(check(asked))


def test_the_warning_of_an_age_counts_the_time_that_the_number_counts() -> None:
    """12 of 20 workers compute for 20 days, so that 12 days pass for each of the 20."""
    weibull = COMPUTING | {"kind": "weibull", "shape": 0.5}
    lognormal = COMPUTING | {"kind": "lognormal", "sigma": 1.5}
    for law, one in (
        (weibull, expected_renewals(12, 10, 0.5)),
        (lognormal, lognormal_renewals(12, 10, 1.5)),
    ):
        line, warning = told(law, processors=12)
        assert f"  {20 * one:.4g} expected" in line
        assert f"{20 * one:.4g} faults are expected of units that are all new" in warning
        assert "24 of units in the middle of their lives" in warning


def test_the_warning_of_an_age_counts_the_units_that_wear_out() -> None:
    law = COMPUTING | {"kind": "weibull", "shape": 0.5, "share": 0.5}
    line, warning = told(law | {"interval": 15 * DAY, "share_added": 0.5}, processors=20)
    number = 10 * (expected_renewals(20, 10, 0.5) + expected_renewals(5, 10, 0.5))
    assert f"  {number:.4g} expected within" in line
    assert f"{number:.4g} faults are expected of units that are all new" in warning
    assert f"{10 * (2 + 0.5):.4g} of units in the middle of their lives" in warning


def test_the_rate_of_a_period_says_which_units_it_does_not_count() -> None:
    """A share of 0.12 of 20 is 2.4 in the formula and 2 that are struck; one more wears out each 5
    days, the last one at the end."""
    wearing = {"mtbf": 3 * DAY, "share": 0.12, "interval": 5 * DAY, "share_added": 0.05}
    saving = {"kind": "images", "period": 3600, "cost": 60}
    lines = check(table({"mtbf": 20 * DAY}, wearing, protection=saving)).outlook
    share = "that a law strikes 2.4 of 20 workers, as its share says; it strikes 2"
    assert f"              and {share}" in lines
    assert "              and that no workers wear out, as 4 do within 20 d" in lines
    plain = check(table({"mtbf": 20 * DAY, "share": 0.1}, protection=saving)).outlook
    assert not any("and that" in line for line in plain)


def test_a_summary_states_the_same_assumptions_beside_the_faults_that_came(tmp_path: Path) -> None:
    """2 faults a day of each of 20 workers that are DOWN for half a day each time."""
    law = {"mtbf": DAY, "age": "new", "downtime": DAY / 2}
    found = run(table(law, processors=1), log=tmp_path / "log.jsonl", until=20 * DAY)
    assert "400 expected (fewer where they are DOWN), " in str(found)
