"""Folds: every number that a user sees, computed from the events of a run."""
