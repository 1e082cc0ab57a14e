"""What tests of papers and studies read."""

from __future__ import annotations

from pathlib import Path

import sims

LOG = Path(sims.__file__).parent / "scenarios" / "batch-small.swf"
ZONES = Path(__file__).parents[2] / "data" / "zones"
