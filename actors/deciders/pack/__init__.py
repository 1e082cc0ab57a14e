"""The pack: malleable applications among which workers are redistributed (003)."""

from actors.deciders.pack.decider import PackDecider

__all__ = ["PackDecider"]
