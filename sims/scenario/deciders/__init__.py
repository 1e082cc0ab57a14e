"""From a scenario to its decider; a file per way of deciding."""
