"""Audits a log: derives, by the simulation semantics, what its inputs and decisions lead to, and
compares the result with the log line by line.

The audit shares nothing with `actors/` but the event classes and the papers' formulas, so that one
mistake cannot hide in both. It reads a log once, in memory that grows with the jobs in the system,
and stops at the first line that cannot be.

What the audit has of the world's nouns says in its name that it is an expectation, derived from the
log: `ExpectedJob`, `ExpectedRun`, `ExpectedStorage`. What it checks a decision against is named
`PackChecks`, `QueueChecks`, and so on.

`audit.py` is the entry, and checks what comes from outside: the head, submissions, the end;
`law.py` defines the laws and violations. `turns.py` runs scripts: generators that yield each line
that must come, as (event, causes), and receive the sequence number of the line that came.
`world.py` keeps the state that the log has reached, and tells the scripts where a line comes from;
`facts.py` and `workers.py` define what the state consists of. `runs.py` follows a run by its stages
to its end (`stages.py`), as its protection says (`protection/`); `copies.py` starts copies and
handles changes of workers; `link.py` passes the messages of members through the master's channels.

`parts/` has a file for each mechanism, such as hangs or repairs. All others ask the rules of
the mechanisms the questions of `PartRules` (`world.py`), one after the other.

What may be decided, and why, has a file for each decider: `deciding.py` (any decider; enrolment),
`queue.py` with `promises.py`, `pack.py` with `expectations.py` and `costs.py`, `columns.py` (copies
that are placed all at once).
"""
