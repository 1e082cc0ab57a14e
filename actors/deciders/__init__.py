"""Holds the deciders, one folder or file for each kind: their state, and how they call their
policies."""
