"""Volatile workers behind a bandwidth-limited master, and an application in lockstep (002)."""
