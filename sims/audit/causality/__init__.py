"""The law of causes: which event may lead to which, as a journal tells it."""

from sims.audit.causality.causes import CAUSES, CauseLaw

__all__ = ["CAUSES", "CauseLaw"]
