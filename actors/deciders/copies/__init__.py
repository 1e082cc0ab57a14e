"""Redundant copies (004): at each arrival and departure all jobs are given workers afresh.

Two carriers of one account: `Columns`, where nothing befalls workers but their speed and cloning
is free, moves all copies as columns of arrays; `Runs` gives every copy a run of its own, so that it
meets whatever the world has.
"""

from actors.deciders.copies.columns import Columns
from actors.deciders.copies.jobs import JobInColumns, PreemptibleJob
from actors.deciders.copies.placement import PlacementRule
from actors.deciders.copies.runs import CopyRuns

__all__ = ["Columns", "CopyRuns", "JobInColumns", "PlacementRule", "PreemptibleJob"]
