"""The chain of causes behind one event: the event, its cause, the cause's cause, to the first."""

from __future__ import annotations

import re
from array import array

from actors.runtime import Record
from sims.errors import InputError
from sims.history.lines import skim
from sims.log import LogFile

CAUSE = re.compile(rb'"cause": ?(\d{1,18})\b')


def causes(log: LogFile, seq: int) -> list[Record]:
    """The event `seq`, its cause, the cause's cause, and so on to the first.

    Raises InputError where there is no such event. The log is read twice, for its causes and for
    the chain, and only the chain and the last event are decoded: an event's number is its line's,
    or the log is refused.
    """
    with log.skimmed():
        found = (CAUSE.search(line) for _, line in skim(log))
        caused_by = array("q", [int(it[1]) if it else -1 for it in found])
        if not 0 <= seq < log.read:
            early = "" if log.ended else ", where the log stops early"
            problem = f"{seq} is not in the log"
            raise InputError(str(log.path), "SEQ", problem, f"0 to {log.read - 1}{early}")
        chain = [seq]
        while 0 <= caused_by[chain[-1]] < chain[-1]:
            chain.append(caused_by[chain[-1]])
        wanted = frozenset(chain)
        told = {n: log.decoded(n, line) for n, line in skim(log) if n - 1 in wanted}
    return [record for number in chain if (record := told[number + 1]) is not None]
