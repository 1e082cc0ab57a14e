"""redundancy17's policies by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from policies.copies.arrival import Fcfs, Laps, LapsR, ProcessorSharing
from policies.copies.srpt import Srpt, SrptR, SrptREven
from policies.interface.copies import RedundancyPolicy

FIXED: dict[str, Callable[[], RedundancyPolicy]] = {
    "SRPT+R": SrptR,
    "SRPT+R-even": SrptREven,
    "SRPT+R-noclone": lambda: SrptR(cloning=False),
    "SRPT": Srpt,
    "SRPT-sticky": lambda: Srpt(stay=True),
    "FCFS": Fcfs,
    "PS": ProcessorSharing,
}
SHARING: dict[str, Callable[[Fraction], RedundancyPolicy]] = {
    "LAPS": Laps,
    "LAPS+R": LapsR,
    "LAPS+R-onecopy": lambda beta: LapsR(beta, redundant=False),
}
NAMES = (*FIXED, *(f"{name}(beta)" for name in SHARING))


def named(name: str) -> RedundancyPolicy:
    """The policy of that name: `SRPT+R`, `LAPS+R(0.29)`, `LAPS(2/3)`...

    Without parentheses beta is 1/2. Raises ValueError for other names, and for a beta that is not
    in (0, 1).
    """
    if name in FIXED:
        return FIXED[name]()
    match = re.fullmatch(r"(?P<base>[A-Z+a-z-]+)(\((?P<beta>[0-9./]+)\))?", name)
    if match is None or match["base"] not in SHARING:
        raise ValueError(f"{name!r} is no policy for redundancy; accepted: {', '.join(NAMES)}")
    return SHARING[match["base"]](_beta(match["beta"] or "1/2"))


def _beta(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{text!r} is no number; accepted: a beta in (0, 1).") from None
