"""The queue: lists with reservations, shelves and batches; rigid, moldable and other jobs that
take the workers that they are given (001, 000)."""

from actors.deciders.queue.decider import QueueDecider

__all__ = ["QueueDecider"]
