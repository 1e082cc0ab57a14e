"""Holds the decisions: pure policies over read-only views, and the mathematics that they believe
in."""
