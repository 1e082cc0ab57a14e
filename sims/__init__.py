"""Questions: scenarios, workloads, papers' tables, metrics, traces and the command line."""
