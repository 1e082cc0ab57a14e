"""Whether answers depend on the order of Python's hashes: asked in two that hash otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

import sims
from sims.errors import InputError
from sims.kit.points import Point
from sims.kit.trial import Finding, Trial, Wrong
from sims.scenario.policies import load_policy
from sims.scenario.policy import PolicySection

SEEDS = ("1", "2")


@frozen
class Named:
    """A policy by the name that a scenario file would have."""

    name: str
    parameters: Mapping[str, Any]

    def load(self) -> Any:
        """The object, its module sought in the current folder. Raises InputError."""
        section = PolicySection(name=self.name, parameters=dict(self.parameters))
        return load_policy(section, _no_paper, Path())


def _no_paper(name: str) -> Any:
    raise ValueError(f"{name!r} is no policy of yours; accepted: package.module:Name")


def hash_findings(policy: Named, trial: Trial) -> list[Finding]:
    """The shortest question that is answered otherwise where Python hashes otherwise."""
    one, other = (_answers(policy, trial, seed) for seed in SEEDS)
    cases = trial.cases()
    differing = [
        (repr(case), f"with PYTHONHASHSEED={SEEDS[0]} {mine}, with {SEEDS[1]} {theirs}")
        for case, mine, theirs in zip(cases, one, other, strict=True)
        if mine != theirs
    ]
    view, told = min(differing, key=lambda pair: len(pair[0]), default=("", ""))
    return [Finding(Wrong.HASH, told, view)] if differing else []


def _answers(policy: Named, trial: Trial, seed: str) -> list[str]:
    words = [policy.name, json.dumps(policy.parameters), trial.point.value, str(trial.asked)]
    # Its own path first, as a module of the user's may be found on this process's alone.
    places = [str(Path(sims.__file__).parents[1]), *filter(None, sys.path)]
    asked = subprocess.run(
        [sys.executable, "-m", __name__, *words],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode:
        problem = f"cannot be asked in a process of its own: {asked.stderr.strip()[-300:]}"
        raise InputError("command line", "POLICY", f"{policy.name} {problem}", "another module")
    found: list[str] = json.loads(asked.stdout.splitlines()[-1])
    return found


def main(words: list[str]) -> None:
    """Print the answers of a policy, as a list of JSON on the last line."""
    name, parameters, point, asked = words
    policy = Named(name, json.loads(parameters)).load()
    trial = Trial(policy, Point(point), int(asked))
    print(f"\n{json.dumps([trial.answered(case) for case in trial.cases()])}")


if __name__ == "__main__":
    main(sys.argv[1:])
