"""Decisions replayed through the policy that a log names, on views rebuilt from the log alone."""
