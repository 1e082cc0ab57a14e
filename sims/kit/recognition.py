"""Which decision point a policy is for, by its signature, or else by trying."""

from __future__ import annotations

from typing import Any

from sims.errors import COMMAND_LINE, InputError
from sims.kit.points import Point, points_of
from sims.kit.trial import Trial, Wrong

TRIED = 20
"""Questions of each point that may be meant."""
POINTS = ", ".join(point.value for point in Point)


def recognised(policy: Any, named: str | None = None) -> Point:
    """The point that is `named`, or else the only one that suits. Raises InputError."""
    if named is not None:
        if named not in [point.value for point in Point]:
            raise InputError(COMMAND_LINE, "--point", f"{named!r} is none", POINTS)
        return Point(named)
    found = points_of(policy)
    if not found:
        problem = "has the signature of no decision point (policies/interface)"
        raise InputError(COMMAND_LINE, "POLICY", f"{policy!r} {problem}", POINTS)
    if len(found) > 1:
        found = [point for point in found if _suits(policy, point)] or found
    if len(found) > 1:
        known = " or ".join(point.value for point in found)
        problem = f"its signature suits {known}: annotate it"
        raise InputError(COMMAND_LINE, "--point", problem, f"{known}, named")
    return found[0]


def _suits(policy: Any, point: Point) -> bool:
    """Whether it answers any question of the point."""
    trial = Trial(policy, point, TRIED)
    wrong = {Wrong.RAISES, Wrong.ANSWER}
    return any(wrong.isdisjoint(dict(trial.faults(case))) for case in trial.cases())
