"""Decides on a pack: malleable applications among which workers are redistributed (malleable17)."""

from actors.deciders.pack.decider import PackDecider

__all__ = ["PackDecider"]
