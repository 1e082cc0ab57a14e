"""The audit's rules of mechanisms: a file for each, of the name that it has in `actors/parts/`.

`PartRules` (`sims/audit/world.py`) has the questions that the audit asks them, and `order.py` the
order in which it does, and the only list of them. A new mechanism is one file here and one line
there.
"""
