"""Scenario files: what they may say, how they are read, and the worlds that they describe."""
