"""Where processor-time went: a history's spans as slices, and their exact sums (WORLD.md, Ledger).

`Slices` turns spans into slices; the ledger, the pictures and the exports are folds over slices and
know nothing of events.
"""

from __future__ import annotations

from sims.ledger.accountant import Slices, account
from sims.ledger.ledger import AWAY, UNHELD, Account, Ledger, Slice, Use, length

__all__ = [
    "AWAY",
    "UNHELD",
    "Account",
    "Ledger",
    "Slice",
    "Slices",
    "Use",
    "account",
    "length",
]
