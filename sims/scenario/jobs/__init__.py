"""`[job]`: what the jobs are, where they come from; a file per kind of job and per source."""
