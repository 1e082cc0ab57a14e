"""Compute every number that a user sees by folding over the events of a run."""
