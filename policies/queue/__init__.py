"""Orders, allocation rules and strategies for rigid and moldable jobs (001 and 000)."""
