"""Live runs: real processes of Dask distributed carry out the decisions of a simulated world."""
