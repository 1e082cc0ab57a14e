"""Audits a log: derives, by the simulation semantics, what its inputs and decisions lead to, and
compares the result with the log line by line.

The audit shares nothing with `actors/` but the event classes and the papers' formulas, so that one
mistake cannot hide in both. It reads a log once, in memory that grows with the jobs in the system,
and stops at the first line that cannot be.

`audit.py` is the entry, and checks what comes from outside: the head, submissions, the end;
`law.py` defines the laws and violations. `turns.py` runs scripts: generators that yield each line
that must come, as (event, causes), and receive the sequence number of the line that came.
`world.py` keeps the state that the log has reached; `facts.py` and `workers.py` define its parts.
`runs.py` follows a run stage by stage to its end (`parts.py`), as its protection says (`rules.py`);
`copies.py` starts copies and handles changes of workers; `link.py` passes the messages of members
through the master's channels; `machine.py` handles notices, late detection of faults, and
replacement.

What may be decided, and why, has a file for each decider: `deciding.py` (any decider; enrolment),
`queue.py` with `promises.py`, `pack.py` with `expectations.py` and `costs.py`, `columns.py` (copies
that are placed all at once).
"""
