"""The life of one job, told from the log alone."""
