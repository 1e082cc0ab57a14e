"""Write logs in the formats of other tools, streamed: Chrome trace events, Batsim's jobs,
tables."""
