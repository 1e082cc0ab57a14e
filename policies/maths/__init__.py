"""Implements the papers' mathematics, used both by the simulated truth and by what a policy
believes."""
