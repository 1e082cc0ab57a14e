"""Derives what a job's protection makes of its runs (rules.md, P): a file for each kind, of the
name that it has in `actors/protection/`; `protection.py` has what a run is planned by."""
