"""Reads logs of a user's own actors, whose events are of any kinds: the lives of the actors, and
the messages between them.

A log of Holdfast's world is such a log, too, and has more to say: see `sims.history.reader`.
"""
