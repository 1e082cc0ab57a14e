"""Relative tolerances with which numbers in double precision are compared.

The audit has tolerances of its own, as it checks what these ones decide.
"""

from __future__ import annotations

ROUNDING = 1e-12
"""Relative tolerance within which two numbers are one: sums and products of a few decimals differ
by less from their exact values (rules.md, One instant), and so does p (w/p) from w."""
SAME = 1e-9
"""Relative tolerance within which two results that were computed in different ways are one, such as
long sums in different orders."""
