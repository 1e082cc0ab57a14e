"""What every processor did when: the log retold as slices of processor time.

A family's `Accountant` folds events into slices; the ledger, the pictures and the exports are
folds over slices and know nothing of families.
"""
