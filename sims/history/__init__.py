"""Reads a log's events: `reader` rebuilds the state and writes rows, with a module for each
mechanism; `summary` counts a run's events alone, so that a run loads none of the others."""
