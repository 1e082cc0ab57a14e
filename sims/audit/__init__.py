"""The audit of a log: what its inputs and decisions lead to, derived by the world's rules, and held
against it line by line.

It shares nothing with `actors/` but the classes of events, and reads a log once, in memory that
grows with what is alive. `audit.py` is the entry, `law.py` what is reported. `world.py` holds what
a log has told so far, and runs scripts: generators that yield the lines that must come, each as
(event, causes), and get the seq of the line that came. `facts.py` are the nouns, `rules.py` what a
protection says of them; `runs.py` is the course of a run, `copies.py` how copies start and end,
`link.py` what passes the master, `inputs.py` what comes from outside. A decider's file
(`deciding.py`: any decider's and enrolment; `queue.py`; `pack.py`; `placements.py`: copies in
columns) checks what is decided and says what may have caused it.
"""
