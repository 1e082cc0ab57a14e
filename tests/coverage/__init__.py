"""How often what is concluded from runs is right, on problems whose answers are known.

    python -m tests.coverage            # all of it, some minutes of a core
    python -m tests.coverage means 1000 # one part, with so many studies of each row
    python -m tests.coverage tunings 200
    python -m tests.coverage blocks 1000
    python -m tests.coverage looks 1000

Numbers are drawn, not simulated; intervals, verdicts and searches are the product's own.
"""
