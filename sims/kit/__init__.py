"""A test kit for policies: random views of every decision point, and what answers must respect."""
