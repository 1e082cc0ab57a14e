"""Redundant copies with checkpoint cloning (004): servers of varying speed, jobs that arrive."""
