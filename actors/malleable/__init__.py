"""Malleable applications on buddies: processors, applications, their scheduler, faults (003)."""
