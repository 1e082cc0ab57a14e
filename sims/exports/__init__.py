"""Logs in other tools' formats, streamed: Chrome trace events, Batsim jobs, tables."""
