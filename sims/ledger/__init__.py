"""Where processor-time went: the log retold as slices, and their exact sums (WORLD.md, Ledger).

The `Accountant` folds events into slices; the ledger, the pictures and the exports are folds over
slices and know nothing of events.
"""

from __future__ import annotations

from sims.ledger.accountant import Accountant
from sims.ledger.ledger import Account, Ledger, account
from sims.ledger.slices import Slice, Use

__all__ = ["Account", "Accountant", "Ledger", "Slice", "Use", "account"]
