"""."""
def decider(*a): raise NotImplementedError
