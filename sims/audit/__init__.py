"""The audit of a log: what its inputs and decisions lead to, derived by the world's rules, and held
against it line by line.

It shares nothing with `actors/` but the classes of events and the papers' formulas, and reads a log
once, in memory that grows with what is alive; at the first line that cannot be it stops.

`audit.py` is the entry, and holds what comes from outside: the head, jobs, the end; `law.py` is
what is reported. `turns.py` runs scripts: generators that yield the lines that must come, each as
(event, causes), and get the seq of the line that came. `world.py` holds what a log has told so far,
`facts.py` and `workers.py` its nouns. A run's course is `runs.py`, part by part until it ends
(`parts.py`), by what its protection says (`rules.py`); how copies start, and what befalls them as
workers change, is `copies.py`; members fetch and send in `link.py`, as the master serves them.
Practitioners' mechanisms are `practice.py`.
What is decided, and may have caused it, is a file a decider: `deciding.py` (any; enrolment),
`queue.py`, `pack.py` with `expectations.py` and `costs.py`, `columns.py` (copies that are placed
all at once).
"""
