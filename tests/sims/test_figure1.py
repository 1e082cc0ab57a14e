"""volatile13, Figure 1, as the shipped scenario has it."""

from __future__ import annotations

from sims.examples import example
from sims.scenario.loader import load
from sims.world import run
from tests.sims.activity import Activity

PAPER = {
    "P2": ".PPDDIICCC..ICCC",
    "P3": ".PPDI.DCCCII.CCC",
    "P4": ".IIIPPDCCCIIICCC",
}
"""What the paper's figure and text say (P program, D data, C computing, I idle)."""


def test_figure_1_is_the_papers_slot_by_slot() -> None:
    activity = Activity()
    run(load(example("figure1")), [activity])
    assert {worker: activity.rows[worker] for worker in PAPER} == PAPER
