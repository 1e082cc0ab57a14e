"""Decides on redundant copies (redundancy17): at each arrival and departure all jobs are given
workers afresh.

Two deciders behave alike: `VectorisedCopies`, for platforms where only speeds change and cloning is
free, keeps all copies in arrays; `CopyRuns` gives every copy a run of its own, so that all hazards
and protections apply.
"""

from actors.deciders.copies.jobs import PreemptibleJob, VectorisedJob
from actors.deciders.copies.placement import PlacementRule
from actors.deciders.copies.runs import CopyRuns
from actors.deciders.copies.vectorised import VectorisedCopies

__all__ = ["CopyRuns", "PlacementRule", "PreemptibleJob", "VectorisedCopies", "VectorisedJob"]
