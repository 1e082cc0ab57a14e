"""Tables of a file as strict pydantic models, and what is wrong with one in one line."""
