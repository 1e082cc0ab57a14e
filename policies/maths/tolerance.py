"""Relative tolerances with which numbers in double precision are compared.

The audit has tolerances of its own, as it checks what these ones decide.
"""

from __future__ import annotations

ROUNDING = 1e-12
"""Tolerance for a number beside itself: sums and products of a few decimals differ by less from
what they are on paper (rules.md, One instant), and so does p (w/p) from w."""
SAME = 1e-9
"""Tolerance for two results that were computed in different ways, such as long sums in different
orders."""
