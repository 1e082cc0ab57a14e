"""A run that tells when it recorded each event: `python slow_run.py LOG SECONDS-PER-EVENT`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from actors.runtime import Record
from sims.log_writer import LogWriter
from sims.scenario.loader import load
from sims.world import run

SCENARIO = Path(__file__).parents[2] / "sims/scenarios/volatile20.toml"


def main(log: str, pause: str) -> None:
    """Each event's number and the time of day at which it was handed to the log, on stdout."""

    def tell(record: Record) -> None:
        print(record.seq, time.monotonic(), flush=True)
        time.sleep(float(pause))

    with LogWriter(Path(log)) as writer:
        run(load(SCENARIO, ["job.iterations=100000"]), [writer, tell], SCENARIO.parent)


if __name__ == "__main__":
    main(*sys.argv[1:])
