"""The life of one job, why it waited, and the queue at an instant, told from the log alone.

All are listeners to histories (`sims.history`), which know who is UP, who holds whom and who waits.
"""
