"""Decides on a queue: lists with reservations, shelves and batches, for rigid, moldable and other
jobs that take the workers that they are given (rigid21, moldable21)."""

from actors.deciders.queue.decider import QueueDecider

__all__ = ["QueueDecider"]
