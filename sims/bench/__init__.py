"""Benchmarks: each prints our figures beside SimPy's, measured in turn in one process."""
