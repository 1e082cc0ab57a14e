"""Our one world against the oracle, on random scenarios.

python -m tests.oracle 0 1000         # these seeds; prints which differ, and in what
python -m tests.oracle 0 1000 --wild  # with numbers of which floats may round some
"""

from __future__ import annotations

import sys
import warnings

from tests.oracle.scenarios import generate
from tests.oracle.world import simulate
from tests.sims.test_oneworld_cases import check


def differences(seed: int, wild: bool = False) -> list[str]:
    """What our one world does otherwise in the scenario of this seed."""
    name, scenario = generate(seed, wild)
    case = {"name": f"{seed} {name}", "scenario": scenario, "expected": simulate(scenario)}
    return check(case)


def main(first: int, beyond: int, wild: bool = False) -> int:
    """Compares them; how many differ."""
    differ = 0
    for seed in range(first, beyond):
        found = differences(seed, wild)
        differ += bool(found)
        if found:
            print(*found, sep="\n", flush=True)
    print(f"{beyond - first} compared, {differ} differ")
    return differ


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2]), "--wild" in sys.argv[3:]), 1))
