"""Print the tables of `tests.coverage`: all of them, or one, with a number of studies."""

from __future__ import annotations

import sys

from tests.coverage import blocks, lemons, looks, means, tunings

PARTS = {
    "means": means.rows,
    "blocks": blocks.rows,
    "tunings": tunings.rows,
    "looks": looks.rows,
    "lemons": lemons.rows,
}
STUDIES = {"tunings": 200, "lemons": 200}
"""Number of studies of each row where it is not 1,000."""

if __name__ == "__main__":
    asked = sys.argv[1:2] or list(PARTS)
    for part in asked:
        number = int(sys.argv[2]) if len(sys.argv) > 2 else STUDIES.get(part, 1000)
        for row in PARTS[part](number):
            print(row, flush=True)
