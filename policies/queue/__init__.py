"""Implements orders, allocation rules and strategies for queues of rigid and moldable jobs (rigid21
and moldable21)."""
