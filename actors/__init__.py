"""Implements the simulated world: actors that exchange messages over virtual time and record what
happens."""
