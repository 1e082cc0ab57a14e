"""Words for what mechanisms do to a job: a file for each, of the name that it has in
`actors/parts/`.

`about.py` has what they put events into words by, and `table.py` lists them. A new mechanism is one
file here and one line there.
"""
