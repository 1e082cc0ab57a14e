"""Live runs: the world's decisions carried out by real processes of Dask distributed."""
