"""Orders, allocation rules and strategies for rigid and moldable jobs (rigid21 and moldable21)."""
