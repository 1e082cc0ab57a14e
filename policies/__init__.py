"""Decisions: pure policies over read-only views, and the maths that they believe in."""
