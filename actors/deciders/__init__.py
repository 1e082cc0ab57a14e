"""Deciders, one folder for each kind: its state, and how it asks its policies."""
