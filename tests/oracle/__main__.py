"""Our one world against the oracle, on random scenarios.

python -m tests.oracle 0 1000         # these seeds; prints which differ, and in what
python -m tests.oracle 0 1000 --wild  # with numbers of which floats may round some
python -m tests.oracle 0 1000 --tenths  # with tenths, which they all round
python -m tests.oracle 0 1000 --practice  # with practitioners' mechanisms, also beside the others
python -m tests.oracle 0 1000 --fleet  # with what fleets have (fleets.py), some of it drawn
python -m tests.oracle 0 1000 --groups  # with jobs that follow others, and limits
python -m tests.oracle 0 1000 --audit  # derives each log, too: what breaks a law differs
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from actors.decisions import BadDecision
from actors.runtime import ActorFailed, system
from actors.runtime.errors import Stalled
from tests.conftest import CheckedJournal
from tests.oracle.coincidences import EIGHTH, TENTH, WHOLE
from tests.oracle.draws import as_drawn
from tests.oracle.scenarios import generate
from tests.oracle.tenths import apart
from tests.oracle.world import Stuck, simulate
from tests.sims.oneworld import play
from tests.sims.test_oneworld_cases import check, compared

NO_END = 10_000
"""Time up to which runs say what was drawn: a record that is replayed again and again may end none
of a job's runs. Scenarios take 250 without what is drawn, and the oracle is stuck long before."""


def differences(
    seed: int,
    finest: int = WHOLE,
    practised: bool = False,
    fleet: bool = False,
    drawn: list[str] | None = None,
    groups: bool = False,
) -> list[str]:
    """What our one world does otherwise in the scenario of this seed, whose cell is told to
    `drawn`."""
    name, scenario = generate(seed, finest, practised, fleet, groups)
    if drawn is not None:
        drawn.append(name)
    case: dict[str, Any] = {"name": f"{seed} {name}", "scenario": scenario}
    try:
        if "drawn" in scenario:
            try:
                listed = as_drawn(scenario, play(scenario, until=NO_END))
                case["expected"] = simulate(listed)
            except (Stuck, Stalled):
                return []  # by bad luck nothing ever ends
            return [f"{case['name']}: {what}" for what in apart(compared(case))]
        case["expected"] = simulate(scenario)
        shared = "storage" in scenario or any("replicas" in job for job in scenario["jobs"])
        if finest == TENTH or practised or shared:  # a slowed rate is rounded, too
            return [f"{case['name']}: {what}" for what in apart(compared(case))]
        return check(case)
    except (AssertionError, BadDecision, ActorFailed) as broken:
        return [f"{case['name']}: {broken.__cause__ or broken}"]


def main(
    first: int,
    beyond: int,
    finest: int = WHOLE,
    practised: bool = False,
    fleet: bool = False,
    groups: bool = False,
) -> int:
    """Compares them; how many differ."""
    differ = 0
    for seed in range(first, beyond):
        found = differences(seed, finest, practised, fleet, groups=groups)
        differ += bool(found)
        if found:
            print(*found, sep="\n", flush=True)
    print(f"{beyond - first} compared, {differ} differ")
    return differ


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "--audit" in sys.argv:
        system.Journal = CheckedJournal  # type: ignore[misc]
    words = sys.argv[3:]
    finest = TENTH if "--tenths" in words else EIGHTH if "--wild" in words else WHOLE
    about = finest, *(f"--{it}" in words for it in ("practice", "fleet", "groups"))
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2]), *about), 1))
